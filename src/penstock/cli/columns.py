"""Tables for people: columns that line up, and numbers, sizes and times as one reads them at a glance."""

from collections.abc import Collection, Iterator, Sequence

NOTHING = "-"
UNITS = ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s"))
SIZES = ("B", "kB", "MB", "GB", "TB")


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> Iterator[str]:
    """A line for the heads and one a row; the columns with these heads are numbers, and end in line."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for cells in (heads, *rows):
        fitted = (
            cell.rjust(wide) if head in right else cell.ljust(wide)
            for head, cell, wide in zip(heads, cells, widths, strict=True)
        )
        yield "  ".join(fitted).rstrip()


def lasting(seconds: int | None) -> str:
    """In its largest unit: 45s, 12m, 3h, 9d."""
    if seconds is None:
        return NOTHING
    size, unit = next(((size, unit) for size, unit in UNITS if seconds >= size), UNITS[-1])
    return f"{seconds // size}{unit}"


def sized(size: int) -> str:
    number, unit = float(size), 0
    while number >= 999.5 and unit < len(SIZES) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:.3g} {SIZES[unit]}"


def many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"

"""Pieces of statements that take any number of values."""

from collections.abc import Collection


def listed(values: int) -> str:
    """Places for so many values, in brackets."""
    return f"({','.join('?' * values)})"


def rows(number: int, columns: int) -> str:
    """Places for so many rows of so many values each."""
    return ",".join([listed(columns)] * number)


def numbered(numbers: Collection[int]) -> tuple[str, Collection[int]]:
    """Of rows with these numbers, each named once: the condition, and its values. Those that follow one another, as
    numbers of what was sent together do, lie side by side: they are found by one search instead of one for each."""
    first, last = min(numbers), max(numbers)
    if last - first == len(numbers) - 1:
        return "number BETWEEN ? AND ?", (first, last)
    return f"number IN {listed(len(numbers))}", numbers

"""How commands print rows: a table for people, cut nowhere, or JSON. What others wrote cannot steer a terminal."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from penstock.cli.peek import harmless
from penstock.cli.sqs import pretty

Row = Mapping[str, Any]


def show(rows: Sequence[Row], as_json: bool, nothing: str) -> None:
    """The rows, each with the names of its columns."""
    if as_json:
        print(pretty(rows))
    elif rows:
        print("\n".join(table(rows)))
    else:
        print(nothing)


def table(rows: Sequence[Row]) -> list[str]:
    """A heading and a line for each row. A column that nobody fills is left out."""
    names = [name for name in rows[0] if any(row[name] not in (None, "", [], ()) for row in rows)]
    cells = [
        [name.upper().replace("_", " ") for name in names],
        *([_cell(row[name]) for name in names] for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(f"{cell:{wide}}" for cell, wide in zip(line, widths, strict=True)).rstrip() for line in cells]


def _cell(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value)) or "-"
    return "-" if value in (None, "") else harmless(str(value))

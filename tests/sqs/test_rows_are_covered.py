"""Every row of part B of the specification has a case over both protocols; what is answered otherwise is on record."""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .clients import PROTOCOLS

ROWS = range(1, 145)
FOLDER = Path(__file__).parent
DIFFERENCES = FOLDER.parents[1] / "docs" / "explain" / "differences.md"


def cases() -> Iterator[tuple[str, pytest.Mark, bool]]:
    """Every marked case: its name, a mark, and whether it runs over both protocols (as all that take a client do)."""
    for file in sorted(FOLDER.glob("test_rows_*.py")):
        module = importlib.import_module(f"{__package__}.{file.stem}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and function.__module__ == module.__name__:
                both = "client" in inspect.signature(function).parameters
                for mark in getattr(function, "pytestmark", []):
                    if mark.name == "row":
                        yield f"{file.name}::{name}", mark, both


def test_every_row_has_a_case() -> None:
    covered = {number for _, mark, _ in cases() for number in mark.args}
    assert sorted(set(ROWS) - covered) == [], "rows without a case"
    assert sorted(covered - set(ROWS)) == [], "rows that do not exist"


def test_every_case_runs_over_both_protocols() -> None:
    assert sorted(PROTOCOLS) == ["json", "query"]
    assert [name for name, _, both in cases() if not both] == []


def test_every_case_of_the_files_of_rows_has_a_row() -> None:
    marked = {name for name, _, _ in cases()}
    written = {
        f"{file.name}::{name}"
        for file in FOLDER.glob("test_rows_*.py")
        if file.name != Path(__file__).name
        for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    assert sorted(written - marked) == []


def test_every_row_that_is_answered_otherwise_is_in_the_table_of_differences() -> None:
    table = DIFFERENCES.read_text().partition("## Rows")[2].partition("\n## ")[0]
    written = {int(number) for number in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    marked = {number for _, mark, _ in cases() if mark.kwargs["differs"] for number in mark.args}
    assert marked == written

"""Numbers, sizes and times as people read them, in columns that line up."""

import pytest

from penstock.cli.columns import aligned, lasting, many, sized


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "-"), (0, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (3600, "1h"), (86_399, "23h"), (864_000, "10d")],
)
def test_a_time_is_told_in_its_largest_unit(seconds: int | None, text: str) -> None:
    assert lasting(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1536, "1.54 kB"), (999_499, "999 kB"), (999_500, "1 MB"),
     (5 * 10**9, "5 GB"), (10**16, "1e+04 TB")],
)  # fmt: skip
def test_a_size_has_three_figures_and_a_unit(size: int, text: str) -> None:
    assert sized(size) == text


def test_one_is_singular() -> None:
    assert [many(number, "queue") for number in (0, 1, 12_345)] == ["0 queues", "1 queue", "12,345 queues"]


def test_texts_begin_in_line_and_numbers_end_in_line() -> None:
    assert list(aligned(("NAME", "N"), [("a", "10"), ("longer", "9")], right=["N"])) == [
        "NAME     N",
        "a       10",
        "longer   9",
    ]

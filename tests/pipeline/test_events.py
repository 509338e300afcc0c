"""The journal as a DataFrame: every field, whatever else is on the line, and what is no event."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.core.journal import Event
from penstock.pipeline import events
from penstock.pipeline.events import JournalError, Segment
from penstock.pipeline.schemas import JOURNAL

from .journals import FIELDS, NODE, START, Journal, line

HOUR = 3_600_000


def read(spark: SparkSession, journal: Journal, *between: int | None) -> list[dict[str, object]]:
    rows = events.readable(events.batch(spark, str(journal.folder), *between)).orderBy("node", "seq").collect()
    return [{name: value for name, value in row.asDict().items() if value is not None} for row in rows]


def test_the_columns_are_the_fields_that_the_server_writes() -> None:
    assert JOURNAL.names == FIELDS == list(Event.__struct_fields__)


def test_every_field_of_a_line_is_read(spark: SparkSession, tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    whole = line(
        1, message_id="m", group="g", type="t", endpoint="e", size=3, receive_count=2, sent_ms=4, first_receive_ms=5,
        principal="p", duration_ms=6, reason="r", trace="x", count=7, visible=8, in_flight=9, delayed=10,
        successor="s", attributes={"a": ["String", "ä\n"]}, body='{"b": "\u2028"}',
    )  # fmt: skip
    assert list(whole) == list(dict.fromkeys([*list(line(1)), *FIELDS[7:]]))
    journal.publish(whole)
    (row,) = read(spark, journal)
    assert str(row.pop("date")) == "2026-11-16"
    assert row == whole


def test_a_range_of_time_is_taken_from_the_segments_that_may_have_it(spark: SparkSession, tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    days = [journal.publish(line(day, after_ms=(24 * (day - 1) + 23) * HOUR)) for day in (1, 2, 3)]
    days[2].write_bytes(b"not gzip, and not looked at")
    assert [row["seq"] for row in read(spark, journal, START + 24 * HOUR, START + 47 * HOUR)] == []
    assert [row["seq"] for row in read(spark, journal, START, START + 48 * HOUR)] == [1, 2]


def test_fields_of_a_newer_server_are_kept_with_the_whole_line(spark: SparkSession, tmp_path: Path) -> None:
    journal = Journal(tmp_path, [*FIELDS, "lane"])
    newer = line(2, "REROUTED") | {"lane": "fast"}
    journal.publish(line(1), newer)
    old, new = read(spark, journal)
    assert "extra" not in old
    assert json.loads(str(new["extra"])) == newer
    assert new["event"] == "REROUTED"


def test_without_a_word_on_its_fields_every_line_is_looked_through(spark: SparkSession, tmp_path: Path) -> None:
    journal = Journal(tmp_path, fields=None)
    journal.publish(line(1), line(2) | {"lane": "fast"})
    assert [("extra" in row) for row in read(spark, journal)] == [False, True]


def test_a_format_that_says_nothing_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.publish(line(1))
    (tmp_path / "_format.json").write_text("[]")
    with pytest.raises(JournalError, match=r"_format.json does not say which fields the journal has"):
        read(spark, journal)


def test_open_segments_and_other_files_are_not_segments(spark: SparkSession, tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    published = journal.publish(line(1), line(2))
    (published.parent / "_open-00000000000000000003.jsonl").write_text(json.dumps(line(3)))
    (tmp_path / "_readers.json").write_text("{}")
    (found,) = events.segments(spark, str(tmp_path))
    assert found[:4] == (NODE, 1, 2, "2026-11-16")
    assert [row["seq"] for row in read(spark, journal)] == [1, 2]
    assert Segment.named(str(published)) == Segment(NODE, 1, 2, "2026-11-16", str(published))


def test_a_journal_without_segments_is_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    assert read(spark, Journal(tmp_path)) == []

"""Segments that a disk has damaged: `land` goes on, and what it read of them is not trusted in silence."""

import gzip
import json
import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.counting import extent
from penstock.pipeline.events import JournalError
from penstock.pipeline.jobs import land
from penstock.pipeline.schemas import CORRUPT, EVENTS
from penstock.pipeline.tables import open_table

from .journals import Journal, line

CHECKSUM = -8
"""Where it begins in a gzip file."""


def damage(file: Path, place: int) -> None:
    content, times = bytearray(file.read_bytes()), file.stat()
    content[place] ^= 0xFF
    file.write_bytes(content)
    os.utime(file, (times.st_atime, times.st_mtime))


def landed(spark: SparkSession, journal: Journal, queue: tuple[str, ...] = ()) -> list[int]:
    out = str(journal.folder.parent / "tables")
    for _ in range(2):
        land.run(spark, Ask("land", journal=str(journal.folder), out=out, once=True, queue=queue))
    return sorted(row.seq for row in open_table(spark, out, EVENTS).read().collect())


def findings(spark: SparkSession, journal: Journal) -> list[tuple[str, str, int | None]]:
    rows = open_table(spark, str(journal.folder.parent / "tables"), CORRUPT).read().collect()
    return sorted((row.reason, row.file.rpartition("/")[2], row.offset) for row in rows)


@pytest.mark.parametrize("seq", [1, 3, 5], ids=["the first", "one between others", "the last"])
def test_a_segment_of_which_nothing_can_be_read_is_told_wherever_it_is(
    seq: int, spark: SparkSession, journal: Journal
) -> None:
    published = {first: journal.publish(line(first), line(first + 1)) for first in (1, 3, 5)}
    damage(published[seq], CHECKSUM)
    assert landed(spark, journal) == [one for one in range(1, 7) if one not in (seq, seq + 1)]
    assert findings(spark, journal) == [("the file cannot be read", published[seq].name, None)]


def test_a_line_that_cannot_be_read_in_a_file_whose_checksum_is_wrong(spark: SparkSession, journal: Journal) -> None:
    """Of such a file Spark reads all but the end."""
    lines = [line(seq, body=f"{seq * 7919:0200d}") for seq in range(1, 1001)]
    torn = "torn\n" + "".join(f"{json.dumps(one)}\n" for one in lines[1:])
    file = journal.publish_text(torn, *lines)
    damage(file, CHECKSUM)
    there = landed(spark, journal)
    assert there == list(range(2, len(there) + 2))
    line_told, rest_told = findings(spark, journal)
    assert line_told == (f"{len(there) + 1} lines where the name says 1000", file.name, None)
    assert rest_told == ("not a line of the journal", file.name, 0)


def test_a_line_of_bytes_that_are_no_text_is_kept(spark: SparkSession, journal: Journal) -> None:
    good = json.dumps(line(1)).encode() + b"\n"
    file = journal.publish_text("", line(1), line(2))
    file.write_bytes(gzip.compress(good + b'{"node":"\xff\xc3\xe2\x82"\n'))
    assert landed(spark, journal) == [1]
    ((reason, name, _),) = findings(spark, journal)
    assert (reason, name) == ("not a line of the journal", file.name)


def test_the_extent_of_a_journal_whose_first_segment_is_damaged_is_one_clear_line(
    spark: SparkSession, journal: Journal
) -> None:
    file = journal.publish(*(line(seq, body=str(seq * 7919)) for seq in range(5, 200)))
    damage(file, 400)
    with pytest.raises(JournalError, match="cannot be read: --source events has what was read of it before"):
        extent.of_journal(spark, str(journal.folder))

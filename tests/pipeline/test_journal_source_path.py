"""`penstock.journal` from a folder: the rows are the lines, whichever way the work is cut."""

import gzip
import json
import subprocess
import sys
from datetime import date

import pytest
from pyspark.sql import SparkSession

from pipeline.journal_source import events, lines, planned, read, rows, rows_here
from pipeline.journals import NODE, Journal, line

EVERYTHING = {
    "message_id": "m-1", "group": "g", "type": "t", "endpoint": "e", "size": 2**40, "receive_count": 3,
    "sent_ms": 1, "first_receive_ms": 2, "principal": "p", "duration_ms": 0, "reason": "r", "trace": "x", "count": 4,
    "visible": 5, "in_flight": 6, "delayed": 7, "successor": "m-2",
    "attributes": {"a": ["String", "b"], 'q"]}\\': ["Binary", 'x"]},"attributes":{"']},
    "body": 'Grüße\n"quoted",\\ "attributes":{} \U0001f680',
}  # fmt: skip


def test_every_field_comes_out_as_the_line_has_it(spark: SparkSession, journal: Journal) -> None:
    journal.publish(line(1), line(2, **EVERYTHING), line(3, attributes={}), line(4, "NEW_EVENT"))
    assert events(rows(read(spark, journal.folder))) == lines(journal.folder)


def test_a_row_has_the_date_of_its_file_and_no_fault(journal: Journal) -> None:
    journal.publish(line(1))
    row = rows_here(journal.folder)[0]
    assert (row["date"], row["extra"], row["_corrupt"], row["_source"]) == (date(2026, 11, 16), None, None, None)


@pytest.mark.parametrize("option", [{}, {"eventsPerPartition": 7}, {"numPartitions": 3}, {"eventsPerPartition": 1}])
def test_every_event_is_read_once_whichever_way_the_work_is_cut(journal: Journal, option: dict[str, int]) -> None:
    for first in range(1, 60, 10):
        file = journal.publish(*(line(seq, body="x" * seq) for seq in range(first, first + 10)))
    file.with_suffix("").write_bytes(gzip.decompress(file.read_bytes()))
    file.unlink()
    journal.publish(*(line(seq) | {"node": "5another"} for seq in range(40, 60)))
    assert events(rows_here(journal.folder, **option)) == lines(journal.folder)


def test_small_segments_share_a_partition_and_only_unpacked_ones_are_cut(journal: Journal) -> None:
    for first in range(1, 41, 10):
        file = journal.publish(*(line(seq) for seq in range(first, first + 10)))
    assert len(planned(journal.folder)[1]) == 1
    assert len(planned(journal.folder, eventsPerPartition=5)[1]) == 4
    file.with_suffix("").write_bytes(gzip.decompress(file.read_bytes()))
    file.unlink()
    assert len(planned(journal.folder, eventsPerPartition=5)[1]) == 5


def test_open_segments_and_other_files_are_passed_over(journal: Journal) -> None:
    file = journal.publish(line(1))
    (file.parent / "_open-00000000000000000002.jsonl").write_text(json.dumps(line(2)))
    (file.parent / "notes.txt").write_text("mine")
    assert events(rows_here(journal.folder)) == [line(1)]


def test_a_segment_larger_than_a_block_is_read_whole(journal: Journal) -> None:
    journal.publish(*(line(seq, body="y" * 4000) for seq in range(1, 3001)))
    assert events(rows_here(journal.folder)) == lines(journal.folder)


def test_a_file_of_several_gzip_members_is_one_segment(journal: Journal) -> None:
    file = journal.publish(*(line(seq) for seq in range(1, 5)))
    halves = [json.dumps(line(seq), separators=(",", ":")).encode() + b"\n" for seq in range(1, 5)]
    file.write_bytes(gzip.compress(halves[0] + halves[1]) + gzip.compress(halves[2] + halves[3]))
    assert [row["seq"] for row in rows_here(journal.folder)] == [1, 2, 3, 4]


def test_a_batch_can_begin_after_a_number(journal: Journal) -> None:
    journal.publish(*(line(seq) for seq in range(1, 11)))
    found = rows_here(journal.folder, startingOffsets=json.dumps({NODE: 7}))
    assert [row["seq"] for row in found] == [8, 9, 10]


def test_a_program_may_name_the_columns_it_wants(spark: SparkSession, journal: Journal) -> None:
    journal.publish(line(1), line(2))
    frame = spark.read.format("penstock.journal").schema("seq bigint, queue string").load(str(journal.folder))
    assert [tuple(row) for row in frame.orderBy("seq").collect()] == [(1, "orders"), (2, "orders")]


def test_an_empty_folder_has_no_rows(spark: SparkSession, journal: Journal) -> None:
    assert read(spark, journal.folder).count() == 0


def test_a_uri_is_a_path_too(spark: SparkSession, journal: Journal) -> None:
    journal.publish(line(1))
    frame = spark.read.format("penstock.journal").option("path", journal.folder.as_uri()).load()
    assert events(rows(frame)) == [line(1)]


def test_reading_needs_only_this_folder_spark_and_arrow_until_something_is_signed() -> None:
    program = (
        "import sys, pyspark_penstock_journal; print([m for m in ('botocore', 'msgspec', 'apsw') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"

"""`penstock.journal` as a stream: every event in one batch and no other, over restarts, new segments and new nodes."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from penstock.pipeline.sources.journal import JournalSource
from penstock.pipeline.sources.journal.columns import COLUMNS
from penstock.pipeline.sources.journal.source import JournalStream
from pipeline.journal_source import Following
from pipeline.journals import NODE, Journal, line


def of_node(node: str, first: int, last: int) -> list[dict[str, Any]]:
    return [line(seq) | {"node": node} for seq in range(first, last + 1)]


def numbers(batches: list[list[dict[str, Any]]]) -> list[list[tuple[str, int]]]:
    return [[(row["node"], row["seq"]) for row in batch] for batch in batches if batch]


def stream_of(journal: Journal, **options: object) -> JournalStream:
    given = {name: str(value) for name, value in options.items()} | {"path": str(journal.folder)}
    return JournalSource(given).streamReader(COLUMNS)


def test_a_restarted_stream_goes_on_where_it_stopped(spark: SparkSession, journal: Journal, tmp_path: Path) -> None:
    stream = Following(spark, tmp_path, path=journal.folder)
    journal.publish(*of_node("a", 1, 5))
    assert numbers(stream.to_the_end()) == [[("a", seq) for seq in range(1, 6)]]
    assert numbers(stream.to_the_end()) == []
    journal.publish(*of_node("a", 6, 8))
    journal.publish(*of_node("b", 3, 4))
    assert numbers(stream.to_the_end()) == [[("a", 6), ("a", 7), ("a", 8), ("b", 3), ("b", 4)]]


def test_triggers_are_limited_and_available_now_ends(spark: SparkSession, journal: Journal, tmp_path: Path) -> None:
    journal.publish(*of_node("a", 1, 25))
    journal.publish(*of_node("b", 1, 4))
    batches = numbers(Following(spark, tmp_path, path=journal.folder, maxEventsPerTrigger=10).to_the_end())
    assert [len(batch) for batch in batches] == [10, 10, 9]
    assert sorted(chain(*batches)) == [("a", seq) for seq in range(1, 26)] + [("b", seq) for seq in range(1, 5)]


def test_segments_that_arrive_are_read_while_the_stream_runs(
    spark: SparkSession, journal: Journal, tmp_path: Path
) -> None:
    journal.publish(*of_node("a", 1, 2))
    stream = Following(spark, tmp_path, path=journal.folder)
    query = stream.started()
    try:
        query.processAllAvailable()
        journal.publish(*of_node("a", 3, 4))
        query.processAllAvailable()
    finally:
        query.stop()
    assert numbers(stream.batches) == [[("a", 1), ("a", 2)], [("a", 3), ("a", 4)]]


def test_a_gap_is_a_row_and_the_stream_goes_on(spark: SparkSession, journal: Journal, tmp_path: Path) -> None:
    stream = Following(spark, tmp_path, path=journal.folder)
    journal.publish(*of_node("a", 1, 2))
    stream.to_the_end()
    journal.publish(*of_node("a", 6, 7))
    (batch,) = stream.to_the_end()
    assert [(row["event"], row["seq"], row["count"]) for row in batch] == [
        ("_GAP", 3, 3), ("SENT", 6, None), ("SENT", 7, None),
    ]  # fmt: skip
    assert stream.to_the_end() == []


def test_a_gap_can_stop_the_stream(spark: SparkSession, journal: Journal, tmp_path: Path) -> None:
    journal.publish(*of_node("a", 1, 2))
    journal.publish(*of_node("a", 6, 7))
    with pytest.raises(StreamingQueryException, match="events 3 to 5 of node a are missing"):
        Following(spark, tmp_path, path=journal.folder, gaps="fail").to_the_end()


def test_a_batch_planned_again_has_the_same_rows_though_more_has_come(journal: Journal) -> None:
    journal.publish(*of_node("a", 1, 20))
    stream = stream_of(journal, eventsPerPartition=4)
    end = stream.latestOffset({}, ReadMaxRows(7))
    before = [stream.partitions({}, end), _rows(stream, {}, end)]
    journal.publish(*of_node("a", 21, 30))
    again = stream_of(journal, eventsPerPartition=4)
    assert [again.partitions({}, end), _rows(again, {}, end)] == before
    assert len(before[1]) == 7


def _rows(stream: JournalStream, start: dict[str, int], end: dict[str, int]) -> list[dict[str, Any]]:
    return [row for part in stream.partitions(start, end) for batch in stream.read(part) for row in batch.to_pylist()]


def test_a_bad_line_is_in_exactly_one_batch(journal: Journal) -> None:
    texts = [json.dumps(line(seq)) for seq in range(1, 10)]
    texts[4] = "bad"
    journal.publish_text("\n".join(texts) + "\n", line(1), line(9))
    stream, start, found = stream_of(journal), dict[str, int](), []
    while (end := stream.latestOffset(start, ReadMaxRows(2))) != start:
        found.append([row["seq"] for row in _rows(stream, start, end)])
        start = end
    assert found == [[1, 2], [3, 4], [None, 6], [7, 8], [9]]


def test_a_limit_is_shared_by_nodes_and_what_one_leaves_another_takes(journal: Journal) -> None:
    journal.publish(*of_node("a", 1, 2))
    journal.publish(*of_node("b", 101, 140))
    journal.publish(*of_node("c", 1, 40))
    assert stream_of(journal).latestOffset({}, ReadMaxRows(22)) == {"a": 2, "b": 110, "c": 10}


@pytest.mark.parametrize(
    ("starting", "offset"), [("earliest", {NODE: 4}), ("latest", {NODE: 9}), (json.dumps({NODE: 6}), {NODE: 6})]
)
def test_a_stream_begins_where_it_is_told_to(journal: Journal, starting: str, offset: dict[str, int]) -> None:
    journal.publish(*(line(seq) for seq in range(5, 10)))
    assert stream_of(journal, startingOffsets=starting).initialOffset() == offset


@pytest.mark.parametrize("starting", ["latest", '{"b": 2, "a": 2}'])
def test_an_offset_without_news_is_the_same_text(journal: Journal, starting: str) -> None:
    for node in "ba":
        journal.publish(*of_node(node, 1, 2))
    stream = stream_of(journal, startingOffsets=starting)
    start = stream.initialOffset()
    assert json.dumps(stream.latestOffset(start, ReadAllAvailable())) == json.dumps(start) == '{"a": 2, "b": 2}'


def test_a_node_that_is_not_there_cannot_be_begun_at(journal: Journal) -> None:
    journal.publish(line(1))
    with pytest.raises(ValueError, match=f"startingOffsets names the node other; the journal has {NODE}"):
        stream_of(journal, startingOffsets='{"other": 1}').initialOffset()


def test_available_now_passes_over_what_comes_later(journal: Journal) -> None:
    journal.publish(*of_node("a", 1, 3))
    stream = stream_of(journal)
    stream.prepareForTriggerAvailableNow()
    journal.publish(*of_node("a", 4, 5))
    journal.publish(*of_node("b", 1, 2))
    assert stream.latestOffset({"a": 0}, ReadAllAvailable()) == {"a": 3}


def test_a_node_whose_segments_are_all_gone_is_a_gap_and_keeps_its_place(journal: Journal) -> None:
    journal.publish(*of_node("a", 1, 3)).unlink()
    stream = stream_of(journal)
    assert stream.latestOffset({"a": 3}, ReadAllAvailable()) == {"a": 3}
    (gap,) = _rows(stream, {"a": 1}, {"a": 3})
    assert (gap["event"], gap["seq"], gap["count"]) == ("_GAP", 2, 2)

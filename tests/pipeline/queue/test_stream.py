"""The streaming read in Spark: each message once in the sink, deleted after the commit, given back otherwise."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from pipeline.queue.conftest import TestQueue

SECONDS = 60


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline, "it never came to be so"
        time.sleep(0.05)


@pytest.fixture
def stream(spark: SparkSession, queue: TestQueue, staging: Path) -> DataFrame:
    options = queue.options | {"stagingLocation": str(staging), "waitTimeSeconds": "0", "numPartitions": "2"}
    return spark.readStream.format("penstock.queue").options(**options, maxMessagesPerTrigger=1200).load()


def start(stream: DataFrame, folder: Path, **trigger: object) -> StreamingQuery:
    writer = stream.writeStream.format("parquet").option("path", str(folder / "out"))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    return (writer.trigger(**trigger) if trigger else writer).start()


def written(spark: SparkSession, folder: Path) -> list[int]:
    return sorted(int(row.body) for row in spark.read.parquet(str(folder / "out")).collect())


def test_available_now_drains_the_queue_in_batches_and_ends(
    spark: SparkSession, queue: TestQueue, stream: DataFrame, tmp_path: Path
) -> None:
    queue.send(*map(str, range(2500)))
    query = start(stream, tmp_path, availableNow=True)
    assert query.awaitTermination(SECONDS)
    assert written(spark, tmp_path) == list(range(2500))
    assert max(progress.numInputRows for progress in query.recentProgress) == 1200
    assert queue.counts() == (0, 0)


def test_a_running_stream_deletes_a_batch_without_waiting_for_the_next(
    spark: SparkSession, queue: TestQueue, stream: DataFrame, tmp_path: Path
) -> None:
    query = start(stream, tmp_path)
    try:
        queue.send("1", "2", "3")
        until(lambda: queue.counts() == (0, 0))
        assert written(spark, tmp_path) == [1, 2, 3]
    finally:
        query.stop()


def test_a_batch_that_fails_for_good_gives_its_messages_back_and_is_the_same_when_run_again(
    queue: TestQueue, stream: DataFrame, tmp_path: Path
) -> None:
    queue.send(*map(str, range(700)))
    seen: list[list[str]] = []

    def fail_once(batch: DataFrame, number: int) -> None:
        seen.append(sorted(row.body for row in batch.collect()))
        if len(seen) == 1:
            raise RuntimeError("the sink is full")

    writer = stream.writeStream.foreachBatch(fail_once).option("checkpointLocation", str(tmp_path / "checkpoint"))
    with pytest.raises(StreamingQueryException, match="the sink is full"):
        writer.trigger(availableNow=True).start().awaitTermination(SECONDS)
    until(lambda: queue.counts() == (700, 0))
    assert writer.trigger(availableNow=True).start().awaitTermination(SECONDS)
    assert seen[0] == seen[1]
    assert [rows for rows in seen[2:] if rows] == []
    assert queue.counts() == (0, 0)


def test_rows_are_the_same_for_each_look_at_a_batch(queue: TestQueue, stream: DataFrame, tmp_path: Path) -> None:
    queue.send(*map(str, range(50)))
    looks: list[int] = []

    def look_twice(batch: DataFrame, number: int) -> None:
        looks.extend([batch.count(), batch.select("body").distinct().count()])

    writer = stream.writeStream.foreachBatch(look_twice).option("checkpointLocation", str(tmp_path / "checkpoint"))
    assert writer.trigger(availableNow=True).start().awaitTermination(SECONDS)
    assert looks[:2] == [50, 50]


def test_a_queue_deleted_under_a_running_stream_ends_it_with_a_clear_error(
    queue: TestQueue, stream: DataFrame, tmp_path: Path
) -> None:
    query = start(stream, tmp_path)
    queue.send("1")
    until(lambda: queue.counts() == (0, 0))
    queue.delete()
    with pytest.raises(StreamingQueryException, match="QueueDoesNotExist: the queue does not exist, or no longer"):
        query.awaitTermination(SECONDS)


def test_two_queries_with_one_staging_location_are_refused(
    spark: SparkSession, queue: TestQueue, make_queue: Callable[..., TestQueue], staging: Path, tmp_path: Path
) -> None:
    def run(of: TestQueue, name: str) -> None:
        frame = spark.readStream.format("penstock.queue").options(**of.options, stagingLocation=str(staging)).load()
        assert start(frame, tmp_path / name, availableNow=True).awaitTermination(SECONDS)

    run(queue, "first")
    with pytest.raises(StreamingQueryException, match=f"is of another queue, {queue.url}: give each query its own"):
        run(make_queue(), "second")

"""Writing: columns, order in groups, and no message twice in a FIFO queue."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from penstock.pipeline.sources.queue import write
from pipeline.queue.conftest import TestQueue


def save(frame: DataFrame, queue: TestQueue, **options: object) -> None:
    frame.write.format("penstock.queue").options(**queue.options, **options).mode("append").save()


def test_each_row_becomes_a_message(spark: SparkSession, queue: TestQueue) -> None:
    save(spark.range(137).select(col("id").cast("string").alias("body")), queue)
    assert sorted(map(int, queue.bodies())) == list(range(137))


def test_attributes_are_written_as_they_are_read(
    spark: SparkSession, queue: TestQueue, make_queue: type[TestQueue]
) -> None:
    typed = {"n": {"DataType": "Number", "StringValue": "7"}, "b": {"DataType": "Binary", "BinaryValue": b"\x01"}}
    queue.send("typed", MessageAttributes=typed)
    other = make_queue()
    read = spark.read.format("penstock.queue").options(**queue.options).load()
    save(read.select("body", "attributes"), other)
    (message,) = other.receive()
    assert message["MessageAttributes"] == typed


def test_plain_attributes_are_strings(spark: SparkSession, queue: TestQueue) -> None:
    save(spark.sql("select 'x' as body, map('kind', 'order') as attributes"), queue)
    (message,) = queue.receive()
    assert message["MessageAttributes"] == {"kind": {"DataType": "String", "StringValue": "order"}}


def test_delays_are_kept(spark: SparkSession, queue: TestQueue) -> None:
    save(spark.sql("select 'later' as body, 900 as delay_seconds"), queue)
    assert queue.receive() == []


def test_groups_keep_the_order_of_their_rows(spark: SparkSession, fifo_queue: TestQueue) -> None:
    frame = spark.range(0, 200, 1, 2).selectExpr("string(id) as body", "string(id div 50) as group_id")
    save(frame, fifo_queue)
    found = [int(body) for body in fifo_queue.bodies()]
    for group in range(4):
        assert [number for number in found if number // 50 == group] == list(range(group * 50, group * 50 + 50))


def test_rows_that_are_alike_are_all_sent_to_a_fifo_queue(spark: SparkSession, fifo_queue: TestQueue) -> None:
    save(spark.range(20).selectExpr("'same' as body", "'g' as group_id"), fifo_queue)
    assert len(fifo_queue.bodies()) == 20


def test_a_task_that_is_tried_again_has_the_same_deduplication_ids_in_any_order() -> None:
    rows = [{"body": body, "group_id": "g"} for body in ("a", "b", "a")]

    def ids(given: list[dict[str, str]], scope: str) -> set[str]:
        batch = write.pa.RecordBatch.from_pylist(given)
        return {entry["MessageDeduplicationId"] for entry in write.Rows(scope, fifo=True).entries([batch])}

    assert ids(rows, "job/1") == ids(rows[::-1], "job/1")
    assert len(ids(rows, "job/1")) == 3
    assert not ids(rows, "job/1") & ids(rows, "job/2")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select 'x' as text", "does not write a column text string; it writes body string, group_id string, ded"),
        ("select 1 as body", "does not write a column body int"),
        ("select 'g' as group_id", "column body is missing"),
    ],
)
def test_wrong_columns_fail_with_the_valid_ones_listed(
    query: str, said: str, spark: SparkSession, queue: TestQueue
) -> None:
    with pytest.raises(PySparkException, match=said):
        save(spark.sql(query), queue)


def test_a_fifo_queue_needs_a_group(spark: SparkSession, fifo_queue: TestQueue) -> None:
    with pytest.raises(PySparkException, match="column group_id is missing"):
        save(spark.sql("select 'x' as body"), fifo_queue)


def test_a_row_without_a_body_is_an_error(spark: SparkSession, queue: TestQueue) -> None:
    with pytest.raises(PySparkException, match="a row has no body"):
        save(spark.sql("select cast(null as string) as body"), queue)


def test_a_queue_cannot_be_overwritten(spark: SparkSession, queue: TestQueue) -> None:
    frame = spark.sql("select 'x' as body")
    with pytest.raises(PySparkException, match="cannot overwrite a queue"):
        frame.write.format("penstock.queue").options(**queue.options).mode("overwrite").save()


def test_what_the_server_refuses_is_an_error_with_its_words(spark: SparkSession, queue: TestQueue) -> None:
    with pytest.raises(PySparkException, match=r"SendMessageBatch on .*InvalidParameterValue"):
        save(spark.sql("select 'x' as body, 100000 as delay_seconds"), queue)


def test_large_messages_go_in_requests_that_every_server_takes() -> None:
    entries = [{"MessageBody": "x" * size} for size in (30_000, 30_000, 30_000, 200_000, 10, 20)]
    sizes = [[len(entry["MessageBody"]) for entry in batch] for batch in write._packed(iter(entries))]
    assert sizes == [[30_000, 30_000], [30_000], [200_000], [10, 20]]


def test_a_pace_lets_no_more_through_than_its_rate() -> None:
    now, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    def entries() -> Iterator[write.Entry]:
        for number in range(51):
            yield {"MessageBody": str(number)}

    assert len(list(write.Pace(10, lambda: now[0], sleep).of(entries()))) == 51
    assert now[0] == pytest.approx(5)


@pytest.mark.parametrize(("rate", "at_once"), [(900, 10), (5_000, 500)])
def test_a_rate_lets_a_fifo_queue_have_its_messages_as_they_come_and_not_at_one_blow(
    rate: int, at_once: int, fifo_queue: TestQueue
) -> None:
    taken: list[int] = []

    class FirstRequest(Exception):
        pass

    class Stops:
        def run(self, scripts: list[write.Script]) -> None:
            for script in scripts:
                next(script, None)
            raise FirstRequest

    def entries() -> Iterator[write.Entry]:
        for number in range(2_000):
            taken.append(number)
            yield {"MessageBody": str(number), "MessageGroupId": str(number % 7), "MessageDeduplicationId": "x"}

    with pytest.raises(FirstRequest):
        write.send(Stops(), fifo_queue.settings(maxMessagesPerSecond=rate), entries())
    assert len(taken) == at_once


def test_a_stream_is_written_exactly_once_to_a_fifo_queue_when_a_batch_runs_again(
    spark: SparkSession, fifo_queue: TestQueue, tmp_path: Path
) -> None:
    source = tmp_path / "in"
    spark.range(40).selectExpr("string(id) as value").write.text(str(source))
    frame = spark.readStream.text(str(source)).selectExpr("value as body", "'g' as group_id")

    def run() -> None:
        stream = frame.writeStream.format("penstock.queue").options(**fifo_queue.options)
        stream = stream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        stream.start().awaitTermination(120)

    run()
    for commit in (tmp_path / "checkpoint" / "commits").iterdir():
        commit.unlink()  # as if the driver had died before it could note its commit
    run()
    assert sorted(map(int, fifo_queue.bodies())) == list(range(40))

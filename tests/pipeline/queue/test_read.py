"""The batch read: columns, shares, and what becomes of the messages."""

from hashlib import md5

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from pipeline.queue.conftest import TestQueue


def read(spark: SparkSession, queue: TestQueue, **options: object) -> DataFrame:
    return spark.read.format("penstock.queue").options(**queue.options, **options).load()


def test_a_message_has_its_columns(spark: SparkSession, queue: TestQueue) -> None:
    attributes = {
        "kind": {"DataType": "String", "StringValue": "order"},
        "raw": {"DataType": "Binary.png", "BinaryValue": b"\x00\xff"},
    }
    queue.send("hällo", MessageAttributes=attributes)
    (row,) = read(spark, queue).collect()
    assert (row.body, row.md5, row.receive_count) == ("hällo", md5("hällo".encode()).hexdigest(), 1)
    assert row.sent_ms <= row.first_receive_ms
    assert row.queue_url == queue.url
    assert row.attributes["kind"].asDict() == {"data_type": "String", "string_value": "order", "binary_value": None}
    assert bytes(row.attributes["raw"].binary_value) == b"\x00\xff"
    assert row.group_id is None


def test_a_fifo_message_has_its_group_and_number(spark: SparkSession, fifo_queue: TestQueue) -> None:
    for number in range(9):
        fifo_queue.send(str(number), MessageGroupId=f"g{number % 3}", MessageDeduplicationId=str(number))
    rows = read(spark, fifo_queue, numPartitions=1).collect()
    for group in ("g0", "g1", "g2"):
        own = [row for row in rows if row.group_id == group]
        assert [row.sequence_number for row in own] == sorted(row.sequence_number for row in own)
        assert len(own) == 3


def test_all_partitions_together_read_each_message_once(spark: SparkSession, queue: TestQueue) -> None:
    queue.send(*map(str, range(95)))
    frame = read(spark, queue, numPartitions=4)
    assert sorted(int(row.body) for row in frame.collect()) == list(range(95))
    assert queue.counts() == (0, 95)


def test_no_more_than_was_asked_for_is_received(spark: SparkSession, queue: TestQueue) -> None:
    queue.send(*map(str, range(40)))
    assert read(spark, queue, maxMessages=17, numPartitions=2).count() == 17
    assert queue.counts() == (23, 17)


def test_messages_are_deleted_only_where_that_was_asked_for(spark: SparkSession, queue: TestQueue) -> None:
    queue.send(*map(str, range(30)))
    assert read(spark, queue, deleteAfterRead="true").count() == 30
    assert queue.counts() == (0, 0)


def test_an_empty_queue_is_an_empty_frame(spark: SparkSession, queue: TestQueue) -> None:
    assert read(spark, queue, waitTimeSeconds=0).collect() == []


def test_a_program_may_name_fewer_columns(spark: SparkSession, queue: TestQueue) -> None:
    queue.send("one")
    frame = spark.read.format("penstock.queue").schema("body string, sent_ms bigint").options(**queue.options).load()
    assert [row.body for row in frame.collect()] == ["one"]


def test_a_column_that_there_is_not_fails_with_the_valid_ones_listed(spark: SparkSession, queue: TestQueue) -> None:
    frame = spark.read.format("penstock.queue").schema("text string").options(**queue.options).load()
    with pytest.raises(PySparkException, match="no column text string; it has message_id string, body string"):
        frame.collect()


def test_a_queue_that_is_not_there_is_a_clear_error(spark: SparkSession, queue: TestQueue) -> None:
    queue.delete()
    with pytest.raises(PySparkException, match="QueueDoesNotExist: the queue does not exist"):
        read(spark, queue).collect()

"""A delete that fails after Spark's commit, in the thread that settles: it is told, nothing is lost or there twice."""

import json
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from penstock.pipeline.sources.queue import staged
from penstock.pipeline.sources.queue.driver import Driver
from penstock.pipeline.sources.queue.options import Settings
from penstock.pipeline.sources.queue.staging import Staging
from penstock.pipeline.sqs import SqsError
from pipeline.queue.conftest import TestQueue

SECONDS = 60
SAID = "DeleteMessageBatch on .*AccessDenied.*: these credentials may not do this"


@pytest.fixture
def settings(queue: TestQueue, staging: Path) -> Settings:
    return queue.settings(stagingLocation=staging, waitTimeSeconds=0)


def forbid_deletes(queue: TestQueue) -> None:
    arn = queue.sqs.get_queue_attributes(QueueUrl=queue.url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    statement = {"Effect": "Deny", "Principal": "*", "Action": "sqs:DeleteMessage", "Resource": arn}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    queue.sqs.set_queue_attributes(QueueUrl=queue.url, Attributes={"Policy": policy})


def allow_deletes(queue: TestQueue) -> None:
    queue.sqs.set_queue_attributes(QueueUrl=queue.url, Attributes={"Policy": ""})


def received(driver: Driver, settings: Settings, start: int, end: int) -> list[str]:
    tasks = [staged.Task(settings, Staging(settings.staging), *share) for share in driver.shares(start, end)]
    batches = [batch for task in tasks for batch in staged.rows(task.file(), ["body"])]
    return [body for batch in batches for body in batch.column(0).to_pylist()]


def test_what_spark_has_committed_is_not_given_to_others_and_is_deleted_at_the_next_start(
    queue: TestQueue, settings: Settings
) -> None:
    queue.send(*map(str, range(30)))
    driver = Driver(settings, Staging(settings.staging))
    assert driver.latest(0, 20) == 1
    first = received(driver, settings, 0, 1)
    forbid_deletes(queue)
    assert driver.latest(1, 20) == 2
    second = received(driver, settings, 1, 2)
    with pytest.raises(SqsError, match=SAID):
        driver.latest(2, 20)
    driver.stop()
    assert queue.counts() == (0, 30)
    allow_deletes(queue)
    again = Driver(settings, Staging(settings.staging))
    assert again.latest(2, 20) == 2
    again.stop()
    assert queue.counts() == (0, 0)
    assert sorted(map(int, first + second)) == list(range(30))


def test_a_stream_ends_with_the_error_and_goes_on_when_it_is_started_again(
    spark: SparkSession, queue: TestQueue, staging: Path, tmp_path: Path
) -> None:
    queue.send(*map(str, range(500)))
    options = queue.options | {"stagingLocation": str(staging), "waitTimeSeconds": "0", "maxMessagesPerTrigger": "300"}
    stream = spark.readStream.format("penstock.queue").options(**options).load()

    def run() -> bool | None:
        writer = stream.writeStream.format("parquet").option("path", str(tmp_path / "out"))
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        return writer.trigger(availableNow=True).start().awaitTermination(SECONDS)

    forbid_deletes(queue)
    with pytest.raises(StreamingQueryException, match=SAID):
        run()
    allow_deletes(queue)
    assert run()
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(int(row.body) for row in rows) == list(range(500))
    assert queue.counts() == (0, 0)

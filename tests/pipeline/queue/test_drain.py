"""drain: the messages of a queue in a table, once, and the queue empty."""

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline import streaming
from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import drain
from penstock.pipeline.streaming import JobFailed
from penstock.pipeline.tables import Batch, open_table
from pipeline.queue.conftest import TestQueue

OWN = dict.fromkeys(("queue", "staging", "batch", "partitions", "visibility_timeout"))
SECONDS = 180


def test_a_row_has_everything_of_its_message_but_the_receipt_and_the_day_on_which_it_was_sent(
    spark: SparkSession, queue: TestQueue
) -> None:
    queue.send("one", MessageAttributes={"kind": {"DataType": "String", "StringValue": "order"}})
    rows = drain.transform(spark.read.format("penstock.queue").options(**queue.options).load())
    assert rows.columns == drain.MESSAGES.all.names
    (row,) = rows.selectExpr("body", "attributes['kind'].string_value as kind", "date", "sent_ms").collect()
    assert (row.body, row.kind) == ("one", "order")
    assert row.date.toordinal() - 719163 == row.sent_ms // 86_400_000


def test_a_batch_that_spark_runs_again_is_in_the_table_once(
    spark: SparkSession, queue: TestQueue, staging: Path, tmp_path: Path
) -> None:
    queue.send(*map(str, range(100)))
    table = open_table(spark, str(tmp_path / "tables"), drain.MESSAGES)
    of = drain.Drain(queue.options | {"stagingLocation": str(staging), "maxMessagesPerTrigger": "60"})
    checkpoint = tmp_path / "checkpoint"

    def run() -> None:
        frame = drain.read(spark, of)
        streaming.run(frame, lambda rows, n: drain.write(rows, table, Batch("q", n)) and None, str(checkpoint), ONCE)

    run()
    last = max(int(path.name) for path in (checkpoint / "commits").glob("[0-9]*"))
    for path in (checkpoint / "commits").glob(f"*{last}*"):
        path.unlink()  # as if the driver had died before it could note its commit
    run()
    assert sorted(int(row.body) for row in table.read().select("body").collect()) == list(range(100))
    assert queue.counts() == (0, 0)


ONCE = streaming.Pace(once=True)


@pytest.mark.parametrize(
    ("own", "ask", "said"),
    [
        ({}, {}, "give --queue"),
        ({"queue": "orders"}, {}, "option queueUrl must be a URL"),
        ({"queue": "http://x/1/q"}, {"out": "s3a://lake/x"}, "--staging must be a directory that driver and executors"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_made(own: dict[str, str], ask: dict[str, str], said: str) -> None:
    with pytest.raises(JobFailed, match=said):
        drain.asked(Ask("drain", own=OWN | own, **ask))


def test_the_commands_bring_a_file_into_a_queue_and_the_queue_into_a_table(
    spark: SparkSession, queue: TestQueue, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("".join(f"{number}\n" for number in range(120)))

    def penstock(*words: str) -> str:
        command = [sys.executable, "-m", "penstock", "pipeline", *words, "--queue", queue.url, "--master", "local[2]"]
        done = subprocess.run(
            command, env=queue.server.environment, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stderr

    assert "load: 120 messages to" in penstock("load", "--input", "in.txt")
    assert "drain: 120 messages in" in penstock("drain", "--out", "tables", "--once")
    table = open_table(spark, str(tmp_path / "tables"), drain.MESSAGES)
    assert sorted(int(row.body) for row in table.read().select("body").collect()) == list(range(120))
    assert queue.counts() == (0, 0)

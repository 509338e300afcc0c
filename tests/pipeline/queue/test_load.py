"""load: what becomes a body, what a group, and in which order groups are sent."""

import json
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import load
from penstock.pipeline.jobs.load import Load
from penstock.pipeline.streaming import JobFailed, cause
from pipeline.queue.conftest import TestQueue

OWN = dict.fromkeys(("queue", "input", "body_column", "group_column", "rate")) | {
    "input_format": "text",
    "input_option": (),
}
ANY = Load("http://x/1/q", "somewhere")


def bodies(spark: SparkSession, query: str, of: Load = ANY) -> list[str]:
    return [row.body for row in load.transform(spark.sql(query), of).collect()]


def test_lines_of_text_and_columns_called_body_are_bodies(spark: SparkSession) -> None:
    assert bodies(spark, "select 'a line' as value") == ["a line"]
    assert bodies(spark, "select 'text' as body, 1 as n") == ["text"]


def test_any_other_row_is_json_with_its_nulls(spark: SparkSession) -> None:
    (body,) = bodies(spark, "select 7 as id, null as note, array(1, 2) as parts")
    assert json.loads(body) == {"id": 7, "note": None, "parts": [1, 2]}


@pytest.mark.parametrize(
    ("value", "body"), [("7", "7"), ("named_struct('a', 1)", '{"a":1}'), ("cast('ü' as binary)", "ü")]
)
def test_a_column_that_is_named_is_the_body_whatever_its_kind(spark: SparkSession, value: str, body: str) -> None:
    named = Load("http://x/1/q", "somewhere", body_column="it")
    assert bodies(spark, f"select {value} as it, 'other' as body", named) == [body]


def test_columns_are_those_that_the_sink_writes(spark: SparkSession) -> None:
    grouped = Load("http://x/1/q", "somewhere", group_column="n")
    assert load.transform(spark.sql("select 'a' as value, 1 as n"), grouped).dtypes == [
        ("body", "string"),
        ("group_id", "string"),
    ]


def test_a_column_that_is_not_there_is_named_with_those_that_are(spark: SparkSession) -> None:
    with pytest.raises(JobFailed, match="there is no column it in somewhere; it has value"):
        load.transform(spark.sql("select 'a' as value"), Load("http://x/1/q", "somewhere", body_column="it"))


def test_a_csv_file_is_sent_as_rows_of_json(spark: SparkSession, queue: TestQueue, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("id,note\n1,one\n2,two\n")
    csv = Load(queue.url, str(tmp_path / "orders.csv"), "csv", queue_options=queue.options, rate=1000)
    assert load.write(load.transform(load.read(spark, csv), csv), csv) == 2
    assert sorted(queue.bodies()) == ['{"id":"1","note":"one"}', '{"id":"2","note":"two"}']


def test_groups_are_sent_in_the_order_of_the_input(spark: SparkSession, fifo_queue: TestQueue, tmp_path: Path) -> None:
    lines = [json.dumps({"n": n, "who": f"w{n % 3}"}) for n in range(60)]
    (tmp_path / "in.json").write_text("\n".join(lines))
    of = Load(fifo_queue.url, str(tmp_path / "in.json"), "json", None, "who", queue_options=fifo_queue.options)
    assert load.write(load.transform(load.read(spark, of), of), of) == 60
    found = [json.loads(body)["n"] for body in fifo_queue.bodies()]
    for group in range(3):
        assert [n for n in found if n % 3 == group] == list(range(group, 60, 3))


def test_a_dry_run_counts_and_shows_some_and_sends_nothing(
    spark: SparkSession, queue: TestQueue, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_text("a\nb\nc\nd\n")
    ask = Ask("load", dry_run=True, own=OWN | {"queue": queue.url, "input": str(tmp_path / "in.txt")})
    assert load.run(spark, ask) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"load: 4 messages of {tmp_path}/in.txt → {queue.url}\n  {{'body': 'a'}}\n")
    assert queue.counts() == (0, 0)


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({}, "give --queue"),
        ({"queue": "http://x/1/q"}, "give --input"),
        ({"queue": "http://x/1/q.fifo", "input": "x"}, "a FIFO queue needs --group-column"),
    ],
)
def test_what_is_missing_is_named(own: dict[str, str], said: str) -> None:
    with pytest.raises(JobFailed, match=said):
        load.asked(Ask("load", own=OWN | own))


def test_what_fails_on_an_executor_is_told_in_one_line(spark: SparkSession, queue: TestQueue) -> None:
    queue.delete()
    of = Load(queue.url, "somewhere", queue_options=queue.options)
    with pytest.raises(PySparkException) as raised:
        load.write(spark.sql("select 'x' as body"), of)
    told = f"SendMessageBatch on {queue.url}: QueueDoesNotExist: the queue does not exist, or no longer: "
    assert cause(str(raised.value)).startswith(told)

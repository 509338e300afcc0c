"""Options: wrong ones fail before anything is asked of a server, and the right ones are listed."""

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from penstock.pipeline.sources import register
from penstock.pipeline.sources.queue.options import STREAM, WRITE, WrongOption, parse
from pipeline.queue.conftest import TestQueue

URL = {"queueUrl": "http://127.0.0.1:9324/000000000000/q"}


def test_an_unknown_option_fails_with_the_valid_ones_listed() -> None:
    with pytest.raises(WrongOption, match=r"no option visibility; it has queueUrl, endpoint, .*, visibilityTimeout, "):
        parse(URL | {"visibility": "3"})


def test_names_do_not_mind_case() -> None:
    assert parse({"QUEUEURL": URL["queueUrl"], "numpartitions": "7"}).partitions == 7


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("queueUrl", "orders", "must be a URL that begins with http:// or https://, and is 'orders'"),
        ("endpoint", "localhost:9324", "must be a URL"),
        ("numPartitions", "0", "must be a whole number from 1 to 10,000, and is '0'"),
        ("waitTimeSeconds", "21", "must be a whole number from 0 to 20"),
        ("visibilityTimeout", "half a minute", "must be a whole number from 1 to 43,200"),
        ("deleteAfterRead", "yes", "must be true or false"),
        ("stagingLocation", "s3://bucket/staging", "must be a directory that driver and executors share"),
        ("stagingLocation", "staging", "must be an absolute path"),
    ],
)
def test_a_wrong_value_says_what_is_right(name: str, value: str, said: str) -> None:
    with pytest.raises(WrongOption, match=f"option {name} {said}"):
        parse(URL | {name: value})


def test_the_queue_must_be_named() -> None:
    with pytest.raises(WrongOption, match="option queueUrl is missing"):
        parse({})


def test_a_key_without_its_secret_is_refused() -> None:
    with pytest.raises(WrongOption, match="accessKey and secretKey belong together"):
        parse(URL | {"accessKey": "AKIA"})


@pytest.mark.parametrize(("use", "name", "value"), [(STREAM, "maxMessages", "5"), (WRITE, "numPartitions", "2")])
def test_an_option_of_another_use_is_refused(use: str, name: str, value: str) -> None:
    with pytest.raises(WrongOption, match=rf"option {name} is for a batch read.*; {use} takes queueUrl"):
        parse(URL | {name: value}).check_use(use)


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_a_staging_location_is_a_path_or_a_file_url(scheme: str, tmp_path: Path) -> None:
    assert parse(URL | {"stagingLocation": f"{scheme}{tmp_path}"}).staging == tmp_path


@pytest.mark.parametrize(
    ("url", "environ", "region"),
    [
        ("https://sqs.eu-central-1.amazonaws.com/1/q", {"AWS_REGION": "us-west-2"}, "eu-central-1"),
        ("https://us-west-2.queue.amazonaws.com/1/q", {}, "us-west-2"),
        ("http://queues.example.org/1/q", {"AWS_REGION": "eu-west-3"}, "eu-west-3"),
        ("http://queues.example.org/1/q", {}, "us-east-1"),
    ],
)
def test_the_region_is_that_of_the_url_or_of_the_environment(url: str, environ: dict[str, str], region: str) -> None:
    assert parse({"queueUrl": url}, environ).region == region


def test_requests_go_to_the_endpoint_where_one_is_given() -> None:
    given = parse({"queueUrl": "https://sqs.eu-west-1.amazonaws.com/1/q", "endpoint": "http://127.0.0.1:9324"})
    assert str(given.client().address) == "http://127.0.0.1:9324"
    assert str(parse({"queueUrl": "https://sqs.eu-west-1.amazonaws.com/1/q"}).client().address) == (
        "https://sqs.eu-west-1.amazonaws.com"
    )


def test_spark_fails_at_analysis(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="no option colour; it has queueUrl"):
        spark.read.format("penstock.queue").options(**URL, colour="red").load()
    with pytest.raises(PySparkException, match="no option colour; it has queueUrl"):
        spark.readStream.format("penstock.queue").options(**URL, colour="red").load()


def test_a_stream_without_a_staging_location_says_so(spark: SparkSession, tmp_path: Path, queue: TestQueue) -> None:
    stream = spark.readStream.format("penstock.queue").options(**queue.options).load().writeStream.format("noop")
    with pytest.raises(PySparkException, match="a streaming read needs option stagingLocation"):
        stream.option("checkpointLocation", str(tmp_path)).start().awaitTermination(60)


def test_one_call_registers_the_source(spark: SparkSession, queue: TestQueue) -> None:
    register(spark)
    assert "body" in spark.read.format("penstock.queue").options(**queue.options).load().columns

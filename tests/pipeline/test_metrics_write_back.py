"""The job `metrics` puts its windows into a server, and CloudWatch answers from them when the counters are gone."""

import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.counting import write_back
from penstock.pipeline.counting.write_back import NotPut
from penstock.pipeline.http import Address
from penstock.pipeline.signature import Given, Keys
from penstock.pipeline.sqs import Client
from pipeline.metrics_oracle import Row
from pipeline.metrics_run import Tables
from pipeline.metrics_traffic import traffic
from pipeline.queue.scripted_server import ScriptedServer, reply
from pipeline.test_metrics_killed import Killed
from pipeline.test_metrics_server import act, create, publish_all, told
from server_process import Server

STATISTICS = ("SampleCount", "Sum", "Minimum", "Maximum")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Which keeps windows of any age; its keys are found by the provider chain."""
    server = Server(tmp_path, {"PENSTOCK_METRICS_KEEP_DAYS": "0"})
    server.start()
    for name, value in server.environment.items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)
    yield server
    server.stop()


def watched(server: Server, rows: set[Row]) -> set[Row]:
    """What CloudWatch tells of the windows that these rows are of."""
    cloudwatch, wanted, found = server.client("cloudwatch"), {row[:5] for row in rows}, set()
    for period, account, queue, metric in {which[1:] for which in wanted}:
        starts = [which[0] for which in wanted if which[1:] == (period, account, queue, metric)]
        reply = cloudwatch.get_metric_statistics(
            Namespace="AWS/SQS", MetricName=metric, Dimensions=[{"Name": "QueueName", "Value": queue}],
            StartTime=datetime.fromtimestamp(min(starts) / 1000, UTC), Period=period,
            EndTime=datetime.fromtimestamp(max(starts) / 1000 + 1, UTC), Statistics=list(STATISTICS),
        )  # fmt: skip
        for point in reply["Datapoints"]:
            which = (round(point["Timestamp"].timestamp() * 1000), period, account, queue, metric)
            if which in wanted:
                found.add((*which, *(int(point[name]) for name in STATISTICS)))
    return found


def journal_of(server: Server, folder: Path) -> str:
    """A copy of what the stopped server left, with its open segment published."""
    shutil.copytree(server.data / "journal", folder / "data" / "journal")
    publish_all(replace(server, folder=folder))
    return str(folder / "data" / "journal")


def killed_at(patch: pytest.MonkeyPatch, piece: int) -> None:
    """The job ends when it is to put this piece."""
    really, pieces = Client.call, iter(range(1, 1000))

    def call(client: Client, action: str, **parameters: Any) -> Any:
        if next(pieces) == piece:
            raise Killed
        return really(client, action, **parameters)

    patch.setattr(Client, "call", call)


def counters(rows: set[Row]) -> set[Row]:
    return {row for row in rows if row[4].startswith("Number")}


def test_a_killed_job_puts_everything_in_the_end_and_cloudwatch_tells_it_when_the_counters_are_gone(
    server: Server, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs, chance = server.client(), random.Random(12)
    create(sqs)
    for _ in range(60):
        act(sqs, chance)
    own = told(server, 60) | told(server, 300)
    server.stop()
    tables.ask = replace(tables.ask, journal=journal_of(server, server.folder / "copy"))
    server.start()
    monkeypatch.setattr(write_back, "AT_ONCE", 3)
    with monkeypatch.context() as patch:
        killed_at(patch, 2)
        with pytest.raises(Killed):
            tables.follow(final=True, to_endpoint_url=server.url)
    tables.follow(final=True, to_endpoint_url=server.url)
    server.stop()
    server.start()
    assert counters(told(server, 60)) == set()
    assert counters(tables.metrics()) == counters(own) != set()
    assert watched(server, tables.metrics()) == tables.metrics()


def test_a_range_that_is_computed_again_is_put_as_well(server: Server, tables: Tables) -> None:
    tables.publish(traffic(seed=7, events=100, minutes=10))
    tables.back_fill(0, 10, to_endpoint_url=server.url)
    assert watched(server, tables.metrics()) == tables.metrics() != set()


def rows_of(spark: SparkSession, windows: int) -> DataFrame:
    """So many windows with two metrics each."""
    columns = "window_ms bigint, period_seconds int, region string, account string, queue string, metric string"
    numbers = "sample_count bigint, sum bigint, minimum bigint, maximum bigint"
    key = (60, "us-east-1", "000000000000", "orders")
    rows = [(60_000 * at, *key, metric, 1, 1, 1, 1) for at in range(windows) for metric in ("a", "b")]
    return spark.createDataFrame(rows, f"{columns}, {numbers}")


def client_of(scripted: ScriptedServer) -> Client:
    return Client(Address.of(scripted.url), "us-east-1", Given(Keys("AKIA", "secret")), sleep=lambda seconds: None)


def test_windows_go_in_pieces_and_a_throttled_one_is_sent_again(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    throttled = reply(400, json.dumps({"__type": "com.amazonaws.sqs#RequestThrottled", "message": "slowly"}))
    monkeypatch.setattr(write_back, "AT_ONCE", 2)
    with ScriptedServer([throttled, throttled, *[reply(200, "{}")] * 3]) as scripted, client_of(scripted) as server:
        assert write_back.put(rows_of(spark, windows=5), server) == 5
    assert len(scripted.heads) == 5
    assert all("x-amz-target:Penstock.PutQueueMetrics" in head for head in scripted.heads)


def test_what_the_server_refuses_is_told_in_one_line(spark: SparkSession) -> None:
    refusal = reply(403, json.dumps({"__type": "com.amazon.coral.service#AccessDeniedException", "message": "no"}))
    with ScriptedServer([refusal]) as scripted, client_of(scripted) as server, pytest.raises(NotPut) as raised:
        write_back.put(rows_of(spark, windows=1), server)
    assert str(raised.value) == (
        f"{scripted.url} did not take windows that the table has: Penstock.PutQueueMetrics: AccessDeniedException: "
        "these credentials may not do this: no"
    )

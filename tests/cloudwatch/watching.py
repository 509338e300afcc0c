"""A server in this process with a clock that moves when told to, and boto3 in front of it, in any protocol."""

import asyncio
import io
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore import UNSIGNED
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError
from urllib3 import HTTPResponse

from penstock.core.metrics import Statistics
from penstock.core.queue import QueueKey
from penstock.core.series import Metrics, Window
from penstock.core.store import Store
from sqs.harness import ACCOUNT, HOST, KEYS, REGION, ROOT, Signer, World

SENT, AGE, SIZE = "NumberOfMessagesSent", "ApproximateAgeOfOldestMessage", "SentMessageSize"
ORDERS = QueueKey(REGION, ACCOUNT, "orders")
NOON = 1_800_014_400
"""Seconds: the beginning of an hour, some time after the clock starts."""


def sent(number: int) -> Metrics:
    return {SENT: Statistics(number, number, 1, 1)}


def client_in(protocol: str) -> Any:
    """A client of CloudWatch that speaks this and nothing else; sending is the watch's."""
    session = boto3.Session(region_name=REGION)
    load = session._loader.load_service_model

    def loaded(service_name: str, type_name: str, api_version: str | None = None) -> Any:
        model = load(service_name, type_name, api_version)
        if type_name != "service-2":
            return model
        without = {key: value for key, value in model["metadata"].items() if key != "awsQueryCompatible"}
        metadata = without if protocol == "query" else model["metadata"]
        return {**model, "metadata": {**metadata, "protocol": protocol, "protocols": [protocol]}}

    session._loader.load_service_model = loaded
    config = Config(signature_version=UNSIGNED, retries={"total_max_attempts": 1}, parameter_validation=False)
    return session.client("cloudwatch", endpoint_url=f"http://{HOST}", config=config)


class Watch:
    def __init__(self, runner: asyncio.Runner, store: Store, protocol: str) -> None:
        self.run, self.protocol = runner.run, protocol
        self.world = World(store)
        self.world.clock.advance(NOON - self.world.clock.now() / 1000)
        self.store, self.traffic = store, store.traffic
        self.key, self.region = ROOT, REGION
        self.client = client_in(protocol)
        self.client.meta.events.register_first("before-send", self._send)

    @property
    def now(self) -> int:
        return self.world.clock.now()

    def _send(self, request: Any, **_: Any) -> AWSResponse:
        headers = {k: v.decode() if isinstance(v, bytes) else str(v) for k, v in request.headers.items()}
        body = request.body.encode() if isinstance(request.body, str) else bytes(request.body or b"")
        sent = AWSRequest(request.method, request.url, headers | {"Host": HOST}, body)
        Signer(self.key, KEYS[self.key].secret, self.region, self.world.clock, "monitoring").add_auth(sent)
        target = request.url.removeprefix(f"http://{HOST}")
        answer = self.run(self.world.http(request.method, target, dict(sent.headers.items()), body))
        return AWSResponse(
            request.url, answer.status, answer.headers, HTTPResponse(io.BytesIO(answer.body), preload_content=False)
        )

    def put(self, period: int, at: int, metrics: Metrics, queue: QueueKey = ORDERS) -> None:
        self.run(self.store.put_windows([Window(queue, period, at * 1000, metrics)]))

    def count(self, at: int, times: int = 1, queue: QueueKey = ORDERS) -> None:
        """The server itself counts so many empty receives."""
        for _ in range(times):
            self.traffic.empty_receive(queue, at * 1000)

    def refusal(self, operation: str, **request: Any) -> tuple[str, str]:
        with pytest.raises(ClientError) as caught:
            getattr(self.client, operation)(**request)
        response = caught.value.response
        assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
        return response["Error"]["Code"], response["Error"]["Message"]

    def statistics(self, metric: str = SENT, **given: Any) -> list[dict[str, Any]]:
        reply = self.client.get_metric_statistics(**asking(metric, **given))
        assert reply["Label"] == metric
        points: list[dict[str, Any]] = reply["Datapoints"]
        return points

    def sums(self, metric: str = SENT, **given: Any) -> dict[int, float]:
        """By seconds after noon."""
        points = self.statistics(metric, Statistics=["Sum"], **given)
        return {round(point["Timestamp"].timestamp()) - NOON: point["Sum"] for point in points}


def asking(metric: str = SENT, queue: str = "orders", **given: Any) -> dict[str, Any]:
    whole = {
        "Namespace": "AWS/SQS",
        "MetricName": metric,
        "Dimensions": [{"Name": "QueueName", "Value": queue}],
        "StartTime": NOON - 3600,
        "EndTime": NOON + 3600,
        "Period": 60,
        "Statistics": ["Sum"],
    }
    return {name: value for name, value in (whole | given).items() if value is not None}


def watches(store: Store, protocol: str) -> Iterator[Watch]:
    with asyncio.Runner() as runner:
        runner.run(store.open())
        yield Watch(runner, store, protocol)
        runner.run(store.close())

"""CloudWatch in front of a real server: what it tells of the server's own counters, and of windows after a restart."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from operating import Start, kill, until

from penstock import app
from penstock.config import load
from penstock.core.metrics import NAMES
from server_process import Server

SHORT = {"SampleCount": "samples", "Sum": "sum", "Minimum": "least", "Maximum": "most"}
Told = dict[tuple[str, str, int], dict[str, float]]
"""Queue, metric, epoch milliseconds → statistics."""


def counted(server: Server, period: int) -> Told:
    reply = server.client("penstock").get_queue_metrics(Period=period)
    return {
        (window["QueueName"], name, window["StartTime"]): {SHORT[each]: value for each, value in found.items()}
        for window in reply.get("Windows", [])
        for name, found in window["Metrics"].items()
    }


def watched(server: Server, period: int) -> Told:
    """The same by way of ListMetrics and GetMetricStatistics."""
    cloudwatch, now = server.client("cloudwatch"), datetime.now(UTC).timestamp()
    found: Told = {}
    for metric in cloudwatch.list_metrics(Namespace="AWS/SQS")["Metrics"]:
        span = {"StartTime": now - 3600, "EndTime": now + 60, "Period": period}
        reply = cloudwatch.get_metric_statistics(**metric, **span, Statistics=list(SHORT))
        for point in reply["Datapoints"]:
            at = round(point["Timestamp"].timestamp() * 1000)
            told = {short: point[each] for each, short in SHORT.items()}
            found[metric["Dimensions"][0]["Value"], metric["MetricName"], at] = told
    return found


def as_windows(told: Told, period: int) -> list[dict[str, Any]]:
    windows: dict[tuple[str, int], dict[str, Any]] = {}
    for (queue, name, at), statistics in told.items():
        metrics = {each: int(statistics[short]) for each, short in SHORT.items()}
        windows.setdefault((queue, at), {})[name] = metrics
    return [
        {"Account": "000000000000", "QueueName": queue, "Period": period, "StartTime": at, "Metrics": metrics}
        for (queue, at), metrics in windows.items()
    ]


def traffic(server: Server) -> None:
    sqs = server.client()
    for name in ("orders", "empty"):
        sqs.create_queue(QueueName=name)
        sqs.receive_message(QueueUrl=name)
    for number in range(5):
        sqs.send_message(QueueUrl="orders", MessageBody="m" * (number + 1))
    taken = sqs.receive_message(QueueUrl="orders", MaxNumberOfMessages=3)["Messages"]
    sqs.delete_message(QueueUrl="orders", ReceiptHandle=taken[0]["ReceiptHandle"])


def test_cloudwatch_tells_what_the_server_counted(start: Start) -> None:
    server = start()
    traffic(server)

    def equal() -> bool:
        """Unless a minute has just begun: then queues were looked at between the two questions."""
        return all(watched(server, period) == counted(server, period) for period in (60, 300, 3600))

    until(equal)
    assert {name for queue, name, _ in watched(server, 60) if queue == "orders"} >= set(NAMES[:5])


def test_windows_that_were_put_answer_when_the_counters_are_gone(start: Start) -> None:
    server = start()
    traffic(server)
    before = watched(server, 60)
    reply = server.client("penstock").put_queue_metrics(Windows=as_windows(before, 60))
    assert reply["Kept"] >= 2
    kill(server)
    server.start()
    assert not [name for _, name, _ in counted(server, 60) if name == "NumberOfMessagesSent"]
    after = watched(server, 60)
    assert {which: after.get(which) for which in before} == before


async def test_the_settings_say_for_how_many_days_windows_are_kept(tmp_path: Path) -> None:
    given = {"listen": "127.0.0.1:0", "data": str(tmp_path), "store": "memory://", "metrics_keep_days": "7"}
    server = app.Server(load(given, {}, None).settings)
    await server.start()
    assert server.store.windows_keep_days == 7
    await server.stop()

"""Rows of `queue_metrics` → the server, by PutQueueMetrics, so that CloudWatch answers from them.

Rows are put when the table has them, and before their batch is over: after a kill they are put again, and a window that
is put twice is there once. The driver holds some hundred windows at a time, and never an event.
"""

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from penstock.pipeline.ask import Ask
from penstock.pipeline.counting.windows import WINDOW
from penstock.pipeline.http import Address, NotTrusted
from penstock.pipeline.signature import Chain, NoKeys
from penstock.pipeline.sqs import PATIENCE_SECONDS, Client, SqsError
from penstock.pipeline.told import Told

AT_ONCE = 500
"""As many as the server takes."""
STATISTICS = {"sample_count": "SampleCount", "sum": "Sum", "minimum": "Minimum", "maximum": "Maximum"}


class NotPut(Told):
    """The server has not taken all of the windows; the table has them."""


def put_if_asked(rows: DataFrame, ask: Ask) -> None:
    if url := ask.own["to_endpoint_url"]:
        with client(url, ask.region) as server:
            put(rows, server)


def client(url: str, region: str | None) -> Client:
    """A lost connection and a throttled request are tried again, for half a minute."""
    found = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    return Client(Address.of(url), found, Chain(), PATIENCE_SECONDS)


def put(rows: DataFrame, server: Client) -> int:
    """The number of windows."""
    statistics = F.struct("metric", *STATISTICS)
    windows = rows.groupBy(*WINDOW).agg(F.collect_list(statistics).alias("metrics")).toLocalIterator()
    number = 0
    try:
        while piece := [_window(row) for row in islice(windows, AT_ONCE)]:
            server.call("Penstock.PutQueueMetrics", Windows=piece)
            number += len(piece)
    except (SqsError, NoKeys, NotTrusted) as error:
        raise NotPut(f"{server.address} did not take windows that the table has: {error}") from None
    return number


def _window(row: Row) -> dict[str, Any]:
    return {
        "Region": row.region,
        "Account": row.account,
        "QueueName": row.queue,
        "Period": row.period_seconds,
        "StartTime": row.window_ms,
        "Metrics": {each.metric: dict(_statistics(each)) for each in row.metrics},
    }


def _statistics(each: Row) -> Iterator[tuple[str, int]]:
    for column, name in STATISTICS.items():
        yield name, each[column]

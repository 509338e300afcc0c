"""A day of made-up traffic, always the same: for pages that must have something of everything."""

import math
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.schemas import EVENTS

from .journals import Line, line

MINUTE = 60_000
QUEUES = ("orders", "orders-eu", "invoices.fifo", "emails", "thumbnails", "audit", "webhooks", "payments.fifo")
ACCOUNTS = ("000000000000", "111122223333", "444455556666", "777788889999")
TYPES = ("order.placed", "order.cancelled", "invoice.due", "mail", None)


def frame(spark: SparkSession, lines: Sequence[Line]) -> DataFrame:
    """Rows of the table `events`."""
    rows = [{**one, "date": datetime.fromtimestamp(one["ts_ms"] / 1000, UTC).date()} for one in lines]
    return spark.createDataFrame(rows, EVENTS.all)


def a_day(per_minute: int = 12, minutes: int = 1440, seed: int = 7) -> list[Line]:
    chance = random.Random(seed)
    made = [one for minute in range(minutes) for one in _a_minute(chance, minute, per_minute)]
    made.sort(key=lambda one: one["ts_ms"])
    return [{**one, "seq": number} for number, one in enumerate(made, 1)]


def _a_minute(chance: random.Random, minute: int, per_minute: int) -> Iterator[Line]:
    busy = 0.35 + 0.65 * math.sin(math.pi * minute / 1440) ** 2
    for _ in range(round(per_minute * busy * chance.uniform(0.7, 1.3))):
        yield from _a_message(chance, minute * MINUTE + chance.randrange(MINUTE), bad=600 <= minute < 680)
    backlog = 900 if 600 <= minute < 680 else 40
    for queue in QUEUES[:4]:
        visible = round(backlog * busy * chance.uniform(0.8, 1.2))
        depth = {"visible": visible, "in_flight": visible // 4, "delayed": visible // 9}
        age = round((400_000 if backlog > 100 else 3_000) * chance.uniform(0.5, 1.5))
        yield line(0, "GAUGE", minute * MINUTE, queue=queue, count=sum(depth.values()), duration_ms=age, **depth)


def _a_message(chance: random.Random, at: int, bad: bool) -> Iterator[Line]:
    queue = QUEUES[min(int(chance.expovariate(0.7)), len(QUEUES) - 1)]
    account = ACCOUNTS[min(int(chance.expovariate(1.2)), len(ACCOUNTS) - 1)]
    size = round(chance.lognormvariate(7, 1))
    about: dict[str, Any] = {"queue": queue, "account": account, "message_id": f"{chance.getrandbits(128):032x}"}
    kind = chance.choice(TYPES)
    yield line(0, "SENT", at, size=size, type=kind, **about)
    dwell = round(chance.lognormvariate(9 if bad else 3.2, 1))
    deliveries = 1 if chance.random() > (0.4 if bad else 0.04) else chance.choice((2, 3, 3))
    for number in range(1, deliveries + 1):
        received = at + dwell * number
        yield line(0, "RECEIVED", received, size=size, type=kind, receive_count=number, duration_ms=dwell, **about)
    if deliveries == 3:
        target = f"arn:aws:sqs:us-east-1:{account}:{queue}-dead"
        end = {"endpoint": target, "reason": "maxReceiveCount", "receive_count": 3}
        yield line(0, "DEAD_LETTERED", received + 30_000, **end, **about)
    elif chance.random() < 0.004:
        yield line(0, "EXPIRED", received + MINUTE, receive_count=deliveries, **about)
    else:
        handling = round(chance.lognormvariate(5.2, 0.8))
        yield line(0, "DELETED", received + handling, duration_ms=handling, receive_count=deliveries, **about)

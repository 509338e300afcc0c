"""GetQueueMetrics: the server's own counters of what queues did, as the nine metrics of Amazon SQS, window by window.

An account sees its own queues, deleted ones too for as long as something is remembered of them. The root account may
name another account, or all. Windows come by account, queue and time, so a page goes on where the last one ended.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from penstock.api.administration import EVERY, wanted_account
from penstock.api.call import Call, Operation
from penstock.api.listing import checked_place, token_of
from penstock.aws import penstock
from penstock.core.errors import invalid_parameter, invalid_value
from penstock.core.metrics import Statistics, windows
from penstock.core.queue import QueueKey
from penstock.core.traffic import MINUTE_MS

MOST_WINDOWS = 1000
QUEUES_AT_ONCE = 20
"""Are looked through before others have their turn: to unpack three hours of a queue takes a tenth of a millisecond."""
LONGEST_PERIOD = 86_400


class Place(NamedTuple):
    """Of a window in the order of the answer."""

    account: str
    queue: str
    start: int


BEGINNING = Place("", "", -1)


@dataclass(frozen=True)
class Ask:
    start: int
    end: int
    period_ms: int
    after: Place
    now: int


async def get_queue_metrics(call: Call, request: penstock.GetQueueMetricsRequest) -> penstock.GetQueueMetricsResult:
    most = MOST_WINDOWS if request.MaxResults is None else request.MaxResults
    if not 1 <= most <= MOST_WINDOWS:
        raise invalid_value(most, "MaxResults", f"Must be between 1 and {MOST_WINDOWS}, if provided.")
    ask, traffic = _ask(call, request), call.site.store.traffic
    found: list[penstock.QueueMetricsWindow] = []
    for number, queue in enumerate(await _queues(call, request)):
        if number % QUEUES_AT_ONCE == 0:
            await asyncio.sleep(0)
        if queue[1:] >= ask.after[:2]:
            found += _windows(call, queue, ask)
        if len(found) > most:
            break
    return penstock.GetQueueMetricsResult(
        CountingSince=traffic.since,
        Windows=found[:most] or None,
        NextToken=_token(found[most - 1]) if len(found) > most else None,
    )


def _ask(call: Call, request: penstock.GetQueueMetricsRequest) -> Ask:
    period, now = 60 if request.Period is None else request.Period, call.now()
    if not 60 <= period <= LONGEST_PERIOD or period % 60:
        raise invalid_value(period, "Period", f"Must be a multiple of 60 between 60 and {LONGEST_PERIOD}, if provided.")
    start = request.StartTime or 0
    end = now + 1 if request.EndTime is None else request.EndTime
    if start < 0 or end <= start:
        raise invalid_parameter("StartTime must be before EndTime; both are epoch milliseconds.")
    period_ms = period * 1000
    after = checked_place(request.NextToken, Place) if request.NextToken else BEGINNING
    return Ask(start - start % period_ms, end, period_ms, after, now)


async def _queues(call: Call, request: penstock.GetQueueMetricsRequest) -> list[QueueKey]:
    """Those that are asked for, in order. A queue that was named and never was is an error."""
    account = call.principal.account if request.Account is None else wanted_account(request.Account)
    traffic = call.site.store.traffic
    if call.resource is None:
        known = (key for key in traffic.queues() if key.region == call.region)
        return sorted(key for key in known if account in (EVERY, key.account))
    if account == EVERY:
        raise invalid_value(account, "Account", "Must be one account if a queue is named.")
    named = call.resource if request.Account is None else call.resource._replace(account=account)
    if named not in traffic.queues():
        await call.site.store.queue(named)
    return [named]


def _windows(call: Call, queue: QueueKey, ask: Ask) -> Iterator[penstock.QueueMetricsWindow]:
    traffic = call.site.store.traffic
    minutes = traffic.minutes(queue, ask.start // MINUTE_MS, ask.now)
    for start, metrics in windows(minutes, ask.period_ms).items():
        if start < ask.end and (queue.account, queue.name, start) > ask.after:
            yield penstock.QueueMetricsWindow(
                Account=queue.account,
                QueueName=queue.name,
                StartTime=start,
                Partial=not traffic.complete(start, start + ask.period_ms, ask.now),
                Metrics={name: _statistics(each) for name, each in metrics.items()},
            )


def _statistics(each: Statistics) -> penstock.MetricStatistics:
    return penstock.MetricStatistics(
        SampleCount=each.samples, Sum=each.sum, Minimum=each.minimum, Maximum=each.maximum
    )  # fmt: skip


def _token(last: penstock.QueueMetricsWindow) -> str:
    return token_of((last.Account, last.QueueName, last.StartTime))


OPERATIONS: dict[str, Operation] = {"GetQueueMetrics": get_queue_metrics}

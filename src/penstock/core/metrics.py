"""The nine metrics that Amazon SQS reports to CloudWatch, of counted minutes: names, units, and windows of any length.

What an event adds to: a counter has a sample of 1 for each message (or call, of empty receives), so its SampleCount and
Sum are the same; SentMessageSize has a sample for each message that was stored; the others have one for each time that
the server looked, once a minute. A metric without a sample is not there, and nor is a window without a metric.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from penstock.core.traffic import MINUTE_MS, Minute

COUNTERS = {
    "NumberOfMessagesSent": "sent",
    "NumberOfMessagesReceived": "received",
    "NumberOfMessagesDeleted": "deleted",
    "NumberOfEmptyReceives": "empty",
}
"""Amazon's name → the field of a minute."""
SIZE = "SentMessageSize"
GAUGES = (
    "ApproximateNumberOfMessagesVisible",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateAgeOfOldestMessage",
)
"""In the order of a Gauge. The age is in whole seconds."""
NAMES = (*COUNTERS, SIZE, *GAUGES)
UNITS = dict.fromkeys(NAMES, "Count") | {SIZE: "Bytes", GAUGES[-1]: "Seconds"}


class Statistics(NamedTuple):
    samples: int
    sum: int
    minimum: int
    maximum: int


def windows(minutes: Iterable[Minute], period_ms: int) -> dict[int, dict[str, Statistics]]:
    """By the time at which each window begins, in order: multiples of the period since the epoch."""
    found: dict[int, list[Minute]] = {}
    for minute in minutes:
        start = minute.number * MINUTE_MS
        found.setdefault(start - start % period_ms, []).append(minute)
    return {start: statistics(found[start]) for start in sorted(found)}


def statistics(minutes: Sequence[Minute]) -> dict[str, Statistics]:
    counted = {name: sum(getattr(minute, field) for minute in minutes) for name, field in COUNTERS.items()}
    found = {name: Statistics(number, number, 1, 1) for name, number in counted.items() if number}
    if sending := [minute for minute in minutes if minute.sent]:
        found[SIZE] = Statistics(
            sum(minute.sent for minute in sending),
            sum(minute.bytes for minute in sending),
            min(minute.smallest for minute in sending),
            max(minute.largest for minute in sending),
        )
    if gauges := [gauge for minute in minutes for gauge in minute.gauges]:
        for name, values in zip(GAUGES, zip(*gauges, strict=True), strict=True):
            found[name] = Statistics(len(values), sum(values), min(values), max(values))
    return found

"""What is asked of CloudWatch: which metric of which queue, from when to when, and in which steps.

Data points begin at multiples of the period since the epoch, as the server's own windows do; the first is the one in
which the start lies. A metric that nobody reports is no error, as it is none at Amazon: there is nothing of it.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from penstock.api.call import Call
from penstock.aws import cloudwatch
from penstock.core.errors import invalid_value
from penstock.core.metrics import UNITS, Statistics
from penstock.core.queue import QueueKey

NAMESPACE, DIMENSION = "AWS/SQS", "QueueName"
LATEST_SECONDS = 253_402_300_799
"""The end of the year 9999."""
STATISTICS: dict[str, Callable[[Statistics], float]] = {
    "SampleCount": lambda one: one.samples,
    "Sum": lambda one: one.sum,
    "Average": lambda one: one.sum / one.samples,
    "Minimum": lambda one: one.minimum,
    "Maximum": lambda one: one.maximum,
}


class Question(NamedTuple):
    """`queue` is None if there is no such metric. `start` and `end` are multiples of the period."""

    queue: QueueKey | None
    metric: str
    period_ms: int
    start: int
    end: int

    @property
    def most_points(self) -> int:
        return (self.end - self.start) // self.period_ms


def question(call: Call, metric: cloudwatch.Metric, unit: str | None, period: int, span: tuple[int, int]) -> Question:
    period_ms, (start, end) = period * 1000, span
    name = metric.MetricName or ""
    queue = _queue(call, metric.Namespace, metric.Dimensions or ()) if unit in (None, UNITS.get(name)) else None
    return Question(queue, name, period_ms, start - start % period_ms, end + -end % period_ms)


def _queue(call: Call, namespace: str | None, given: Sequence[cloudwatch.Dimension]) -> QueueKey | None:
    """Metrics have the one dimension, and a question must name them all."""
    if namespace != NAMESPACE or [one.Name for one in given] != [DIMENSION]:
        return None
    return QueueKey(call.region, call.principal.account, given[0].Value)


def check_period(period: int) -> None:
    if period % 60 or period < 60:
        raise invalid_value(period, "Period", "Must be a multiple of 60: there is nothing shorter than a minute.")


def moment(given: str | float, name: str) -> int:
    """Epoch milliseconds of what JSON writes as seconds and the Query protocol by ISO 8601; UTC unless it says so."""
    try:
        seconds = _seconds(given) if isinstance(given, str) else given
        if 0 <= seconds <= LATEST_SECONDS:
            return round(seconds * 1000)
    except (ValueError, OverflowError):
        pass
    raise invalid_value(str(given)[:64], name, "Must be a time since 1970, by ISO 8601 or in seconds of the epoch.")


def _seconds(text: str) -> float:
    found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def value(one: Statistics, statistic: str) -> float:
    return float(STATISTICS[statistic](one))


def unknown_statistic(name: str) -> str:
    return f"The statistic {name[:64]} is not known here. There are {', '.join(STATISTICS)}; samples are not kept."

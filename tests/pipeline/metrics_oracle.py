"""The metrics' definitions once more, in plain Python, one event after another: what the tables are held against."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

Row = tuple[Any, ...]
PERIODS = (60, 300)
COUNTERS = {
    "SENT": "NumberOfMessagesSent",
    "RECEIVED": "NumberOfMessagesReceived",
    "DELETED": "NumberOfMessagesDeleted",
    "EMPTY_RECEIVE": "NumberOfEmptyReceives",
}
GAUGES = {
    "visible": "ApproximateNumberOfMessagesVisible",
    "in_flight": "ApproximateNumberOfMessagesNotVisible",
    "delayed": "ApproximateNumberOfMessagesDelayed",
}
METRIC_ROW = (
    "window_ms", "period_seconds", "account", "queue", "metric", "sample_count", "sum", "minimum", "maximum",
)  # fmt: skip
LATENCY_ROW = (
    "window_ms", "period_seconds", "account", "queue", "type", "deliveries", "redelivered", "deleted", "dead_lettered",
    "expired", "failures", "success_ratio", "dwell_p50_ms", "dwell_p95_ms", "dwell_p99_ms", "handling_p50_ms",
    "handling_p95_ms", "handling_p99_ms", "groups", "fairness",
)  # fmt: skip


def windows(event: Mapping[str, Any]) -> Iterable[Row]:
    for seconds in PERIODS:
        yield event["ts_ms"] // (seconds * 1000) * seconds * 1000, seconds, event["account"], event["queue"]


def metrics(events: Iterable[Mapping[str, Any]]) -> set[Row]:
    samples = defaultdict[Row, list[int]](list)
    for event in events:
        for metric, value in _samples(event):
            for window in windows(event):
                samples[(*window, metric)].append(value)
    return {(*key, len(got), sum(got), min(got), max(got)) for key, got in samples.items()}


def _samples(event: Mapping[str, Any]) -> Iterable[tuple[str, int]]:
    kind = event["event"]
    if kind in COUNTERS:
        yield COUNTERS[kind], 1
    if kind == "SENT":
        yield "SentMessageSize", event["size"]
    if kind == "GAUGE" and event.get("reason") is None:
        yield "ApproximateAgeOfOldestMessage", event.get("duration_ms", 0) // 1000
        yield from ((metric, event[field]) for field, metric in GAUGES.items())


def latency(events: Iterable[Mapping[str, Any]]) -> set[Row]:
    found = defaultdict[Row, list[Mapping[str, Any]]](list)
    for event in events:
        if event["event"] in ("DELETED", "DEAD_LETTERED", "EXPIRED") or _delivery(event):
            for window in windows(event):
                found[(*window, None)].append(event)
                if _delivery(event) and event.get("type") is not None:
                    found[(*window, event["type"])].append(event)
    return {(*key, *_figures(got, key[-1] is None)) for key, got in found.items()}


def _delivery(event: Mapping[str, Any]) -> bool:
    return event["event"] == "RECEIVED" and event.get("reason") != "repeat"


def _figures(events: list[Mapping[str, Any]], of_all: bool) -> Row:
    kinds = Counter(event["event"] for event in events)
    again = sum(_delivery(event) and event["receive_count"] > 1 for event in events)
    lost = kinds["DEAD_LETTERED"] + sum(event["event"] == "EXPIRED" and event["receive_count"] > 0 for event in events)
    dwell = [event["duration_ms"] for event in events if _delivery(event) and event["receive_count"] == 1]
    handling = [event["duration_ms"] for event in events if event["event"] == "DELETED"]
    ended = kinds["DELETED"] + again + lost
    outcomes = (kinds["DELETED"], kinds["DEAD_LETTERED"], kinds["EXPIRED"], again + lost)
    ratio = kinds["DELETED"] / ended if ended else None
    judged = (*outcomes, ratio) if of_all else (None,) * 5
    shares = Counter(event["group"] for event in events if _delivery(event) and event.get("group") is not None)
    return (
        kinds["RECEIVED"],
        again,
        *judged,
        *ranks(dwell),
        *ranks(handling),
        len(shares),
        jain(list(shares.values())),
    )


def ranks(values: list[int]) -> Row:
    ordered = sorted(values)
    return tuple(ordered[-(-percent * len(ordered) // 100) - 1] if ordered else None for percent in (50, 95, 99))


def jain(shares: list[int]) -> float | None:
    if not shares:
        return None
    return float(sum(shares)) ** 2 / (len(shares) * float(sum(share * share for share in shares)))

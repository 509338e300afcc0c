"""The nine metrics counted from the journal's events in the plainest way: what the server's own counters must equal.

It is written from docs/explain/metrics.md and shares nothing with `penstock.core.metrics`.
"""

from collections.abc import Iterable

from penstock.core.journal import Event
from penstock.core.metrics import windows
from penstock.core.store import Store

Metrics = dict[tuple[str, str, int], dict[str, tuple[int, int, int, int]]]
"""By account, queue and start of the window, the metric: samples, sum, minimum, maximum."""


def of_events(events: Iterable[Event], period_ms: int) -> Metrics:
    samples: dict[tuple[str, str, int], dict[str, list[int]]] = {}
    for event in events:
        for name, value in _samples(event).items():
            window = event.account, event.queue or "", event.ts_ms // period_ms * period_ms
            samples.setdefault(window, {}).setdefault(name, []).append(value)
    return {
        window: {name: (len(values), sum(values), min(values), max(values)) for name, values in found.items()}
        for window, found in samples.items()
    }


def _samples(event: Event) -> dict[str, int]:
    match event.event:
        case "SENT":
            return {"NumberOfMessagesSent": 1, "SentMessageSize": event.size or 0}
        case "RECEIVED":
            return {"NumberOfMessagesReceived": 1}
        case "DELETED":
            return {"NumberOfMessagesDeleted": 1}
        case "EMPTY_RECEIVE":
            return {"NumberOfEmptyReceives": 1}
        case "GAUGE" if event.reason is None:
            return {
                "ApproximateNumberOfMessagesVisible": event.visible or 0,
                "ApproximateNumberOfMessagesNotVisible": event.in_flight or 0,
                "ApproximateNumberOfMessagesDelayed": event.delayed or 0,
                "ApproximateAgeOfOldestMessage": (event.duration_ms or 0) // 1000,
            }
    return {}


def of_server(store: Store, period_ms: int, now: int) -> Metrics:
    """What the store's counters say."""
    return {
        (queue.account, queue.name, start): {name: tuple(statistics) for name, statistics in metrics.items()}
        for queue in store.traffic.queues()
        for start, metrics in windows(store.traffic.minutes(queue, 0, now), period_ms).items()
    }

"""What the server counts and times, for Prometheus. Gauges of queues are read when somebody looks."""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from penstock.api.call import Site
from penstock.core.errors import QueueGone
from penstock.core.queue import Counts, Queue

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30)
CHANGES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        requests = Counter("penstock_requests", "Requests answered.", ["action", "result"], registry=self._registry)
        seconds = Histogram(
            "penstock_request_seconds", "Time to answer.", ["action"], registry=self._registry, buckets=SECONDS
        )
        self._requests, self._seconds = cache(requests.labels), cache(seconds.labels)
        self._changes = Histogram(
            "penstock_commit_changes", "Changes that shared a commit.", registry=self._registry, buckets=CHANGES
        )
        self._commit_seconds = Histogram(
            "penstock_commit_seconds", "Time of a commit to disk.", registry=self._registry, buckets=SECONDS
        )
        self._connections = Gauge("penstock_connections", "Open client connections.", registry=self._registry)

    def request(self, action: str, result: str, seconds: float) -> None:
        self._requests(action, result).inc()
        self._seconds(action).observe(seconds)

    def commit(self, changes: int, seconds: float) -> None:
        self._changes.observe(changes)
        self._commit_seconds.observe(seconds)

    def connections(self, number: int) -> None:
        self._connections.set(number)

    async def page(self, site: Site) -> bytes:
        now = site.clock.now()
        depths = []
        for queue in await site.store.all_queues():
            with suppress(QueueGone):
                depths.append((queue, await site.store.counts(queue.id, now)))
        gauges = CollectorRegistry()
        gauges.register(_Queues(depths, len(site.room), now))
        return generate_latest(self._registry) + generate_latest(gauges)


class _Queues(Collector):
    def __init__(self, depths: list[tuple[Queue, Counts]], waiters: int, now: int) -> None:
        self._depths, self._waiters, self._now = depths, waiters, now

    def collect(self) -> Iterator[Metric]:
        labels = ["region", "account", "queue"]
        messages = GaugeMetricFamily("penstock_queue_messages", "Messages in a queue.", labels=[*labels, "state"])
        size = GaugeMetricFamily("penstock_queue_bytes", "Bytes of messages in a queue.", labels=labels)
        age = GaugeMetricFamily("penstock_queue_oldest_seconds", "Age of a queue's oldest message.", labels=labels)
        for queue, counts in self._depths:
            states = {"visible": counts.visible, "in_flight": counts.in_flight, "delayed": counts.delayed}
            for state, number in states.items():
                messages.add_metric([*queue.key, state], number)
            size.add_metric(list(queue.key), counts.bytes)
            age.add_metric(list(queue.key), 0 if counts.oldest is None else (self._now - counts.oldest) / 1000)
        yield messages
        yield size
        yield age
        yield GaugeMetricFamily("penstock_waiters", "Long polls parked.", value=self._waiters)

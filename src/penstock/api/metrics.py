"""What the server counts and times, for Prometheus. Numbers are kept in plain lists, which every request pays for, and
are put into words when somebody looks; gauges of queues are read then, too."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from operator import add
from typing import NamedTuple

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from penstock.api.call import Site
from penstock.core.errors import QueueGone
from penstock.core.journal import Archive, ReaderState, Segment
from penstock.core.queue import Counts, Queue, age_ms

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30)
CHANGES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
OF_A_QUEUE = ["region", "account", "queue"]


class Histogram:
    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds, self._buckets, self._sum = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float, times: int = 1) -> None:
        self._buckets[bisect_left(self._bounds, value)] += times
        self._sum += value * times

    def include(self, other: "Histogram") -> None:
        self._buckets = list(map(add, self._buckets, other._buckets))
        self._sum += other._sum

    @property
    def count(self) -> int:
        return sum(self._buckets)

    def write(self, family: HistogramMetricFamily, labels: list[str]) -> None:
        names, total, buckets = [*map(str, self._bounds), "+Inf"], 0, []
        for name, number in zip(names, self._buckets, strict=True):
            total += number
            buckets.append((name, total))
        family.add_metric(labels, buckets, self._sum)


class Metrics:
    def __init__(self) -> None:
        self.requests: defaultdict[tuple[str, str], Histogram] = defaultdict(lambda: Histogram(SECONDS))
        self.commit_changes, self.commit_seconds = Histogram(CHANGES), Histogram(SECONDS)
        self.open_connections = 0

    def commit(self, changes: int, seconds: float) -> None:
        self.commit_changes.add(changes)
        self.commit_seconds.add(seconds)

    def connections(self, number: int) -> None:
        self.open_connections = number

    async def page(self, site: Site) -> bytes:
        now, depths = site.clock.now(), []
        for queue in await site.store.all_queues():
            with suppress(QueueGone):
                counts, oldest = await site.store.counts(queue.id, now), await site.store.oldest(queue.id, now)
                depths.append(Depth(queue, counts, age_ms(oldest, now) or 0))
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Page(self, depths, len(site.room)))
        if site.journal:
            lags = [await _lag(site.journal, state, now) for state in await site.journal.readers()]
            registry.register(_OfJournal(site.journal, await site.journal.segments(), lags))
        return generate_latest(registry)


class Depth(NamedTuple):
    queue: Queue
    counts: Counts
    age_ms: int
    """Of the oldest message; 0 if there is none."""


class Lag(NamedTuple):
    """How far a registered reader is behind; `seconds` is None where that cannot be read."""

    reader: str
    events: int
    seconds: float | None


async def _lag(journal: Archive, state: ReaderState, now: int) -> Lag:
    committed = state.committed.get(journal.node, 0)
    events = journal.last - committed
    since = await journal.time_of(committed + 1) if events > 0 else now
    return Lag(state.name, events, None if since is None else max(0, now - since) / 1000)


class _OfJournal(Collector):
    def __init__(self, journal: Archive, segments: Sequence[Segment], lags: Sequence[Lag]) -> None:
        self._journal, self._segments, self._lags = journal, segments, lags

    def collect(self) -> Iterator[Metric]:
        journal = self._journal
        yield CounterMetricFamily("penstock_journal_events", "The number of the last event.", value=journal.last)
        yield CounterMetricFamily(
            "penstock_journal_segments_forced",
            "Segments deleted before every registered reader had committed them.",
            value=journal.forced,
        )
        size = sum(segment.size for segment in self._segments)
        yield GaugeMetricFamily("penstock_journal_bytes", "Bytes of the journal on disk.", value=size)
        lag = GaugeMetricFamily(
            "penstock_journal_reader_lag", "Events that a registered reader has not committed.", labels=["reader"]
        )
        seconds = GaugeMetricFamily(
            "penstock_journal_reader_lag_seconds",
            "Age of the oldest event that a registered reader has not committed, 0 if there is none.",
            labels=["reader"],
        )
        for each in self._lags:
            lag.add_metric([each.reader], each.events)
            if each.seconds is not None:
                seconds.add_metric([each.reader], each.seconds)
        yield from (lag, seconds)


class _Page(Collector):
    """Everything there is to tell at one moment."""

    def __init__(self, metrics: Metrics, depths: list[Depth], waiters: int) -> None:
        self._metrics, self._depths, self._waiters = metrics, depths, waiters

    def collect(self) -> Iterator[Metric]:
        metrics = self._metrics
        requests = CounterMetricFamily("penstock_requests", "Requests answered.", labels=["action", "result"])
        by_action: defaultdict[str, Histogram] = defaultdict(lambda: Histogram(SECONDS))
        for (action, result), times in metrics.requests.items():
            requests.add_metric([action, result], times.count)
            by_action[action].include(times)
        yield requests
        seconds = HistogramMetricFamily("penstock_request_seconds", "Time to answer a request.", labels=["action"])
        for action, times in by_action.items():
            times.write(seconds, [action])
        yield seconds
        for name, words, histogram in (
            ("penstock_commit_changes", "Changes that shared a commit.", metrics.commit_changes),
            ("penstock_commit_seconds", "Time of a commit to disk.", metrics.commit_seconds),
        ):
            family = HistogramMetricFamily(name, words, labels=[])
            histogram.write(family, [])
            yield family
        yield GaugeMetricFamily("penstock_connections", "Open client connections.", value=metrics.open_connections)
        yield GaugeMetricFamily("penstock_waiters", "Long polls parked.", value=self._waiters)
        yield from self._queues()

    def _queues(self) -> Iterator[Metric]:
        messages = GaugeMetricFamily("penstock_queue_messages", "Messages in a queue.", labels=[*OF_A_QUEUE, "state"])
        size = GaugeMetricFamily("penstock_queue_bytes", "Bytes of messages in a queue.", labels=OF_A_QUEUE)
        age = GaugeMetricFamily("penstock_queue_oldest_seconds", "Age of a queue's oldest message.", labels=OF_A_QUEUE)
        for queue, counts, age_of_oldest in self._depths:
            states = {"visible": counts.visible, "in_flight": counts.in_flight, "delayed": counts.delayed}
            for state, number in states.items():
                messages.add_metric([*queue.key, state], number)
            size.add_metric(list(queue.key), counts.bytes)
            age.add_metric(list(queue.key), age_of_oldest / 1000)
        yield from (messages, size, age)

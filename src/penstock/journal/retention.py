"""What is deleted of the journal, and when: by age, by bytes, and never what a registered reader still needs, unless
the cap on bytes leaves no choice. Only published segments are deleted, the oldest first."""

from typing import NamedTuple

import structlog

from penstock.core.journal import Segment
from penstock.journal.absence import Absence
from penstock.journal.readers import Readers
from penstock.journal.segments import Segments

log = structlog.get_logger("penstock")

DAY_MS = 86_400_000


class Removed(NamedTuple):
    segments: int = 0
    forced: int = 0


class Retention:
    """`keep_days` and `keep_bytes`: 0 is without a limit."""

    def __init__(self, segments: Segments, readers: Readers, keep_days: int, keep_bytes: int) -> None:
        self._segments, self._readers, self._keep_days, self._keep_bytes = segments, readers, keep_days, keep_bytes
        self._absence = Absence(segments.directory, segments.disk)

    def enforce(self, now: int) -> Removed:
        nodes = self._segments.nodes()
        every = [segment for node in nodes for segment in self._segments.all(node)]
        committed = {node: self._readers.committed(node) for node in nodes}
        total = sum(segment.size for segment in every)
        removed, forced = 0, 0
        newest = {segment.node: segment for segment in every}
        waiting: list[Segment] = []
        for segment in sorted((s for s in every if not s.open), key=lambda s: (s.modified, s.node, s.first)):
            up_to = committed[segment.node]
            too_old = self._keep_days and segment.modified < now - self._keep_days * DAY_MS
            if not (too_old or self._too_much(total)):
                continue
            if up_to is not None and segment.last > up_to:
                waiting.append(segment)
                continue
            self._remove(segment, newest)
            total, removed = total - segment.size, removed + 1
        for segment in waiting:
            if not self._too_much(total):
                break
            log.error("journal segment deleted before its readers committed it: over journal_keep_bytes",
                      node=segment.node, first=segment.first, last=segment.last)  # fmt: skip
            self._remove(segment, newest)
            total, forced = total - segment.size, forced + 1
        return Removed(removed + forced, forced)

    def _remove(self, segment: Segment, newest: dict[str, Segment]) -> None:
        if segment == newest[segment.node]:
            self._absence.note({segment.node: segment.last})
        self._segments.remove(segment)

    def _too_much(self, total: int) -> bool:
        return bool(self._keep_bytes) and total > self._keep_bytes

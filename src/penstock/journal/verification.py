"""Whether a journal is whole: every checksum right, every line readable, no number missing or twice, the events of each
queue adding up; and whether it agrees with its store, queue by queue.

It works on files, of a server that runs or not. It only reads.
"""

import gzip
import zlib
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import IO

import msgspec

from penstock.core.journal import OFF, Event, Segment
from penstock.core.outbox import unpacked
from penstock.core.store import Store
from penstock.journal.absence import Absence
from penstock.journal.balance import Balance
from penstock.journal.keeping import ENDED, NODE
from penstock.journal.segments import FOREVER, Segments

BATCHES_AT_ONCE = 1000

_event_of = msgspec.json.Decoder(Event).decode


@dataclass
class Report:
    """What was looked at, and every sentence about what is wrong."""

    nodes: int = 0
    segments: int = 0
    events: int = 0
    queues: int = 0
    problems: list[str] = field(default_factory=list)


class Verification:
    def __init__(self, segments: Segments) -> None:
        self._segments, self.report = segments, Report()

    def files(self, node: str, up_to: int = FOREVER) -> tuple[Balance, int]:
        """Everything in the files of a node; its books, and the last number, up to a number."""
        self.report.nodes += 1
        balance, last = Balance(), 0
        for listed in self._segments.all(node):
            if (found := self._opened(listed)) is None:
                balance, last = Balance(), 0
                continue
            segment, raw = found
            self.report.segments += 1
            if last and segment.first != last + 1:
                self._say(f"{_name(segment)}: events {last + 1} to {segment.first - 1} are missing before it")
            last = segment.first - 1
            with raw, closing(self._lines(segment, raw)) as lines:
                for line in lines:
                    if last == up_to:
                        return balance, last
                    last = self._take(segment, line, last, balance)
            if not segment.open and last != segment.last:
                self._say(f"{_name(segment)}: it ends at event {last}, not at {segment.last}")
                last = segment.last
        return balance, last

    def _opened(self, listed: Segment) -> tuple[Segment, IO[bytes]] | None:
        """A segment by the name that it has now: the server may have published it since. None if it is gone; the oldest
        may be, by retention, and then what is kept begins after it."""
        try:
            return listed, listed.path.open("rb")
        except FileNotFoundError:
            present = self._segments.all(listed.node)
        for segment in present:
            if segment.first == listed.first:
                return self._opened(segment)
        if present and present[0].first < listed.first:
            self._say(f"{_name(listed)}: it was deleted while it was being read")
        return None

    def _lines(self, segment: Segment, raw: IO[bytes]) -> Generator[bytes, None, None]:
        try:
            for line in raw if segment.open else gzip.GzipFile("", "rb", fileobj=raw):
                if line.endswith(b"\n"):
                    yield line
                elif not segment.open:
                    self._say(f"{_name(segment)}: its last line is cut short")
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            self._say(f"{_name(segment)}: it is damaged ({error})")

    def _take(self, segment: Segment, line: bytes, last: int, balance: Balance) -> int:
        try:
            event = _event_of(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self._say(f"{_name(segment)}: event {last + 1} is no event ({error})")
            return last + 1
        if (event.node, event.seq) != (segment.node, last + 1):
            self._say(f"{_name(segment)}: event {last + 1} calls itself {event.seq} of node {event.node}")
        self._book(event, balance)
        return last + 1

    def _book(self, event: Event, balance: Balance) -> None:
        self.report.events += 1
        for problem in balance.add(event):
            self._say(f"node {event.node}, {problem}")

    async def store(self, store: Store) -> None:
        """The files of the store's own node, and what the store still holds for it, against the store's counters."""
        node, last = (await store.keep(NODE, b"")).decode(), store.journal_seq()
        if not node or node.startswith(ENDED):
            return
        balance, found = self.files(node, last)
        reached = found or Absence(self._segments.directory).all().get(node, 0)
        while batches := await store.outbox_after(reached, BATCHES_AT_ONCE):
            for first, end, lines in batches:
                if first > reached + 1:
                    self._say(f"node {node}: events {reached + 1} to {first - 1} are in no file and not in the store")
                for line in unpacked(lines).splitlines()[max(0, reached + 1 - first) :]:
                    self._book(_event_of(line), balance)
                reached = end
        if reached != last:
            self._say(f"node {node}: its journal ends at event {reached}, and the store has made {last}")
        await self._compare(store, balance)

    async def _compare(self, store: Store, balance: Balance) -> None:
        held = dict(balance.held)
        for queue in await store.all_queues():
            known = held.pop(queue.key, None)
            number = (await store.counts(queue.id, 0)).held
            if queue.journal == OFF or known is None:
                continue
            self.report.queues += 1
            if known != number:
                self._say(f"{queue.arn}: the store holds {number} messages, and the journal makes it {known}")
        for key, number in held.items():
            self._say(f"{key.arn}: the journal has it with {number} messages, and the store does not know it")

    def _say(self, problem: str) -> None:
        self.report.problems.append(problem)


def _name(segment: Segment) -> str:
    return "/".join(segment.path.parts[-3:])

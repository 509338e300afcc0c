"""What is to be read: from segments and two offsets to pieces, gaps and partitions.

An offset is `{node: seq}`, the last number that was read of each node; a node that is not in it is read from its first
event on. Numbers are dense, so the names of segments say how many events there are, without a look into any. Lines are
counted, not searched: line k of a segment is number `first + k`, and a window of lines belongs to one batch whatever
they say. That a bad line is in exactly one batch rests on this.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from pyspark.sql.datasource import InputPartition

Offset = dict[str, int]


@dataclass(frozen=True)
class Segment:
    """A file of the journal, or as much of it as can be read now."""

    node: str
    first: int
    last: int
    date: dt.date | None
    name: str
    whole: bool = False
    """Reading a part of it costs as much as reading it to there: not worth cutting for the sake of more tasks."""


@dataclass(frozen=True)
class Piece:
    """Lines of one segment: from one number to another, both included."""

    segment: Segment
    start: int
    end: int

    @property
    def events(self) -> int:
        return self.end - self.start + 1


@dataclass(frozen=True)
class Gap:
    """Events that are missing, and why. `damaged`: their file is there and cannot be read to its end."""

    node: str
    start: int
    end: int
    why: str
    file: str | None = None
    date: dt.date | None = None
    damaged: bool = False

    @property
    def events(self) -> int:
        return self.end - self.start + 1

    def __str__(self) -> str:
        return f"events {self.start} to {self.end} of node {self.node} are missing: {self.why}"


@dataclass
class Share(InputPartition):
    """What one task reads."""

    parts: list[Piece | Gap]


GONE = "no segment has them; retention or somebody deleted it"


def latest(segments: Iterable[Segment]) -> Offset:
    ends: Offset = {}
    for segment in segments:
        ends[segment.node] = max(segment.last, ends.get(segment.node, 0))
    return ends


def earliest(segments: Iterable[Segment]) -> Offset:
    """So that what retention takes away between now and the first batch is a gap, and not unheard of."""
    starts: Offset = {}
    for segment in segments:
        starts[segment.node] = min(segment.first - 1, starts.get(segment.node, segment.first - 1))
    return starts


def between(segments: Iterable[Segment], start: Mapping[str, int], end: Mapping[str, int]) -> list[Piece | Gap]:
    """Everything after `start` up to `end`, each number once, in order, node by node."""
    planned: list[Piece | Gap] = []
    for node, mine in groupby(sorted(segments, key=lambda s: (s.node, s.first, -s.last)), key=lambda s: s.node):
        if node in end:
            planned += _of_node(list(mine), start.get(node), end[node])
    known = {segment.node for segment in segments}
    lost = [node for node in sorted(end) if node not in known and end[node] > start.get(node, 0)]
    return planned + [Gap(node, start.get(node, 0) + 1, end[node], GONE) for node in lost]


def _of_node(segments: list[Segment], start: int | None, end: int) -> list[Piece | Gap]:
    planned: list[Piece | Gap] = []
    following = segments[0].first if start is None else start + 1
    for segment in segments:
        if segment.last < following or segment.first > end:
            continue
        if segment.first > following:
            planned.append(Gap(segment.node, following, segment.first - 1, GONE))
        piece = Piece(segment, max(segment.first, following), min(segment.last, end))
        planned.append(piece)
        following = piece.end + 1
    if following <= end:
        planned.append(Gap(segments[0].node, following, end, GONE))
    return planned


def limited(start: Mapping[str, int], end: Mapping[str, int], first: Mapping[str, int], most: int) -> Offset:
    """As far as `end`, but at most so many events: nodes with little are read to their end, the others alike."""
    behind = {node: max(0, end[node] - start.get(node, first.get(node, 0))) for node in end}
    reached: Offset = dict(start)
    for waiting, node in enumerate(sorted(behind, key=lambda node: (behind[node], node))):
        taken = min(behind[node], most // (len(behind) - waiting))
        most -= taken
        if taken:
            reached[node] = start.get(node, first.get(node, 0)) + taken
    return dict(sorted(reached.items()))


def shares(parts: Iterable[Piece | Gap], most: int) -> list[Share]:
    """Partitions of about so many events: small segments together, large ones cut where they can be."""
    made: list[Share] = []
    room = 0
    for part in parts:
        for cut in _cuts(part, most):
            size = cut.events if isinstance(cut, Piece) else 0
            if not made or size > room:
                made.append(Share([]))
                room = most
            made[-1].parts.append(cut)
            room -= size
    return made


def _cuts(part: Piece | Gap, most: int) -> list[Piece | Gap]:
    if isinstance(part, Gap) or part.segment.whole or part.events <= most:
        return [part]
    starts = range(part.start, part.end + 1, most)
    return [replace(part, start=start, end=min(start + most - 1, part.end)) for start in starts]

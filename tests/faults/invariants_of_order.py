"""More of `invariants`: order and deduplication, batches, purges and expiry, counts, and names that are given once."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from .history import Operation
from .invariants import INVARIANTS, invariant, violations
from .sightings import EARLY, Sent, Sightings

__all__ = ["INVARIANTS", "violations"]

DEDUPLICATION_SECONDS = 300


@invariant("I8 within a group, in the order of sending and never past one in hand")
def _(seen: Sightings) -> Iterator[str]:
    for sends in _groups(seen).values():
        line = [send.id for send in sends]
        place = {message: number for number, message in enumerate(line)}
        gone = [_gone_from(seen, send) for send in sends]
        latest = list(accumulate(gone, max, initial=0.0))
        """The time by which all before a place may have been gone."""
        for receive in _deliveries(seen, sends):
            places = [place[message["id"]] for message in receive.reply["messages"] if message["id"] in place]
            if places != sorted(places):
                yield f"one reply has messages of one group out of order: {[line[number] for number in places]}"
            left_out = [n for n in range(min(places), max(places)) if n not in places and gone[n] >= receive.end]
            if left_out or latest[min(places)] >= receive.end:
                yield f"{line[max(places)]} and those with it overtook others of their group"


def _groups(seen: Sightings) -> dict[tuple[str, str], list[Sent]]:
    """The acknowledged messages of each group, by sequence number."""
    groups: dict[tuple[str, str], list[Sent]] = defaultdict(list)
    for send in seen.sent_by_id.values():
        if send.group and send.sequence is not None:
            groups[send.queue, send.group].append(send)
    return {key: sorted(sends, key=lambda send: send.sequence or 0) for key, sends in groups.items()}


def _deliveries(seen: Sightings, sends: Sequence[Sent]) -> Iterable[Operation]:
    """The receives that handed out any of these, in their own queue."""
    found = (d.operation for send in sends for d in seen.deliveries[send.id or ""] if d.queue == send.queue)
    return {id(operation): operation for operation in found}.values()


def _gone_from(seen: Sightings, send: Sent) -> float:
    """The earliest time at which a message may have been deleted, dead-lettered, purged or expired."""
    if any(delivery.queue != send.queue for delivery in seen.deliveries[send.id or ""]):
        return 0.0
    if seen.purged(send) or seen.expired(send, seen.end):
        return 0.0
    return min((delete.operation.start for delete in seen.maybe_deletes(send.id or "")), default=math.inf)


@invariant("I9 one message for one deduplication id")
def _(seen: Sightings) -> Iterator[str]:
    """Histories are shorter than the five minutes of the window; a longer one is judged by its first part."""
    ids: dict[tuple[str, str], set[str]] = defaultdict(set)
    first: dict[tuple[str, str], float] = {}
    by_body = {send.body: send for send in seen.sends if send.dedup}
    for send in seen.sends:
        if send.dedup:
            began = first.setdefault((send.queue, send.dedup), send.operation.start)
            if send.id and send.operation.end < began + DEDUPLICATION_SECONDS and not seen.purged(send):
                ids[send.queue, send.dedup].add(send.id)
    for delivery in seen.all_deliveries():
        sent = by_body.get(delivery.body)
        if sent and sent.dedup and not seen.purged(sent):
            ids[sent.queue, sent.dedup].add(delivery.id)
    for (queue, dedup), found in ids.items():
        if len(found) > 1:
            yield f"{dedup} of {queue} is {len(found)} messages"


@invariant("I10 sequence numbers grow")
def _(seen: Sightings) -> Iterator[str]:
    queues: dict[str, dict[str, Sent]] = defaultdict(dict)
    for message, send in seen.sent_by_id.items():
        if send.sequence is not None and (send.queue, send.dedup) not in seen.tried_before:
            queues[send.queue][message] = send
    for queue, sends in queues.items():
        yield from _not_growing(queue, list(sends.values()))
    for message, deliveries in seen.deliveries.items():
        known = seen.sent_by_id.get(message)
        for delivery in deliveries:
            if known and delivery.queue == known.queue and delivery.sequence != known.sequence:
                yield f"{message} was sent as {known.sequence} and came as {delivery.sequence}"


def _not_growing(queue: str, sends: Sequence[Sent]) -> Iterator[str]:
    """Of two sends, one after the other, the later has the higher number; of two at once, another."""
    for number, times in Counter(send.sequence for send in sends).items():
        if times > 1:
            yield f"{queue} gave the sequence number {number} {times} times"
    by_end = sorted(sends, key=lambda send: send.operation.end)
    ended, highest = 0, -1
    for send in sorted(sends, key=lambda send: send.operation.start):
        while ended < len(by_end) and by_end[ended].operation.end < send.operation.start:
            highest = max(highest, by_end[ended].sequence or 0)
            ended += 1
        if (send.sequence or 0) <= highest:
            yield f"{queue} gave {send.sequence} after {highest}"


@invariant("I12 counts are what is there")
def _(seen: Sightings) -> Iterator[str]:
    for counted in seen.of("counts"):
        queues = counted.request["queues"]
        there = {
            d.id for d in seen.all_deliveries() if d.queue in queues and d.operation.start > counted.end
        }  # fmt: skip
        if counted.ok and counted.reply["total"] != len(there):
            yield f"{counted.reply['total']} messages were counted and {len(there)} were there"


@invariant("I13 nothing is delivered past its retention")
def _(seen: Sightings) -> Iterator[str]:
    for delivery in seen.all_deliveries():
        send, retention = seen.sent_by_id.get(delivery.id), seen.setting(delivery.queue, "retention")
        if send and isinstance(retention, int):
            late = delivery.operation.start - (send.operation.end + retention)
            if late > EARLY:
                yield f"{delivery.id} was delivered {late:.3f} s after it had expired"


@invariant("I14 purged is purged")
def _(seen: Sightings) -> Iterator[str]:
    for purge in seen.of("purge"):
        for delivery in seen.all_deliveries() if purge.ok else ():
            send = seen.sent_by_id.get(delivery.id)
            if not send or {send.queue, delivery.queue} != {purge.request["queue"]}:
                continue
            if send.operation.end < purge.start and delivery.operation.start > purge.end:
                yield f"{delivery.id} was delivered after it had been purged"


@invariant("I15 every entry of a batch has one result")
def _(seen: Sightings) -> Iterator[str]:
    for operation in seen.operations:
        entries = operation.request.get("entries") or operation.request.get("handles") or ()
        if operation.ok and len(operation.reply.get("results", entries)) != len(entries):
            yield f"{len(entries)} entries had {len(operation.reply['results'])} results"


@invariant("I19 message ids and receipt handles are given once")
def _(seen: Sightings) -> Iterator[str]:
    handles = Counter(delivery.handle for delivery in seen.all_deliveries())
    yield from (f"the handle {handle[:20]}… was given {n} times" for handle, n in handles.items() if n > 1)
    bodies: dict[str, set[tuple[str, str | None]]] = defaultdict(set)
    for send in seen.sends:
        if send.id:
            bodies[send.id].add((send.queue, send.dedup or send.body))
    yield from (f"{message} is the id of {len(sent)} messages" for message, sent in bodies.items() if len(sent) > 1)

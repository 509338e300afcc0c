"""FIFO queues: order within groups, deduplication, sequence numbers. I8 to I10."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from ..history import Operation
from ..sightings import Sent, Sightings

DEDUPLICATION_SECONDS = 300


def i8_within_a_group_in_the_order_of_sending_and_never_past_one_in_hand(seen: Sightings) -> Iterator[str]:
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


def i9_one_message_for_one_deduplication_id(seen: Sightings) -> Iterator[str]:
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


def i10_sequence_numbers_grow(seen: Sightings) -> Iterator[str]:
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

"""A message on its way: it is neither lost nor altered, hidden when it must be and there when it must be.

I1 to I7, and I11.
"""

import hashlib
import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile

from ..history import FORGOTTEN_SECONDS, Operation
from ..sightings import EARLY, LATE, Delivery, Listed, Sent, Sightings, Touch


def i1_no_acknowledged_message_is_lost(seen: Sightings) -> Iterator[str]:
    """The history ends with a drain: what was not deleted by then is not there."""
    for message, send in _lost(seen):
        if not _tried_in_vain(seen, message):
            yield f"{message} of {send.queue} is lost"


def _lost(seen: Sightings) -> Iterator[tuple[str, Sent]]:
    for message, send in seen.sent_by_id.items():
        if not (seen.maybe_deletes(message) or seen.purged(send) or seen.expired(send, seen.end)):
            yield message, send


def _tried_in_vain(seen: Sightings, message: str) -> bool:
    """Somebody tried to delete it with a handle that was superseded."""
    return any(seen.deletes[delivery.handle] for delivery in seen.deliveries[message])


def i2_nothing_comes_from_nowhere_and_nothing_is_altered(seen: Sightings) -> Iterator[str]:
    attempts: dict[str, list[Sent]] = defaultdict(list)
    for send in seen.sends:
        attempts[send.body].append(send)
    copies: dict[str, set[str]] = defaultdict(set)
    for delivery in seen.all_deliveries():
        copies[delivery.body].add(delivery.id)
        known = seen.sent_by_id.get(delivery.id)
        if not any(send.operation.start < delivery.operation.end for send in attempts[delivery.body]):
            yield f"{delivery.id}: nobody had sent {delivery.body[:40]!r}"
        elif known and known.body != delivery.body:
            yield f"{delivery.id} was sent as {known.body[:40]!r} and came as {delivery.body[:40]!r}"
        elif delivery.md5 and hashlib.md5(delivery.body.encode()).hexdigest() != delivery.md5:
            yield f"{delivery.id} came with another body's MD5"
    for body, ids in copies.items():
        if len(ids) > len(attempts[body]):
            yield f"{body[:40]!r} was sent {len(attempts[body])} times and stored {len(ids)} times"


def i3_deleted_stays_deleted(seen: Sightings) -> Iterator[str]:
    for message, deliveries in seen.deliveries.items():
        for delivery in deliveries:
            for delete in seen.deletes[delivery.handle]:
                if delete.done and _certainly_current(seen, delivery, delete.operation):
                    for later in deliveries:
                        if later.operation.start > delete.operation.end and not _unseen(deliveries, delivery, later):
                            yield f"{message} came back after its delete, as delivery {later.count}"


def _unseen(deliveries: Sequence[Delivery], first: Delivery, second: Delivery) -> bool:
    """Whether there was a delivery between the two that nobody got: a request that was held up on its way may have been
    carried out long after its sender gave it up, and have superseded the first one's handle before the delete."""
    got = {delivery.count for delivery in deliveries}
    return any(count not in got for count in range(first.count + 1, second.count))


def _certainly_current(seen: Sightings, delivery: Delivery, delete: Operation) -> bool:
    """No delivery, known or unknown, can have superseded the handle when the delete was carried out; and if it was the
    last before the message dies, nobody can have asked again: that buries it, out of the handle's reach, and counts no
    delivery."""
    if any(d.count > delivery.count and d.operation.start < delete.end for d in seen.deliveries[delivery.id]):
        return False
    hidden_until = _hidden_until(seen, delivery, delete)
    dies_next = delivery.count == seen.setting(delivery.queue, "max_receives")
    return delete.end < hidden_until or not any(
        receive.start < delete.end and _over(receive) > hidden_until
        for receive in seen.of("receive")
        if receive.request["queue"] == delivery.queue and receive.happened and (dies_next or not receive.ok)
    )


def i4_no_redelivery_before_its_time(seen: Sightings) -> Iterator[str]:
    for message, deliveries in seen.deliveries.items():
        for first, second in pairwise(sorted(deliveries, key=lambda d: d.count)):
            early = _hidden_until(seen, first, second.operation) - second.operation.end
            if early > EARLY:
                yield f"{message} came again, as delivery {second.count}, {early:.3f} s too early"


def _hidden_until(seen: Sightings, delivery: Delivery, then: Operation) -> float:
    """The earliest end of the window that may have been in force when `then` was carried out."""
    windows = [(delivery.operation, delivery.visibility)]
    windows += [(c.operation, c.seconds) for c in _changes(seen, delivery) if c.operation.start < then.end]
    in_force = [
        (operation, seconds)
        for operation, seconds in windows
        if not any(w.ok and _over(operation) < w.start and w.end < then.start for w, _ in windows if w is not operation)
    ]
    return min(operation.start + seconds for operation, seconds in in_force)


def _changes(seen: Sightings, delivery: Delivery) -> Iterator[Touch]:
    """Of the window of a delivery. On a standard queue the handles of earlier ones change it too."""
    for other in seen.deliveries[delivery.id]:
        is_earlier = other.queue == delivery.queue and other.count < delivery.count
        if other is delivery or (is_earlier and not delivery.queue.endswith(".fifo")):
            yield from seen.changes[other.handle]


def _over(operation: Operation) -> float:
    """When it was certainly carried out, if ever: what a client gave up on may still be under way."""
    return operation.end + (0 if operation.ok else FORGOTTEN_SECONDS)


def i5_what_is_due_is_there(seen: Sightings) -> Iterator[str]:
    """On standard queues without dead letters: an empty receive while a message was certainly ready."""
    empty, unknown = Listed(), Listed()
    for receive in seen.of("receive"):
        if receive.outcome == "info":
            unknown.add(receive.request["queue"], receive)
        elif receive.ok and not receive.reply.get("messages"):
            empty.add(receive.request["queue"], receive)
    for message, send in seen.sent_by_id.items():
        if send.group or seen.setting(send.queue, "dead_letters"):
            continue
        asked, doubtful = empty[send.queue], unknown[send.queue]
        sent = bisect_left(asked, send.operation.end + send.delay + LATE, key=lambda receive: receive.start)
        gone = min((delete.operation.start for delete in seen.maybe_deletes(message)), default=math.inf)
        for receive in takewhile(lambda receive: receive.start < gone, islice(asked, sent, None)):  # noqa: B023 - used at once
            if _certainly_ready(seen, send, message, receive, doubtful):
                yield f"{message} was ready and a receive of {send.queue} at {receive.start:.3f} came back empty"


def _certainly_ready(
    seen: Sightings, send: Sent, message: str, receive: Operation, unknown: Sequence[Operation]
) -> bool:
    if seen.purged(send) or seen.expired(send, receive.end):
        return False
    for delivery in seen.deliveries[message]:
        longest = [(delivery.operation, delivery.visibility)]
        longest += [(c.operation, c.seconds or 0) for c in seen.changes[delivery.handle]]
        until = max(operation.end + seconds for operation, seconds in longest) + LATE
        if delivery.operation.start < receive.end and receive.start < until:
            return False
        if any(delete.operation.start < receive.end for delete in seen.deletes[delivery.handle]):
            return False
    return not any(
        r.start < receive.end and receive.start < r.end + float(r.request["visibility"]) + LATE for r in unknown
    )


def i6_only_the_current_handle_of_a_message_deletes_it(seen: Sightings) -> Iterator[str]:
    """Not a superseded one; not, on a FIFO queue, one whose window is over; and not one that was made up."""
    for message, send in _lost(seen):
        if _tried_in_vain(seen, message):
            yield f"{message} of {send.queue} is lost after a delete with a superseded handle"
    for handle, touches in seen.deletes.items():
        delivery = seen.by_handle.get(handle)
        for touch in touches:
            if not touch.done:
                continue
            queue = touch.operation.request["queue"]
            if delivery is None or delivery.queue != queue:
                yield f"{queue} took a handle that it had not given: {handle[:20]}…"
            elif queue.endswith(".fifo") and _too_late(seen, delivery, touch):
                yield f"{delivery.id} was deleted from {queue} when its window was over"


def _too_late(seen: Sightings, delivery: Delivery, touch: Touch) -> bool:
    """Certainly: the window was over, and the message was there still. To delete what is gone is no error."""
    windows = [(delivery.operation, delivery.visibility)]
    windows += [(c.operation, c.seconds) for c in seen.changes[delivery.handle]]
    over = max(operation.end + seconds for operation, seconds in windows) + EARLY
    others = [d for d in seen.maybe_deletes(delivery.id) if d is not touch]
    send = seen.sent_by_id.get(delivery.id)
    return touch.operation.start > over and not (
        any(other.operation.start < touch.operation.end for other in others)
        or any(d.queue != delivery.queue for d in seen.deliveries[delivery.id])
        or send is None
        or seen.purged(send)
        or seen.expired(send, touch.operation.end)
    )


def i7_the_receive_count_grows_by_one_with_every_delivery(seen: Sightings) -> Iterator[str]:
    unknown = Counter(r.request["queue"] for r in seen.of("receive") if r.outcome == "info")
    for message, deliveries in seen.deliveries.items():
        ordered = sorted(deliveries, key=lambda d: d.count)
        counts = [d.count for d in ordered]
        if len(set(counts)) < len(counts):
            yield f"{message} was delivered twice with one receive count: {counts}"
        for first, second in pairwise(ordered):
            if second.operation.end < first.operation.start:
                yield f"{message}: delivery {second.count} came before delivery {first.count}"
        lost_replies = sum(unknown[queue] for queue in {d.queue for d in deliveries} | _sources(seen, deliveries))
        if counts[0] < 1 or counts[-1] - len(counts) > lost_replies:
            yield f"{message} was delivered {len(counts)} times and counts {counts[-1]}"


def _sources(seen: Sightings, deliveries: Sequence[Delivery]) -> set[str]:
    dead = {d.queue for d in deliveries}
    return {queue for queue, made in seen.made.items() if made.get("dead_letters") in dead}


def i11_a_message_dies_when_it_must_and_is_in_one_queue_at_a_time(seen: Sightings) -> Iterator[str]:
    for message, deliveries in seen.deliveries.items():
        send = seen.sent_by_id.get(message)
        for delivery in deliveries:
            most = seen.setting(delivery.queue, "max_receives")
            if isinstance(most, int) and delivery.count > most:
                yield f"{message} was delivered for the {delivery.count}th time by {delivery.queue}"
            if send and delivery.queue != send.queue:
                yield from _died_rightly(seen, send, delivery)


def _died_rightly(seen: Sightings, send: Sent, delivery: Delivery) -> Iterator[str]:
    if seen.setting(send.queue, "dead_letters") != delivery.queue:
        yield f"{delivery.id} was sent to {send.queue} and came from {delivery.queue}"
    elif delivery.count <= int(str(seen.setting(send.queue, "max_receives"))):
        yield f"{delivery.id} died after {delivery.count - 1} deliveries"
    for other in seen.deliveries[delivery.id]:
        if other.queue == send.queue and other.operation.start > delivery.operation.end:
            yield f"{delivery.id} came from {send.queue} after it had died"

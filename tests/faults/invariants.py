"""What must hold of every history, whatever happened to the server: I1…I19 of the reliability specification.

A checker is a pure function from sightings to complaints. It may only complain of what cannot be excused by an
operation whose outcome is unknown: a complaint is a bug. What a history cannot show is checked elsewhere: I16
and I17 by tests of their own, I18 by `audit`.
"""

import hashlib
import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise, takewhile

from .history import Operation
from .sightings import EARLY, LATE, Delivery, Listed, Sent, Sightings

Checker = Callable[[Sightings], Iterator[str]]
INVARIANTS: dict[str, Checker] = {}


def violations(operations: Sequence[Operation]) -> dict[str, list[str]]:
    seen = Sightings(operations)
    found = {name: list(check(seen)) for name, check in INVARIANTS.items()}
    return {name: complaints for name, complaints in found.items() if complaints}


def invariant(name: str) -> Callable[[Checker], Checker]:
    def enter(check: Checker) -> Checker:
        INVARIANTS[name] = check
        return check

    return enter


@invariant("I1 no acknowledged message is lost, and I6 none goes by a superseded handle")
def _(seen: Sightings) -> Iterator[str]:
    """The history ends with a drain: what was not deleted by then is not there."""
    for message, send in seen.sent_by_id.items():
        if not (seen.maybe_deletes(message) or seen.purged(send) or seen.expired(send, seen.end)):
            stale = any(seen.deletes[d.handle] for d in seen.deliveries[message])
            yield f"{message} of {send.queue} is lost{', after a delete with a superseded handle' if stale else ''}"


@invariant("I2 nothing comes from nowhere, and nothing is altered")
def _(seen: Sightings) -> Iterator[str]:
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


@invariant("I3 deleted stays deleted")
def _(seen: Sightings) -> Iterator[str]:
    for message, deliveries in seen.deliveries.items():
        for delivery in deliveries:
            for delete in seen.deletes[delivery.handle]:
                if delete.done and _certainly_current(seen, delivery, delete.operation):
                    for later in deliveries:
                        if later.operation.start > delete.operation.end:
                            yield f"{message} came back after its delete, as delivery {later.count}"


def _certainly_current(seen: Sightings, delivery: Delivery, delete: Operation) -> bool:
    """No delivery, known or unknown, can have superseded the handle when the delete was carried out."""
    if any(d.count > delivery.count and d.operation.start < delete.end for d in seen.deliveries[delivery.id]):
        return False
    hidden_until = _hidden_until(seen, delivery, delete)
    return delete.end < hidden_until or not any(
        receive.outcome == "info" and receive.start < delete.end and receive.end > hidden_until
        for receive in seen.of("receive")
        if receive.request["queue"] == delivery.queue
    )


@invariant("I4 no redelivery before its time")
def _(seen: Sightings) -> Iterator[str]:
    for message, deliveries in seen.deliveries.items():
        for first, second in pairwise(sorted(deliveries, key=lambda d: d.count)):
            early = _hidden_until(seen, first, second.operation) - second.operation.end
            if early > EARLY:
                yield f"{message} came again, as delivery {second.count}, {early:.3f} s too early"


def _hidden_until(seen: Sightings, delivery: Delivery, then: Operation) -> float:
    """The earliest end of the window that may have been in force when `then` was carried out."""
    windows = [(delivery.operation, delivery.visibility)]
    windows += [(c.operation, c.seconds) for c in seen.changes[delivery.handle] if c.operation.start < then.end]
    in_force = [
        (operation, seconds)
        for operation, seconds in windows
        if not any(w.ok and operation.end < w.start and w.end < then.start for w, _ in windows if w is not operation)
    ]
    return min(operation.start + seconds for operation, seconds in in_force)


@invariant("I5 what is due is there")
def _(seen: Sightings) -> Iterator[str]:
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


@invariant("I7 the receive count grows by one with every delivery")
def _(seen: Sightings) -> Iterator[str]:
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


@invariant("I11 a message dies when it must, and is in one queue at a time")
def _(seen: Sightings) -> Iterator[str]:
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

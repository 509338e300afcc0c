"""Ends of messages, and what is promised of a server as a whole: counts, batches, waiters, tenants, files, names.

I12 to I20.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from ..history import Operation
from ..sightings import EARLY, LATE, Sent, Sightings


def i12_counts_are_what_is_there(seen: Sightings) -> Iterator[str]:
    for counted in seen.of("counts"):
        queues = counted.request["queues"]
        there = {
            d.id for d in seen.all_deliveries() if d.queue in queues and d.operation.start > counted.end
        }  # fmt: skip
        if counted.ok and counted.reply["total"] != len(there):
            yield f"{counted.reply['total']} messages were counted and {len(there)} were there"


def i13_nothing_is_delivered_past_its_retention(seen: Sightings) -> Iterator[str]:
    for delivery in seen.all_deliveries():
        send, retention = seen.sent_by_id.get(delivery.id), seen.setting(delivery.queue, "retention")
        if send and isinstance(retention, int):
            late = delivery.operation.start - (send.operation.end + retention)
            if late > EARLY:
                yield f"{delivery.id} was delivered {late:.3f} s after it had expired"


def i14_purged_is_purged(seen: Sightings) -> Iterator[str]:
    for purge in seen.of("purge"):
        for delivery in seen.all_deliveries() if purge.ok else ():
            send = seen.sent_by_id.get(delivery.id)
            if not send or {send.queue, delivery.queue} != {purge.request["queue"]}:
                continue
            if send.operation.end < purge.start and delivery.operation.start > purge.end:
                yield f"{delivery.id} was delivered after it had been purged"


def i15_every_entry_of_a_batch_has_one_result(seen: Sightings) -> Iterator[str]:
    for operation in seen.operations:
        entries = operation.request.get("entries") or operation.request.get("handles") or ()
        if operation.ok and len(operation.reply.get("results", entries)) != len(entries):
            yield f"{len(entries)} entries had {len(operation.reply['results'])} results"


def i16_an_arriving_message_wakes_a_waiter_and_one_who_left_takes_nothing(seen: Sightings) -> Iterator[str]:
    """A long poll that came back empty although a message lay there, for long, while it waited; and a first
    delivery that is not the first, though nobody but those who had hung up before can have had it."""
    for receive in seen.of("receive"):
        if receive.ok and receive.request.get("wait") and not receive.reply.get("messages"):
            over = min(receive.end, receive.start + receive.request["wait"])
            for send in seen.arrived(receive.request["queue"], receive.start - LATE, over - LATE):
                if _untouched(seen, send, receive):
                    yield f"{send.id} of {send.queue} arrived and a waiter was told that there was nothing"
    for message, send in seen.sent_by_id.items():
        first = min((delivery.count for delivery in seen.deliveries[message]), default=1)
        if first > 1 and not any(r.outcome == "info" and r.end > send.operation.start for r in seen.of("receive")):
            yield f"{message} was taken {first - 1} times by those who had left"


def _untouched(seen: Sightings, send: Sent, until: Operation) -> bool:
    """Nobody can have had it, or made an end of it, before this operation was over."""
    takers = (r for r in seen.of("receive") if r.outcome == "info" and r.request["queue"] == send.queue)
    return not (
        send.group
        or not send.acknowledged
        or any(d.operation.start < until.end for d in seen.deliveries[send.id or ""])
        or any(r.start < until.end for r in takers)
        or seen.purged(send)
        or seen.expired(send, until.end)
    )


def i17_accounts_do_not_see_each_other(seen: Sightings) -> Iterator[str]:
    for delivery in seen.all_deliveries():
        send, reader = seen.sent_by_id.get(delivery.id), delivery.operation.request.get("account")
        if send and send.operation.request.get("account") != reader:
            yield f"{delivery.id} of account {send.operation.request.get('account')} was read by account {reader}"


def i18_what_a_kill_leaves_opens_and_is_in_order(seen: Sightings) -> Iterator[str]:
    for audit in seen.of("audit"):
        yield from audit.reply.get("faults", ())


def i19_message_ids_and_receipt_handles_are_given_once(seen: Sightings) -> Iterator[str]:
    handles = Counter(delivery.handle for delivery in seen.all_deliveries())
    yield from (f"the handle {handle[:20]}… was given {n} times" for handle, n in handles.items() if n > 1)
    bodies: dict[str, set[tuple[str, str | None]]] = defaultdict(set)
    for send in seen.sends:
        if send.id:
            bodies[send.id].add((send.queue, send.dedup or send.body))
    yield from (f"{message} is the id of {len(sent)} messages" for message, sent in bodies.items() if len(sent) > 1)


def i20_it_refuses_to_run_where_it_cannot_be_durable(seen: Sightings) -> Iterator[str]:
    for start in seen.of("start"):
        if start.ok and start.request.get("unsafe"):
            yield f"a server started although {start.request['unsafe']}"

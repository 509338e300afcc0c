"""The events of every change: which there are, and what they say."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from penstock.core import journal
from penstock.core.journal import FULL, TAG, Event
from penstock.core.message import Attribute
from penstock.core.store import Receive, Store

from .notebook import Notebook, excuse
from .world import Line, World, key, new, redrive_policy

ME = "arn:aws:iam::000000000001:root"


@pytest.fixture
async def book(world: World) -> AsyncIterator[Notebook]:
    excuse(world.store)
    notebook = Notebook()
    world.store.attach_journal(notebook)
    return notebook


@pytest.fixture
async def full(world: World) -> AsyncIterator[Notebook]:
    excuse(world.store)
    notebook = Notebook(FULL)
    world.store.attach_journal(notebook)
    return notebook


def said(event: Event) -> dict[str, Any]:
    """What an event says beside what every event says."""
    common = {"node", "seq", "ts_ms", "region", "account", "queue"}
    return {k: v for k, v in msgspec.to_builtins(event).items() if k not in common}


async def test_events_are_numbered_densely_and_say_where_and_when(world: World, book: Notebook) -> None:
    queue = await world.queue("orders")
    world.advance(1)
    await queue.send("a", "b")
    assert [(e.node, e.seq, e.event) for e in book.events] == [
        ("node-1", 1, "QUEUE_CREATED"),
        ("node-1", 2, "SENT"),
        ("node-1", 3, "SENT"),
    ]
    assert {(e.region, e.account, e.queue) for e in book.events} == {tuple(key("orders"))}
    assert [e.ts_ms for e in book.events] == [world.now - 1000, world.now, world.now]
    assert world.store.journal_seq() == 3


async def test_a_send_says_what_was_sent_but_not_its_content(world: World, book: Notebook) -> None:
    queue = await world.queue("orders")
    message = new("body", size=9, trace="Root=1", group="g", delay_seconds=5)
    message.attributes = {"bus.type": Attribute("String", "Item"), "bus.endpoint": Attribute("String", "shop")}
    await world.store.send(queue.id, [message], world.now, by=ME)
    assert said(book.events[-1]) == {
        "event": "SENT", "message_id": message.id, "group": "g", "type": "Item", "endpoint": "shop", "size": 9,
        "principal": ME, "trace": "Root=1", "duration_ms": 5000,
    }  # fmt: skip


async def test_bodies_and_attributes_are_written_at_level_full_only(world: World, full: Notebook) -> None:
    queue = await world.queue("orders", DelaySeconds=1)
    await queue.send("körper\n", attributes={"t": Attribute("String", "x"), "b": Attribute("Binary", b"\x00\xff")})
    created, sent = full.events
    assert created.attributes == {"DelaySeconds": ("Attribute", "1")}
    assert sent.body == "körper\n"
    assert sent.attributes == {"t": ("String", "x"), "b": ("Binary", "AP8=")}


async def test_a_receive_and_a_delete_say_which_delivery_it_was(world: World, book: Notebook) -> None:
    queue = await world.queue("orders")
    [sent] = await queue.send("body")
    begun = world.now
    world.advance(2)
    [message] = await world.store.receive(queue.id, Receive(1, 30), world.now, by=ME)
    world.advance(3)
    await world.store.delete(queue.id, [message.claim], world.now, by=ME)
    received, deleted = book.events[-2:]
    assert said(received) == {
        "event": "RECEIVED", "message_id": sent.id, "size": 4, "receive_count": 1, "sent_ms": begun,
        "first_receive_ms": begun + 2000, "principal": ME, "duration_ms": 2000,
    }  # fmt: skip
    assert said(deleted) == {
        "event": "DELETED", "message_id": sent.id, "receive_count": 1, "principal": ME, "duration_ms": 3000
    }  # fmt: skip


async def test_what_a_claim_did_not_do_is_no_event(world: World, book: Notebook) -> None:
    queue = await world.queue("orders")
    await queue.send("body")
    message = await queue.receive_one()
    await queue.delete(message)
    book.news()
    await queue.delete(message)
    await queue.delete(b"garbage")
    await queue.hide(message, 5)
    assert await queue.receive() == []
    assert book.news() == []


async def test_a_change_of_visibility_says_for_how_long(world: World, book: Notebook) -> None:
    queue = await world.queue("orders")
    await queue.send("body")
    message = await queue.receive_one()
    for seconds in (60, 0):
        await world.store.change_visibility(queue.id, [(message.claim, seconds)], world.now, by=ME)
    for event, duration in zip(book.events[-2:], (60_000, 0), strict=True):
        assert said(event) == {
            "event": "VISIBILITY_CHANGED", "message_id": message.id, "receive_count": 1, "principal": ME,
            "duration_ms": duration,
        }  # fmt: skip


async def test_a_duplicate_names_the_first_message(world: World, book: Notebook) -> None:
    queue = await world.queue("orders.fifo")
    [first] = await queue.send("a", deduplication_id="d")
    await queue.send("a", deduplication_id="d")
    assert said(book.events[-1]) == {"event": "DEDUPLICATED", "message_id": first.id, "group": "g", "size": 1}


async def test_a_repeated_attempt_is_received_again_without_being_counted(world: World, book: Notebook) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a")
    for _ in range(2):
        await queue.receive(attempt_id="once")
    first, again = book.events[-2:]
    assert [first.event, again.event] == ["RECEIVED", "RECEIVED"]
    assert [first.receive_count, again.receive_count] == [1, 1]
    assert [first.reason, again.reason] == [None, "repeat"]


@pytest.mark.parametrize("how", ["sweep", "counts", "receive", "send"])
async def test_an_expired_message_is_noticed_once_whoever_finds_it(world: World, book: Notebook, how: str) -> None:
    queue = await world.queue("orders", MessageRetentionPeriod=60)
    [sent] = await queue.send("a")
    await queue.receive(visibility=0)
    world.advance(61)
    book.news()
    await {"sweep": world.sweep, "counts": queue.counts, "receive": queue.receive, "send": lambda: queue.send("b")}[
        how
    ]()
    await world.sweep()
    expired = [e for e in book.news() if e.event == "EXPIRED"]
    assert [said(e) for e in expired] == [
        {"event": "EXPIRED", "message_id": sent.id, "receive_count": 1, "duration_ms": 61_000}
    ]


@pytest.mark.parametrize("name", ["orders", "orders.fifo"])
async def test_a_dead_letter_goes_from_one_queue_to_another(world: World, book: Notebook, name: str) -> None:
    queue, dead = await world.queue_with_dead_letters(name, 1)
    [sent] = await queue.send("a")
    await queue.receive(visibility=0)
    world.advance(4)
    await queue.receive()
    assert book.events[-1].queue == name
    assert said(book.events[-1]) == {
        "event": "DEAD_LETTERED", "message_id": sent.id, "receive_count": 1, "endpoint": dead.arn,
        "reason": "maxReceiveCount", "duration_ms": 4000,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["orders", "orders.fifo"])
async def test_a_moved_message_names_its_successor(world: World, book: Notebook, name: str) -> None:
    queue, dead = await world.queue_with_dead_letters(name, 1)
    [sent] = await queue.send("a")
    await queue.receive(visibility=0)
    await queue.receive()
    task = await dead.start_move()
    await world.store.move(task, 10, world.now)
    event, again = book.events[-1], await queue.receive_one()
    assert event.queue == dead.queue.key.name
    assert said(event) == {
        "event": "MOVED", "message_id": sent.id, "successor": again.id, "endpoint": queue.arn, "reason": task.id
    }  # fmt: skip


async def test_queues_say_how_many_messages_they_hold_or_held(world: World, book: Notebook) -> None:
    store = world.store
    queue = await store.create_queue(key("orders"), {}, {}, world.now, by=ME)
    await store.create_queue(key("orders"), {}, {}, world.now, by=ME)
    await store.send(queue.id, [new("a"), new("b"), new("c")], world.now)
    await store.alter_queue(queue.id, {"DelaySeconds": "1"}, {}, world.now, by=ME)
    await store.purge_queue(queue.id, world.now, by=ME)
    await store.send(queue.id, [new("d")], world.now)
    await store.delete_queue(queue.id, world.now, by=ME)
    assert [said(e) for e in book.events if e.event != "SENT"] == [
        {"event": "QUEUE_CREATED", "principal": ME, "count": 0},
        {"event": "QUEUE_CHANGED", "principal": ME, "count": 3},
        {"event": "PURGED", "principal": ME, "count": 3},
        {"event": "QUEUE_DELETED", "principal": ME, "count": 1},
    ]


async def test_a_gauge_says_what_counts_say(world: World, book: Notebook) -> None:
    queue, empty, gone = [await world.queue(name) for name in ("orders", "empty", "gone")]
    await queue.send("abc", "d")
    await queue.send("late", delay_seconds=60)
    world.advance(5)
    await queue.receive(1)
    await gone.remove()
    book.news()
    await world.store.gauge([queue.id, empty.id, gone.id], world.now, "why")
    first, second = book.news()
    assert said(first) == {
        "event": "GAUGE", "count": 3, "visible": 1, "in_flight": 1, "delayed": 1, "size": 8, "duration_ms": 5000,
        "reason": "why",
    }  # fmt: skip
    assert said(second) == {
        "event": "GAUGE", "count": 0, "visible": 0, "in_flight": 0, "delayed": 0, "size": 0, "reason": "why"
    }  # fmt: skip


async def test_what_was_noted_goes_with_the_next_commit(world: World, book: Notebook) -> None:
    queue = await world.queue("orders")
    book.news()
    world.store.note(Event("", 0, world.now, journal.EMPTY_RECEIVE, *queue.queue.key, duration_ms=7))
    assert book.news() == []
    await queue.send("a")
    noted, sent = book.news()
    assert (noted.event, noted.node, noted.seq, noted.duration_ms) == ("EMPTY_RECEIVE", "node-1", 2, 7)
    assert sent.seq == 3
    world.store.note(Event("", 0, world.now, journal.DENIED, *queue.queue.key))
    await world.store.gauge([], world.now)
    assert [(e.event, e.seq) for e in book.news()] == [("DENIED", 4)]


async def test_a_queue_s_own_level_wins_over_the_server_s(world: World, book: Notebook) -> None:
    store = world.store
    silent = await store.create_queue(key("silent"), {}, {TAG: "off"}, world.now)
    whole = await store.create_queue(key("whole"), {}, {TAG: "full"}, world.now)
    for queue in (silent, whole):
        await store.send(queue.id, [new("a")], world.now)
        await store.gauge([queue.id], world.now)
    assert [(e.queue, e.event, e.body) for e in book.events] == [
        ("whole", "QUEUE_CREATED", None),
        ("whole", "SENT", "a"),
        ("whole", "GAUGE", None),
    ]


async def test_a_queue_whose_level_changes_says_where_its_events_end_and_begin(world: World, book: Notebook) -> None:
    queue = await world.queue("orders")
    for tag, send in (("off", "unwritten"), ("events", "written"), ("full", "whole")):
        await world.store.alter_queue(queue.id, {}, {TAG: tag}, world.now)
        await queue.send(send)
    assert [(e.event, e.reason, e.count) for e in book.events] == [
        ("QUEUE_CREATED", None, 0),
        ("QUEUE_CHANGED", "off", 0),
        ("QUEUE_CHANGED", "baseline", 1),
        ("SENT", None, None),
        ("QUEUE_CHANGED", None, 2),
        ("SENT", None, None),
    ]


@pytest.mark.parametrize("levels", [("off", "events"), ("events", "off"), ("off", "off")])
async def test_a_message_between_two_queues_is_written_if_either_is(
    world: World, book: Notebook, levels: tuple[str, str]
) -> None:
    dead = await world.store.create_queue(key("dead"), {}, {TAG: levels[1]}, world.now)
    redrive = {"RedrivePolicy": redrive_policy("dead", 1)}
    queue = Line(world, await world.store.create_queue(key("orders"), redrive, {TAG: levels[0]}, world.now))
    await queue.send("a")
    await queue.receive(visibility=0)
    await queue.receive()
    dead_lettered = [e.endpoint for e in book.events if e.event == "DEAD_LETTERED"]
    assert dead_lettered == ([dead.arn] if "events" in levels else [])


async def test_the_outbox_keeps_the_very_same_lines_until_they_are_published(world: World, book: Notebook) -> None:
    queue = await world.queue("orders")
    for body in "abc":
        await queue.send(body)
    assert list(await world.store.outbox_after(0, 10)) == book.batches
    assert list(await world.store.outbox_after(2, 1)) == book.batches[2:3]
    world.store.published(3)
    await queue.send("d")
    assert list(await world.store.outbox_after(0, 10)) == book.batches[3:]
    world.store.published(5)
    await queue.send("e")
    assert world.store.journal_seq() == 6


async def test_without_a_journal_there_are_no_events(world: World) -> None:
    excuse(world.store)
    queue = await world.queue("orders")
    await queue.send("a")
    await world.store.gauge([queue.id], world.now)
    assert world.store.journal_seq() == 0
    assert list(await world.store.outbox_after(0, 10)) == []


async def test_numbers_and_lines_survive_a_restart(world: World, book: Notebook, reopen: Any) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    world.store.published(1)
    await queue.send("b")
    await reopen()
    assert world.store.journal_seq() == 3
    assert list(await world.store.outbox_after(0, 10)) == book.batches[1:]
    world.store.published(3)
    world.store.attach_journal(after := Notebook())
    await queue.send("c")
    await reopen()
    assert world.store.journal_seq() == 4
    assert [e.seq for e in after.events] == [4]


async def test_what_is_put_replaces_what_was_kept(world: World, store: Store) -> None:
    assert await store.keep("name", b"first") == b"first"
    await store.put("name", b"second")
    assert await store.keep("name", b"third") == b"second"

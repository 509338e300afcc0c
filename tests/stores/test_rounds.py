"""Parties that native code serves by itself: when it may. `test_wholesale_failures` has what is left if it fails."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.gathering import (
    DATE,
    DAY_MS,
    HANDLE_KEY,
    LONGEST,
    SIGNED_AT,
    Clients,
    compiled,
    form_of,
    gathered,
    gathered_again,
)
from conformance.world import Line, World
from penstock.core.clock import ManualClock
from penstock.core.queue import EARLIER_SCOPE
from penstock.core.store import Receive, Round
from penstock.stores.sqlite import SqliteStore

from .conftest import keyring


class Hall:
    """A queue, and what is needed to serve somebody in a round."""

    def __init__(self, path: Path) -> None:
        self.store = SqliteStore(path)
        self.store.native = compiled()

    async def open(self, **attributes: object) -> None:
        await self.store.open()
        self.store.attach_keys(keyring())
        self.world = World(self.store, ManualClock())
        self.line: Line = await self.world.queue("q", **attributes)
        await self.line.send("first")
        await self.line.delete(await self.line.receive_one())
        await self.line.send("second")

    def permit(self, deed: str | Receive | None, version: int = 0) -> Any:
        return self.store.permit(self.store._catalogue.live(self.line.id).queue, deed, "who", version, "root")

    def serve(self, permit: Any, operation: str, body: dict[str, Any], **round: Any) -> bool:
        """Whether it is carried out."""
        party, clients = gathered(compiled(), operation, [body])
        party.grant(permit)
        done = self.store.serve([party], self.round(clients, **round))
        party.bounce()
        clients.leave()
        return done is not None and bool(done[1])

    def round(self, clients: Clients, version: int = 0, watched: dict[int, object] | None = None) -> Round:
        return Round(clients.lane, self.world.now, SIGNED_AT, version, HANDLE_KEY, b"", watched or {})

    def send(self, permit: Any, **round: Any) -> bool:
        return self.serve(permit, "SendMessage", {"MessageBody": "m"}, **round)


@pytest.fixture
async def hall(folder: Path) -> Any:
    hall = Hall(folder / "penstock.db")
    await hall.open()
    yield hall
    await hall.store.close()


async def test_it_holds_for_as_long_as_nothing_changes(hall: Hall) -> None:
    permit = hall.permit("AIDAUSER")
    assert [hall.send(permit) for _ in range(3)] == [True] * 3
    assert not hall.send(permit, version=1)
    assert (await hall.line.counts()).visible == 4


Change = Callable[[Hall], Awaitable[object]]
CHANGES: dict[str, Change] = {
    "altered": lambda hall: hall.store.alter_queue(hall.line.id, {"DelaySeconds": "3"}, {}, hall.world.now),
    "purged": lambda hall: hall.store.purge_queue(hall.line.id, hall.world.now),
    "deleted": lambda hall: hall.store.delete_queue(hall.line.id, hall.world.now),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("deed", ["AIDAUSER", Receive(1, 30), None], ids=["send", "receive", "delete"])
async def test_it_does_not_hold_when_its_queue_was(hall: Hall, change: str, deed: str | Receive | None) -> None:
    permit = hall.permit(deed)
    await CHANGES[change](hall)
    operation = {"AIDAUSER": "SendMessage", None: "DeleteMessage"}.get(deed, "ReceiveMessage")  # type: ignore[arg-type]
    body = {"SendMessage": {"MessageBody": "m"}, "DeleteMessage": {"ReceiptHandle": "h"}}.get(operation, {})
    assert not hall.serve(permit, operation, body)


async def test_it_does_not_hold_after_a_transaction_was_undone(hall: Hall) -> None:
    permit = hall.permit("AIDAUSER")
    hall.store.database.execute("PRAGMA max_page_count=1")
    with pytest.raises(Exception, match="full"):
        await hall.line.send("x" * 100_000)
    hall.store.database.execute("PRAGMA max_page_count=1000000")
    assert not hall.send(permit)


async def test_it_does_not_hold_when_another_key_encrypts(hall: Hall) -> None:
    """What was encrypted with a key that is retired could not be read one day."""
    permit = hall.permit("AIDAUSER")
    assert hall.send(permit)
    hall.store._keys._in_use[hall.line.id].left = 0
    await hall.line.send("with the next key")
    assert not hall.send(permit)
    assert hall.send(hall.permit("AIDAUSER"))


async def test_no_more_are_encrypted_than_count_as_encrypted(hall: Hall) -> None:
    key = hall.store._keys._in_use[hall.line.id]
    key.left = 3
    permit = hall.permit("AIDAUSER")
    assert key.left == 0
    assert [hall.send(permit) for _ in range(4)] == [True] * 3 + [False]


async def test_it_ends_with_the_time_of_its_key(hall: Hall) -> None:
    permit = hall.permit("AIDAUSER")
    hall.world.advance(86_400)
    assert not hall.send(permit)


async def test_there_is_none_for_a_queue_that_is_not_as_it_was_nor_for_messages_that_stay_visible(hall: Hall) -> None:
    old = hall.store._catalogue.live(hall.line.id).queue
    await CHANGES["altered"](hall)
    assert hall.store.permit(old, None, "who", 0, "root") is None
    assert hall.permit(Receive(1, 0)) is None


async def fifo(hall: Hall, **attributes: object) -> None:
    """The hall is that of a FIFO queue."""
    hall.line = await hall.world.queue("q.fifo", ContentBasedDeduplication="true", **attributes)
    await hall.line.send("first", group="g")


async def altered(hall: Hall, **attributes: str) -> None:
    queue = hall.store._catalogue.live(hall.line.id).queue
    await hall.store.alter_queue(hall.line.id, {**queue.attributes, **attributes}, {}, hall.world.now)


async def test_of_a_fifo_queue_there_is_none_for_delayed_messages_nor_for_more_than_one_at_a_time(hall: Hall) -> None:
    await fifo(hall)
    assert hall.permit("AIDAUSER")
    assert hall.permit(Receive(1, 30))
    assert hall.permit(Receive(2, 30)) is None
    await altered(hall, DelaySeconds="3")
    assert hall.permit("AIDAUSER") is None


async def test_of_a_fifo_queue_there_is_none_while_ids_are_about_to_mean_something_else(hall: Hall) -> None:
    await fifo(hall)
    scope = {"DeduplicationScope": "messageGroup", EARLIER_SCOPE: f"queue until {hall.world.now + 60_000}"}
    await altered(hall, **scope)
    assert hall.permit("AIDAUSER") is None
    hall.world.advance(60)
    await hall.line.send("second", group="g")
    assert hall.permit("AIDAUSER")


@pytest.mark.parametrize("entry", [{}, {"MessageGroupId": "g"}, {"MessageDeduplicationId": "d"}])
async def test_a_message_that_lacks_what_a_fifo_queue_wants_is_not_taken(hall: Hall, entry: dict[str, str]) -> None:
    await fifo(hall)
    await altered(hall, ContentBasedDeduplication="false")
    permit = hall.permit("AIDAUSER")
    assert not hall.serve(permit, "SendMessage", {"MessageBody": "m", **entry})
    whole = {"MessageBody": "m", "MessageGroupId": "g", "MessageDeduplicationId": "d"}
    assert hall.serve(permit, "SendMessage", whole)
    assert not hall.serve(permit, "SendMessage", whole), "a duplicate is told of by Python"


async def test_messages_with_a_group_or_a_deduplication_id_are_not_for_the_line_of_a_standard_queue(hall: Hall) -> None:
    permit = hall.permit("AIDAUSER")
    for entry in ({"MessageGroupId": "g"}, {"MessageDeduplicationId": "d"}):
        assert not hall.serve(permit, "SendMessage", {"MessageBody": "m", **entry})
    assert hall.send(permit)


async def test_who_waits_at_the_queue_is_to_be_told_first(hall: Hall) -> None:
    permit = hall.permit("AIDAUSER")
    assert not hall.send(permit, watched={hall.line.id: "somebody"})
    assert hall.send(permit, watched={hall.line.id + 1: "somebody else"})


async def test_what_is_due_or_has_expired_is_seen_to_first(hall: Hall) -> None:
    permit = hall.permit(Receive(1, 30))
    assert hall.serve(permit, "ReceiveMessage", {})
    hall.world.advance(31)
    assert not hall.serve(permit, "ReceiveMessage", {})
    assert (await hall.line.counts()).visible == 1


async def test_a_transaction_that_is_open_is_waited_for(hall: Hall) -> None:
    permit = hall.permit("AIDAUSER")
    sending = [asyncio.create_task(hall.line.send(str(number))) for number in range(3)]
    await asyncio.sleep(0)
    assert not hall.send(permit)
    await asyncio.gather(*sending)
    assert hall.send(permit)


async def test_a_round_that_fails_for_no_known_reason_is_told_of_and_undone(
    hall: Hall, capsys: pytest.CaptureFixture[str]
) -> None:
    permit = hall.permit("AIDAUSER")
    hall.store._marks.number = 1  # so that a number is given twice
    assert not hall.send(permit)
    assert "UNIQUE constraint failed" in capsys.readouterr().out
    assert (await hall.line.counts()).visible == 1
    await hall.line.send("with a key of its own: that of before is forgotten")
    assert hall.send(hall.permit("AIDAUSER"))


async def test_what_was_granted_to_those_who_signed_yesterday_is_forgotten_today(hall: Hall) -> None:
    native, permit, body = compiled(), hall.permit("AIDAUSER"), {"MessageBody": "m"}
    lane, today, now = native.Lane(LONGEST, LONGEST), DATE.replace(b"0102", b"0103"), SIGNED_AT + DAY_MS
    forms = {date: form_of(native, "SendMessage", date) for date in (DATE, today)}

    def is_granted(date: bytes, now: int, grant: bool = False) -> bool:
        party, clients = gathered_again(lane, forms[date], [body], date, now)
        granted = party.is_granted(0)
        if grant:
            party.grant(permit)
        party.bounce()
        clients.leave()
        return granted

    assert not is_granted(DATE, SIGNED_AT, grant=True)
    assert is_granted(DATE, SIGNED_AT)
    assert not is_granted(today, now, grant=True)
    assert is_granted(today, now)
    assert not is_granted(DATE, SIGNED_AT, grant=True)
    assert is_granted(today, now), "it is no newer day"


async def test_after_a_restart_counters_numbers_and_the_time_go_on(folder: Path) -> None:
    hall = Hall(folder / "penstock.db")
    await hall.open()
    for _ in range(1100):  # more than there are rows in the tally
        assert hall.send(hall.permit("AIDAUSER"))
    hall.world.advance(5)
    assert hall.send(hall.permit("AIDAUSER"))
    counts, numbers = (
        await hall.line.counts(),
        [n for (n,) in hall.store.database.execute("SELECT number FROM message")],
    )
    await hall.store.close()
    again = SqliteStore(hall.store.path)
    await again.open()
    assert again.known_time() == hall.world.now
    assert (await again.counts(hall.line.id, hall.world.now)).visible == counts.visible == 1102
    assert again._marks.next_number() > max(numbers)
    await again.close()

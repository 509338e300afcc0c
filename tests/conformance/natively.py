"""The embedded store as a server with native code has it: calls that are plain are made by clients, in parties.

Those who ask for the same in one turn of the loop are a party. Every other of them is served in a round of its own, if
it can be (`stores/sqlite/rounds.py`). Whoever is bounced, and whatever is not plain, goes the ordinary way. A reply
says less than the port does; the rest is what the rows say, looked at within the change itself or right after the
round: what became of them, never what ought to. What both say must agree.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from penstock.core.content import illegal_character, md5_of_body
from penstock.core.errors import QueueGone, Unavailable
from penstock.core.handle import seal_of
from penstock.core.keyring import KeyRefused
from penstock.core.message import Message, NewMessage, Sent
from penstock.core.store import Outcome, Party, Receive
from penstock.stores.sqlite import SqliteStore
from penstock.stores.sqlite.cards import COLUMNS, Card
from penstock.stores.sqlite.catalogue import IN_FLIGHT, Entry
from penstock.stores.sqlite.claims import Claim
from penstock.stores.sqlite.database import stop

from .encrypted import EncryptedStore
from .gathering import HANDLE_KEY, Clients, compiled, gathered, in_a_round, numbered, served, shares

MOST_ENTRIES = 10
LONGEST = 20_000
"""A request has to fit into a socket, which nobody reads while it is written."""
ID_BYTES = 36
FIRST_SEQUENCE = 10**19
REASONS = QueueGone, KeyRefused, Unavailable
"""Why a party is bounced as a whole (`api/express.py`)."""


class Key(NamedTuple):
    """What those have in common who are a party. `rest` is a sender, or what is asked for."""

    operation: str
    queue_id: int
    now: int
    by: str
    rest: Any = None


class Asked(NamedTuple):
    body: dict[str, Any]
    items: Sequence[Any]
    answer: "asyncio.Future[Any]"


class ByParties(SqliteStore):
    def __init__(self, path: Path, on_fatal: Callable[[BaseException], None] = stop) -> None:
        super().__init__(path, on_fatal)
        self.native = compiled()
        self._asked: dict[Key, list[Asked]] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._handed_out: dict[bytes, Message] = {}
        self._outcomes: dict[int, list[Outcome]] = {}
        self.natively = 0
        """Parties that were carried out in native code."""
        self.rounds = 0
        """Of these, parties that were also committed and answered there."""
        self._by_round = False

    # Calls

    async def send(self, queue_id: int, messages: Sequence[NewMessage], now: int, *, by: str = "") -> Sequence[Sent]:
        if self._is_plain(queue_id, messages):
            entries, sender = [_entry(message) for message in messages], messages[0].sender
            sent: Sequence[Sent] | None = await self._ask("SendMessage", entries, messages, queue_id, now, by, sender)
            if sent is not None:
                return sent
        return await super().send(queue_id, messages, now, by=by)

    async def receive(self, queue_id: int, ask: Receive, now: int, *, by: str = "") -> Sequence[Message]:
        if ask.attempt_id is None:
            key = Key("ReceiveMessage", queue_id, now, by, ask)
            given: Sequence[Message] | None = await self._join(key, {}, ())
            if given is not None:
                return given
        return await super().receive(queue_id, ask, now, by=by)

    async def delete(self, queue_id: int, claims: Sequence[bytes], now: int, *, by: str = "") -> Sequence[Outcome]:
        told: Sequence[Outcome] | None = None
        if 0 < len(claims) <= MOST_ENTRIES:
            seal = seal_of(HANDLE_KEY, queue_id)
            entries = [{"ReceiptHandle": seal.seal(claim)} for claim in claims]
            told = await self._ask("DeleteMessage", entries, claims, queue_id, now, by)
            if told is not None and Outcome.EXPIRED not in told:
                return told
        again = await super().delete(queue_id, claims, now, by=by)
        if told is None:
            return again
        assert set(again) <= {Outcome.GONE, Outcome.EXPIRED}, "what is asked again changes nothing"
        return told

    def _is_plain(self, queue_id: int, messages: Sequence[NewMessage]) -> bool:
        entry = self._catalogue.by_id.get(queue_id)
        return (
            entry is not None
            and 0 < len(messages) <= MOST_ENTRIES
            and len({message.sender for message in messages}) == 1
            and sum(len(message.body) for message in messages) <= LONGEST
            and all(_is_plain(entry, message) for message in messages)
        )

    # Parties

    def _ask(self, operation: str, entries: list[dict[str, str]], items: Sequence[Any], *common: Any) -> Awaitable[Any]:
        if len(entries) == 1:
            return self._join(Key(operation, *common), entries[0], items)
        return self._join(Key(f"{operation}Batch", *common), {"Entries": numbered(entries)}, items)

    def _join(self, key: Key, body: dict[str, Any], items: Sequence[Any]) -> Awaitable[Any]:
        """What one of them is told; None is for the ordinary way."""
        loop = asyncio.get_running_loop()
        if key not in self._asked:
            self._asked[key] = []
            loop.call_soon(self._begin, key)
        self._asked[key].append(Asked(body, items, loop.create_future()))
        return self._asked[key][-1].answer

    def _begin(self, key: Key) -> None:
        serving = asyncio.create_task(self._serve(key, self._asked.pop(key)))
        self._serving.add(serving)
        serving.add_done_callback(self._serving.discard)

    async def _serve(self, key: Key, asked: list[Asked]) -> None:
        party, clients = gathered(compiled(), key.operation, [one.body for one in asked])
        serve = SERVED[key.operation.removesuffix("Batch")]
        try:
            with served(party, clients):
                answers = await serve(self, party, clients, key, asked)
        except REASONS:
            answers = [None] * len(asked)
        except BaseException as error:
            for one in asked:
                one.answer.set_exception(error)
            return
        for one, answer in zip(asked, answers, strict=True):
            if not one.answer.done():
                one.answer.set_result(answer)

    def _round(self, party: Any, clients: Clients, key: Key) -> bool:
        self._by_round = not self._by_round
        served = self._by_round and in_a_round(self, party, clients, key.queue_id, key.rest, key.now, key.by)
        self.rounds += served
        self.natively += served
        return served

    async def _serve_send(self, party: Any, clients: Clients, key: Key, asked: list[Asked]) -> list[Any]:
        party.ids = [message.id for one in asked for message in one.items]
        sent: Sequence[Sent] | None = None
        if not self._round(party, clients, key):
            sent = await self.send_party(key.queue_id, party, key.rest, key.now, by=key.by)
            self.natively += sent is None
            party.acknowledge(b"", None if sent is None else [(one.id, _sequence_number(one.sequence)) for one in sent])
        answers, place = list[list[Sent]](), 0
        for one, reply in zip(asked, clients.replies(), strict=True):
            assert reply is not None, "what was stored is not bounced"
            answers.append([])
            for told, message in zip(reply.get("Successful", [reply]), one.items, strict=True):
                assert told["MD5OfMessageBody"] == md5_of_body(message.body)
                duplicate = sent is not None and sent[place].duplicate
                answers[-1].append(Sent(told["MessageId"], _sequence(told.get("SequenceNumber")), duplicate))
                place += 1
        return answers

    async def _serve_receive(self, party: Any, clients: Clients, key: Key, asked: list[Asked]) -> list[Any]:
        given: Sequence[Sequence[Message] | None] | None = None
        if self._round(party, clients, key):
            self._look_at_what_was_handed_out(key.queue_id, key.now)
        else:
            given = await self.receive_party(key.queue_id, party, key.rest, key.now, by=key.by)
            self.natively += given is None
            party.hand_out(b"", HANDLE_KEY, key.queue_id, shares(given))
            party.bounce()
        for message in (message for messages in given or () for message in messages or ()):
            self._handed_out[message.claim] = message
        return [reply and [self._given(key, told) for told in reply["Messages"]] for reply in clients.replies()]

    def _given(self, key: Key, told: dict[str, str]) -> Message:
        message = self._handed_out.pop(seal_of(HANDLE_KEY, key.queue_id).unseal(told["ReceiptHandle"]))
        assert (told["MessageId"], told["Body"]) == (message.id, message.body)
        assert told["MD5OfBody"] == md5_of_body(message.body)
        return message

    async def _serve_delete(self, party: Any, clients: Clients, key: Key, asked: list[Asked]) -> list[Any]:
        assert party.open_handles(HANDLE_KEY, key.queue_id)
        outcomes: Sequence[Outcome] | None = None
        before = self._looked_at(party, key.queue_id, key.now)
        if before is not None and self._round(party, clients, key):
            self._outcomes[id(party)] = self._became(key.queue_id, *before, key.now)
        else:
            outcomes = await self.delete_party(key.queue_id, party, key.now, by=key.by)
            self.natively += outcomes is None
            party.settle(b"", None if outcomes is None else [outcome is Outcome.EXPIRED for outcome in outcomes])
        became, answers = iter(outcomes or self._outcomes.pop(id(party))), list[list[Outcome]]()
        for one, reply in zip(asked, clients.replies(), strict=True):
            answers.append([next(became) for _ in one.items])
            assert (reply is None) == (Outcome.EXPIRED in answers[-1])
        return answers

    # What became of the rows

    def _receive_party(
        self, queue_id: int, party: Party, ask: Receive, now: int, by: str
    ) -> Sequence[Sequence[Message] | None] | None:
        given = super()._receive_party(queue_id, party, ask, now, by)
        if given is None:
            self._look_at_what_was_handed_out(queue_id, now)
        return given

    def _look_at_what_was_handed_out(self, queue_id: int, now: int) -> None:
        entry = self._catalogue.live(queue_id)
        rows = self.database.execute(
            f"SELECT {COLUMNS} FROM message WHERE shelf=? AND state=? AND received=?", (entry.shelf, IN_FLIGHT, now)
        ).fetchall()
        for row in rows:
            message = self._delivery._as_it_is(entry, Card(*row))
            self._handed_out[message.claim] = message

    def _delete_party(self, queue_id: int, party: Party, now: int, by: str) -> Sequence[Outcome] | None:
        before = self._looked_at(party, queue_id, now)
        outcomes = super()._delete_party(queue_id, party, now, by)
        if before is not None:
            self._outcomes[id(party)] = self._became(queue_id, *before, now)
        return outcomes

    def _looked_at(self, party: Any, queue_id: int, now: int) -> tuple[list[Claim | None], dict[int, int]] | None:
        if entry := self._catalogue.by_id.get(queue_id):
            claims = [Claim.unpack(raw) for raw in party.claims()]
            return claims, self._receives(entry, claims, now)
        return None

    def _became(self, queue_id: int, claims: Sequence[Claim | None], before: dict[int, int], now: int) -> list[Outcome]:
        entry = self._catalogue.live(queue_id)
        return _became(entry, claims, before, self._receives(entry, claims, now))

    def _receives(self, entry: Entry, claims: Sequence[Claim | None], now: int) -> dict[int, int]:
        """By number, how often those messages were received that are there."""
        found = {}
        for claim in claims:
            if claim and claim.shelf == entry.shelf:
                receives = self.database.execute(
                    "SELECT receives FROM message WHERE number=? AND shelf=? AND enqueued>?",
                    (claim.number, claim.shelf, now - entry.retention_ms),
                ).get
                if receives is not None:
                    found[claim.number] = receives
        return found


class NativeStore(ByParties, EncryptedStore):
    pass


Serve = Callable[[ByParties, Any, Clients, Key, list[Asked]], Awaitable[list[Any]]]
SERVED: dict[str, Serve] = {
    "SendMessage": ByParties._serve_send,
    "ReceiveMessage": ByParties._serve_receive,
    "DeleteMessage": ByParties._serve_delete,
}


def _became(
    entry: Entry, claims: Sequence[Claim | None], before: dict[int, int], after: dict[int, int]
) -> list[Outcome]:
    """A message that is there no more was deleted by the first claim on its latest delivery."""
    outcomes, there = [], dict(before)
    for claim in claims:
        if claim is None or claim.shelf != entry.shelf or claim.number not in there:
            outcomes.append(Outcome.GONE)
        elif claim.number not in after and there[claim.number] == claim.receives:
            outcomes.append(Outcome.DONE)
            del there[claim.number]
        else:
            outcomes.append(Outcome.EXPIRED if entry.fifo else Outcome.SUPERSEDED)
    assert there.keys() <= after.keys(), "a message was deleted by none of its claims"
    return outcomes


def _is_plain(entry: Entry, message: NewMessage) -> bool:
    names = [name for name in (message.group, message.deduplication_id) if name is not None]
    return (
        not message.attributes
        and message.trace is None
        and (message.delay_seconds is None or entry.fifo)
        and len(message.id) == ID_BYTES
        and message.size == len(message.body.encode()) > 0
        and illegal_character(message.body) is None
        and all(0 < len(name) <= 128 and name.isascii() and name.isprintable() and " " not in name for name in names)
        and len(names) == (2 if entry.fifo else message.group is not None)
    )


def _entry(message: NewMessage) -> dict[str, str]:
    named = {"MessageGroupId": message.group, "MessageDeduplicationId": message.deduplication_id}
    return {"MessageBody": message.body, **{name: value for name, value in named.items() if value is not None}}


def _sequence_number(sequence: int | None) -> str | None:
    return None if sequence is None else str(FIRST_SEQUENCE + sequence)


def _sequence(number: str | None) -> int | None:
    return None if number is None else int(number) - FIRST_SEQUENCE

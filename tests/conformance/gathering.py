"""Parties as native code gathers them: plain requests of several clients, each on a connection of its own, and what
each of them is told. The form of their heads is the simplest there can be: the canonical request is the body's hash."""

import hashlib
import hmac
import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from penstock import registry
from penstock.api.sqs.sending import sequence_number
from penstock.core.errors import Unavailable
from penstock.core.message import Message, Sent
from penstock.core.store import Outcome, Receive, Round
from penstock.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from penstock.native import Party

QUEUE_URL = "http://here/1/q"
HANDLE_KEY = b"k" * 32
SIGNING_KEY, DAY_MS = b"s" * 32, 86_400_000
DATE, SIGNED_AT = b"19700102T000000Z", DAY_MS
LENGTH_DIGITS, SIGNATURE_DIGITS = 6, 64
HEAD = b"POST / HTTP/1.1\r\ncontent-length: %06d\r\nx-amz-date: %b\r\nauthorization: %b\r\n\r\n"
LONGEST = 300_000

Told = dict[str, Any] | None
"""The reply to a client; None if its request goes back to Python."""


def compiled() -> ModuleType:
    """Without it there is nothing to test, which the build machine does not forgive."""
    native = registry.native()
    if native is None:
        words = "penstock.native is not built: install Rust (cargo 1.85 or newer), then run `make clean run`"
        if os.environ.get("CI"):
            pytest.fail(words)
        pytest.skip(words, allow_module_level=True)
    return native


def _signature(body: bytes, date: bytes) -> bytes:
    canonical, scope = hashlib.sha256(body).hexdigest().encode(), _scope(date).encode()
    to_sign = b"\n".join([b"AWS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical).hexdigest().encode()])
    return hmac.new(SIGNING_KEY, to_sign, "sha256").hexdigest().encode()


def in_a_round(
    store: SqliteStore, party: "Party", clients: "Clients", queue_id: int, deed: str | Receive | None, now: int, by: str
) -> bool:
    """Whether a party was served by native code alone. Receivers who were given nothing are bounced."""
    entry = store._catalogue.by_id.get(queue_id)
    permit = entry and store.permit(entry.queue, deed, None, 0, by)
    if not permit:
        return False
    party.grant(permit)
    done = store.serve([party], Round(clients.lane, now, SIGNED_AT, 0, HANDLE_KEY, b""))
    if done is None:
        return False
    if not done[1]:
        if not len(party):
            raise Unavailable("It was undone.")
        return False
    for left in done[0]:
        left.bounce()
    return True


def _scope(date: bytes) -> str:
    return f"{date[:8].decode()}/here"


class Gathering:
    """Clients of one queue of a store. With `rounds` they are served in a round, if they can be."""

    def __init__(self, native: ModuleType, store: SqliteStore, queue_id: int, rounds: bool = False) -> None:
        self._native, self._store, self._queue_id, self._rounds = native, store, queue_id, rounds
        self.natively: list[bool] = []
        """Which parties were carried out in native code; with `rounds`, which were served in a round."""

    def _round(
        self, party: "Party", clients: "Clients", deed: str | Receive | None, now: int, by: str
    ) -> list[Told] | None:
        if not self._rounds:
            return None
        with served(party, clients):
            done = in_a_round(self._store, party, clients, self._queue_id, deed, now, by)
        self.natively.append(done)
        return clients.replies() if done else None

    def _note(self, natively: bool) -> None:
        if not self._rounds:
            self.natively.append(natively)

    async def send(self, *entries: dict[str, str] | list[dict[str, str]], now: int, by: str = "root") -> list[Told]:
        batch = isinstance(entries[0], list)
        bodies = [{"Entries": numbered(entry)} if isinstance(entry, list) else entry for entry in entries]
        party, clients = gathered(self._native, "SendMessageBatch" if batch else "SendMessage", bodies)
        if told := self._round(party, clients, "AIDAUSER", now, by):
            return told
        with served(party, clients):
            sent: Sequence[Sent] | None = await self._store.send_party(self._queue_id, party, "AIDAUSER", now, by=by)
        self._note(sent is None)
        answered = party.acknowledge(b"", None if sent is None else [_told(one) for one in sent])
        return clients.replies(answered)

    async def receive(self, receivers: int, seconds: int, now: int, by: str = "root", most: int = 1) -> list[Told]:
        party, clients = gathered(self._native, "ReceiveMessage", [{} for _ in range(receivers)])
        if told := self._round(party, clients, Receive(most, seconds), now, by):
            return told
        with served(party, clients):
            given = await self._store.receive_party(self._queue_id, party, Receive(most, seconds), now, by=by)
        self._note(given is None)
        answered = party.hand_out(b"", HANDLE_KEY, self._queue_id, shares(given))
        party.bounce()
        return clients.replies(answered)

    async def delete(self, *handles: str | list[str], now: int, by: str = "root") -> list[Told]:
        batch = isinstance(handles[0], list)
        bodies: list[dict[str, Any]] = [
            {"Entries": numbered([{"ReceiptHandle": one} for one in handle])}
            if isinstance(handle, list)
            else {"ReceiptHandle": handle}
            for handle in handles
        ]
        party, clients = gathered(self._native, "DeleteMessageBatch" if batch else "DeleteMessage", bodies)
        assert party.open_handles(HANDLE_KEY, self._queue_id)
        if told := self._round(party, clients, None, now, by):
            return told
        with served(party, clients):
            outcomes = await self._store.delete_party(self._queue_id, party, now, by=by)
        self._note(outcomes is None)
        refused = None if outcomes is None else [outcome is Outcome.EXPIRED for outcome in outcomes]
        return clients.replies(party.settle(b"", refused))


def shares(given: Sequence[Sequence[Message] | None] | None) -> Sequence[Sequence[Message]] | None:
    """As native code wants to have what receivers are given."""
    return None if given is None else [one or () for one in given]


def gathered(native: ModuleType, operation: str, bodies: Sequence[dict[str, Any]]) -> "tuple[Party, Clients]":
    """Clients who ask for this at once, one for each body."""
    return gathered_again(native.Lane(LONGEST, LONGEST), form_of(native, operation), bodies)


def form_of(native: ModuleType, operation: str, date: bytes = DATE) -> Any:
    head = HEAD % (0, date, b"0" * SIGNATURE_DIGITS)
    holes, at = [], 0
    for name, width in (
        ("content-length", LENGTH_DIGITS), ("x-amz-date", len(DATE)), ("authorization", SIGNATURE_DIGITS)
    ):  # fmt: skip
        at = head.index(name.encode(), at) + len(name) + 2
        holes.append((name, at, at + width))
    return native.Form(operation, head, holes, [], [], _scope(date), SIGNING_KEY, None, None)


def gathered_again(
    lane: Any, form: Any, bodies: Sequence[dict[str, Any]], date: bytes = DATE, now: int = SIGNED_AT
) -> "tuple[Party, Clients]":
    """On a lane and by a form that others may have come by before."""
    clients = Clients(lane)
    for body in bodies:
        data = json.dumps({"QueueUrl": QUEUE_URL, **body}).encode()
        clients.ask(form, HEAD % (len(data), date, _signature(data, date)) + data)
    (party,) = clients.lane.poll(now)
    return party, clients


class Clients:
    def __init__(self, lane: Any) -> None:
        self.lane = lane
        self._sockets: list[tuple[int, socket.socket, socket.socket]] = []

    def ask(self, form: Any, request: bytes) -> None:
        near, far = socket.socketpair()
        near.sendall(request)
        self._sockets.append((self.lane.lend(far.fileno(), "here", [form]), near, far))

    def replies(self, answered: int | None = None) -> list[Told]:
        """There must be as many as were counted, if they were."""
        bounced = {key for key, *_ in self.lane.returned()}
        told: list[Told] = []
        for key, near, _ in self._sockets:
            if key in bounced:
                told.append(None)
            else:
                body = near.recv(2 * LONGEST).split(b"\r\n\r\n", 1)[1]
                told.append(json.loads(body) if body else {})
        self.leave()
        assert answered in (None, len(told) - len(bounced))
        return told

    def leave(self) -> None:
        for _, near, far in self._sockets:
            near.close()
            far.close()


@contextmanager
def served(party: "Party", clients: Clients) -> Iterator[None]:
    """If that fails, nobody waits for an answer any more."""
    try:
        yield
    except BaseException:
        party.bounce()
        clients.replies()
        raise


def _told(sent: Sent) -> tuple[str, str | None]:
    return sent.id, None if sent.sequence is None else sequence_number(sent.sequence)


def numbered(entries: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return [{"Id": str(number), **entry} for number, entry in enumerate(entries)]

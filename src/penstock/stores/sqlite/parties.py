"""Parties: requests that ask for the same of one queue, gathered by native code, and carried out in one change.

What native code of our own can do for them it does (`wholesale`); whatever else there is goes the way of single
requests.
"""

from abc import abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from types import ModuleType
from typing import Any

from penstock.core.message import Message, NewMessage, Sent
from penstock.core.outbox import Outbox
from penstock.core.queue import Queue
from penstock.core.store import Outcome, Party, Receive, Round, Served, TooManyInFlight
from penstock.core.traffic import Traffic
from penstock.stores.sqlite.catalogue import Catalogue
from penstock.stores.sqlite.data_keys import DataKeys
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.marks import Marks
from penstock.stores.sqlite.outgoing import Outgoing
from penstock.stores.sqlite.rounds import Rounds
from penstock.stores.sqlite.shelves import Shelves
from penstock.stores.sqlite.wholesale import Wholesale
from penstock.stores.sqlite.wholesale_fifo import WholesaleFifo


class Parties:
    """A part of the store. `native` is what is compiled, if it is; to be set before the store is opened."""

    native: ModuleType | None = None
    database: Database
    traffic: Traffic
    _catalogue: Catalogue
    _shelves: Shelves
    _keys: DataKeys
    _marks: Marks
    _outbox: Outbox
    _outgoing: Outgoing
    _rounds: Rounds | None = None
    _wholesale: Mapping[bool, Wholesale] = {}
    """By whether it is for FIFO queues."""

    def _go_native(self) -> None:
        if self.native is not None:
            self.database.load(self.native)
            self._keys.native_cipher = self.native.Cipher
            shelf = self.native.Shelf()
            fifo = self.native.FifoShelf(shelf)
            parts = self._catalogue, self._shelves, self._keys, self._marks, self._outbox, self.traffic
            self._catalogue.count_natively(self.native.Ring)
            self._rounds = Rounds(
                self.native, shelf, fifo, self.database, self._catalogue, self._shelves, self._keys, self._marks,
                self._outbox, self._outgoing, self.traffic,
            )  # fmt: skip
            self._wholesale = {
                False: Wholesale(self.native, shelf, *parts),
                True: WholesaleFifo(self.native, fifo, *parts),
            }

    def _leave_native(self) -> None:
        for wholesale in self._wholesale.values():
            wholesale.leave()
        if self._rounds is not None:
            self._rounds.leave()
        self._wholesale, self._rounds = {}, None

    def permit(self, queue: Queue, deed: str | Receive | None, who: object, version: int, by: str) -> Any:
        return self._rounds and self._rounds.permit(queue, deed, who, version, by)

    def serve(self, parties: list[Any], round: Round) -> Served | None:
        return self._rounds.serve(parties, round) if self._rounds else None

    @abstractmethod
    def _send(self, messages: Sequence[NewMessage], now: int, queue_id: int, by: str) -> list[Sent]: ...

    @abstractmethod
    def _receive(self, queue_id: int, ask: Receive, now: int, by: str) -> Sequence[Message]: ...

    @abstractmethod
    def _receive_one_each(
        self, callers: Sequence[None], now: int, queue_id: int, ask: Receive, by: str
    ) -> Sequence[Sequence[Message] | None]: ...

    @abstractmethod
    def _delete_messages(self, claims: Sequence[bytes], now: int, queue_id: int, by: str) -> list[Outcome]: ...

    def send_party(
        self, queue_id: int, party: Party, sender: str, now: int, *, by: str = ""
    ) -> Coroutine[Any, Any, Sequence[Sent] | None]:
        return self.database.write(self._send_party, queue_id, party, sender, now, by)

    def _send_party(self, queue_id: int, party: Party, sender: str, now: int, by: str) -> Sequence[Sent] | None:
        fifo = self._catalogue.live(queue_id).fifo
        if self._wholesale and self._wholesale[fifo].send(queue_id, party, sender, now, by):
            return None
        return self._send(party.messages(NewMessage, sender, fifo), now, queue_id, by)

    def receive_party(
        self, queue_id: int, party: Party, ask: Receive, now: int, *, by: str = ""
    ) -> Coroutine[Any, Any, Sequence[Sequence[Message] | None] | None]:
        return self.database.relieve(self._receive_party, queue_id, party, ask, now, by)

    def _receive_party(
        self, queue_id: int, party: Party, ask: Receive, now: int, by: str
    ) -> Sequence[Sequence[Message] | None] | None:
        fifo = self._catalogue.live(queue_id).fifo
        if self._wholesale and self._wholesale[fifo].receive(queue_id, party, ask, now, by):
            return None
        if ask.limit == 1:
            return self._receive_one_each((None,) * len(party), now, queue_id, ask, by)
        given: list[Sequence[Message] | None] = []
        for _ in range(len(party)):
            try:
                given.append(self._receive(queue_id, ask, now, by))
            except TooManyInFlight:
                given.append(None)
        return given

    def delete_party(
        self, queue_id: int, party: Party, now: int, *, by: str = ""
    ) -> Coroutine[Any, Any, Sequence[Outcome] | None]:
        return self.database.relieve(self._delete_party, queue_id, party, now, by)

    def _delete_party(self, queue_id: int, party: Party, now: int, by: str) -> Sequence[Outcome] | None:
        fifo = self._catalogue.live(queue_id).fifo
        if self._wholesale and self._wholesale[fifo].delete(queue_id, party, now, by):
            return None
        return self._delete_messages(party.claims(), now, queue_id, by)

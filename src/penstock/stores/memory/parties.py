"""Parties: requests that ask for the same of one queue are carried out one by one, within one call."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from penstock.core.message import Message, NewMessage, Sent
from penstock.core.queue import Queue
from penstock.core.store import Outcome, Party, Receive, Round, Served, TooManyInFlight
from penstock.stores.memory.contents import Contents


class Parties:
    """A part of the store."""

    @abstractmethod
    def _in(self, queue_id: int, now: int) -> Contents: ...

    @abstractmethod
    async def send(
        self, queue_id: int, messages: Sequence[NewMessage], now: int, *, by: str = ""
    ) -> Sequence[Sent]: ...

    @abstractmethod
    async def receive(self, queue_id: int, ask: Receive, now: int, *, by: str = "") -> Sequence[Message]: ...

    @abstractmethod
    async def delete(self, queue_id: int, claims: Sequence[bytes], now: int, *, by: str = "") -> Sequence[Outcome]: ...

    def permit(self, queue: Queue, deed: str | Receive | None, who: object, version: int, by: str) -> None:
        return None

    def serve(self, parties: list[Any], round: Round) -> Served | None:
        return None

    async def send_party(self, queue_id: int, party: Party, sender: str, now: int, *, by: str = "") -> Sequence[Sent]:
        messages = party.messages(NewMessage, sender, self._in(queue_id, now).queue.fifo)
        return await self.send(queue_id, messages, now, by=by)

    async def receive_party(
        self, queue_id: int, party: Party, ask: Receive, now: int, *, by: str = ""
    ) -> Sequence[Sequence[Message] | None]:
        given: list[Sequence[Message] | None] = []
        for _ in range(len(party)):
            try:
                given.append(await self.receive(queue_id, ask, now, by=by))
            except TooManyInFlight:
                given.append(None)
        return given

    async def delete_party(self, queue_id: int, party: Party, now: int, *, by: str = "") -> Sequence[Outcome]:
        return await self.delete(queue_id, party.claims(), now, by=by)

"""Connections that are lent to native code, which reads and answers plain requests on them, and come back from it.

The lane is one more thing that the loop watches. When it has something, it is asked for parties (requests that want the
same), and each is handed to the handler. A connection that comes back brings what was not answered: it goes on from
there as if it had been read here. Nothing is known here of what is in a request.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from penstock.listeners.vigil import Vigil

if TYPE_CHECKING:
    from penstock import native

log = structlog.get_logger(__name__)

SLOW_SECONDS = 1.0
"""For so long the rest of a request may be waited for in the lane, about. Its deadlines are kept by the connection."""


class Express(Protocol):
    """What serves parties."""

    def lane(self, longest_body: int) -> "native.Lane": ...

    def form_of(self, like: Any) -> "native.Form | None": ...

    def wall(self) -> int: ...

    def expect(self, requests: int) -> None: ...

    def serve(self, party: "native.Party", date: Callable[[], bytes]) -> Coroutine[Any, Any, None]: ...


class Borrowed(Protocol):
    """A connection."""

    peer: str

    def taken_back(self, unsent: bytes, unread: bytes, served: int) -> None: ...


class ExpressLane:
    """`date` is a whole header line."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        lane: "native.Lane",
        express: Express,
        vigil: Vigil,
        date: Callable[[], bytes],
    ) -> None:
        self._loop, self._lane, self._express, self._vigil, self._date = loop, lane, express, vigil, date
        self._lent: dict[int, Borrowed] = {}
        self._looking = False
        loop.add_reader(lane.fileno(), self._look)

    @property
    def lent(self) -> int:
        """How many connections are in the lane."""
        return len(self._lent)

    def close(self) -> None:
        self._loop.remove_reader(self._lane.fileno())

    def lend(self, connection: Borrowed, socket: int, likenesses: Any) -> int | None:
        """What the connection is called in the lane, if any of the heads known of it goes this way."""
        forms = [form for like in likenesses if (form := self._express.form_of(like))]
        if not forms:
            return None
        key = self._lane.lend(socket, connection.peer, forms)
        self._lent[key] = connection
        return key

    def recall(self, key: int) -> None:
        self._lane.recall(key)
        self._look_soon()

    def forget(self, key: int) -> None:
        self._lane.forget(key)
        self._lent.pop(key, None)

    def served(self, key: int) -> tuple[int, bool]:
        return self._lane.served(key)

    def recall_slow(self) -> None:
        """And take back at once whatever is to be taken back: deadlines are looked at next."""
        self._lane.recall_slow(SLOW_SECONDS)
        self._take_back()

    def _look_soon(self) -> None:
        if self._lane.restless and not self._looking:
            self._looking = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        self._looking = False
        parties = self._lane.poll(self._express.wall())
        if parties:
            requests = sum(map(len, parties))
            self._vigil.requests_came(requests)
            self._express.expect(requests)
            for party in parties:
                self._run(self._express.serve(party, self._date))
            self._vigil.requests_served()
        self._take_back()
        self._look_soon()

    def _take_back(self) -> None:
        for key, unsent, unread, served in self._lane.returned():
            connection = self._lent.pop(key, None)
            if connection is not None:
                connection.taken_back(unsent, unread, served)

    def _run(self, serving: Coroutine[Any, Any, None]) -> None:
        """As far as it gets without waiting; it never waits for anything that needs a task."""

        def step(waited_for: asyncio.Future[Any] | None = None) -> None:
            try:
                awaited = serving.send(None)
            except StopIteration:
                self._look_soon()
            except Exception:
                log.exception("http.express_failed")
            else:
                if awaited is None:
                    self._loop.call_soon(step)
                else:
                    awaited.add_done_callback(step)

        step()

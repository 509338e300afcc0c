"""Connections that are lent to native code, which reads and answers plain requests on them, and come back from it.

The lane is one more thing that the loop watches. When it has something, it is asked for parties (requests that want the
same), and each is handed to the handler. A connection that comes back brings what was not answered: it goes on from
there as if it had been read here. Nothing is known here of what is in a request.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from penstock.listeners.stepwise import Stepwise
from penstock.listeners.vigil import Vigil, processors

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

    def serve_known(
        self, parties: "list[native.Party]", lane: "native.Lane", date: Callable[[], bytes]
    ) -> "Sequence[native.Party]":
        """At once; those that are left are to be served one by one."""

    def serve(self, party: "native.Party", date: Callable[[], bytes]) -> "Coroutine[Any, Any, Sequence[native.Party]]":
        """Some of the party may have to be served again, each by itself."""


class Borrowed(Protocol):
    """A connection."""

    peer: str

    def taken_back(self, unsent: bytes, unread: bytes, served: int) -> None: ...

    def abort(self) -> None: ...


Serving = Stepwise["Sequence[native.Party]"]


class ExpressLane:
    """`date` is a whole header line. A client that has ended its stream is still answered for `half_close_seconds`
    (`http_connection` says why)."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        lane: "native.Lane",
        express: Express,
        vigil: Vigil,
        date: Callable[[], bytes],
        half_close_seconds: float,
    ) -> None:
        self._loop, self._lane, self._express, self._vigil, self._date = loop, lane, express, vigil, date
        self._half_close_seconds = half_close_seconds
        self._lent: dict[int, Borrowed] = {}
        self._alone: dict[int, tuple[Serving, float]] = {}
        """By connection: requests that are being served, each by itself, and since when."""
        self._looking, lane.stirs = False, processors() > 1
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
        if alone := self._alone.pop(key, None):
            _tell_of(alone[0].cancel())

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
            self._vigil.requests_came(sum(map(len, parties)))
            if left := self._express.serve_known(parties, self._lane, self._date):
                self._express.expect(sum(map(len, left)))
                for party in left:
                    self._serve(party)
            self._vigil.requests_served()
        if self._lane.restless:
            for key, gone in self._lane.abandoned():
                self._part_from(key, gone)
            self._take_back()
            self._look_soon()

    def _take_back(self) -> None:
        for key, unsent, unread, served in self._lane.returned():
            connection = self._lent.pop(key, None)
            if connection is not None:
                connection.taken_back(unsent, unread, served)

    def _serve(self, party: "native.Party") -> None:
        connection, running = party.connection, self._express.serve(party, self._date)
        serving = Stepwise(self._loop, running, partial(self._served, connection), partial(self._failed, connection))
        serving.step()
        if connection is not None and not serving.over:
            self._alone[connection] = serving, self._loop.time()

    def _served(self, connection: int | None, rest: "Sequence[native.Party]") -> None:
        if connection is not None:
            self._alone.pop(connection, None)
        for party in rest:
            self._serve(party)
        self._look_soon()

    def _failed(self, connection: int | None, error: BaseException) -> None:
        _tell_of(error)
        self._served(connection, ())

    def _part_from(self, key: int, gone: bool) -> None:
        """The client of a request that waits has ended its stream, and may be gone."""
        if alone := self._alone.get(key):
            serving, since = alone
            left = 0 if gone else self._half_close_seconds - (self._loop.time() - since)
            self._loop.call_later(max(left, 0), self._abort, key, serving)

    def _abort(self, key: int, serving: "Serving") -> None:
        if not serving.over and (connection := self._lent.get(key)):
            connection.abort()


def _tell_of(error: BaseException | None) -> None:
    if error is not None:
        log.error("http.express_failed", exc_info=error)

"""One HTTP/1.1 connection: the order of its requests, its deadlines, and what happens when either side leaves.

    ARRIVING ─→ IDLE ─→ HEAD ─→ BODY ─→ SERVING ─→ FLUSHING ─→ IDLE …     (a stage with nothing to do is skipped)
                 ↑ └─→ LENT                  any of them ─→ CLOSING ─→ GONE
                 └──────┘

One request at a time is in the handler: a coroutine that is run `stepwise`. What the client pipelines behind it stays
bytes, and past `read_ahead_bytes` the socket is not read (nor, then, the client's leaving seen until a reply fails). A
connection waits in FLUSHING while a client is slow to read a reply, and for its next turn when more has come already.
`deadline` is the moment from which the listener's sweep calls `expire`; nothing here starts a timer on the way of a
request.

**Lent.** After a request with a known head the connection may be lent to the express lane (`http_express`), which
answers plain requests by itself. It comes back with the first that is none, or when it is wanted back. If it was of no
use there it stays here for a while, longer each time.

**When the client leaves.** A client that gives up on a long poll closes its socket, and all we see is an end of file:
the same that a client sends which only closes its writing side (`printf … | nc`) and waits for the answer. To hand
a message to someone who has gone hides it for a whole visibility timeout, so we take an end of file for a farewell: a
request that has been running for `half_close_seconds` or longer is cancelled at once, a younger one when it reaches
that age. The few clients that do half-close do so right behind their request, and get every answer that is quick.
Over TLS there is no half-close and the request is cancelled at once.

**A refusal** leaves the rest of a request unread. Closing then would reset the connection and could take the reply
with it, so we stop writing, drop what still arrives and close when the client does, or after `linger_seconds`.
"""

import asyncio
import math
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol, cast

import structlog

from penstock.aws.http import Handler, HttpRequest, HttpResponse
from penstock.listeners.http_framing import RequestReader
from penstock.listeners.http_likeness import Shared
from penstock.listeners.http_limits import HttpLimits, Refused
from penstock.listeners.http_reply import CONTINUE, Refuse, render
from penstock.listeners.stepwise import Stepwise

if TYPE_CHECKING:
    from penstock.listeners.http_express import ExpressLane

log = structlog.get_logger(__name__)


class Stage(IntEnum):
    IDLE = 0
    HEAD = 1
    BODY = 2  # up to here we wait for bytes
    ARRIVING = 3
    SERVING = 4
    FLUSHING = 5  # up to here bytes that come are kept
    LENT = 6
    CLOSING = 7
    GONE = 8


IDLE, HEAD, BODY, ARRIVING, SERVING, FLUSHING, LENT, CLOSING, GONE = Stage

MOST_PATIENCE = 64


class Owner(Protocol):
    """What a connection asks of its listener."""

    limits: HttpLimits
    handler: Handler
    refuse: Refuse
    draining: bool
    date: bytes
    likenesses: Shared

    def arrived(self, connection: "HttpConnection") -> None:
        """A whole request is here; the connection will be told to run it."""

    lane: "ExpressLane | None"

    def leave(self, connection: "HttpConnection") -> None: ...


class HttpConnection(asyncio.Protocol):
    def __init__(self, owner: Owner, loop: asyncio.AbstractEventLoop, peer: str, secure: bool) -> None:
        self.peer = peer
        self.deadline = math.inf
        self._owner, self._loop, self._limits, self._secure = owner, loop, owner.limits, secure
        self._transport = cast(asyncio.Transport, None)  # until it has arrived
        self._reader = RequestReader(owner.limits, owner.likenesses, peer, secure)
        self._stage = ARRIVING
        self._started = 0.0  # the request in SERVING; in BODY, the stretch of time whose pace is judged next
        self._judged = 0  # bytes of the body that came before that stretch
        self.request: HttpRequest | None = None  # that has arrived and does not run yet
        self._method, self._target = "", b""  # of the request in SERVING
        self._running: Stepwise[HttpResponse] | None = None
        self._farewell: asyncio.TimerHandle | None = None
        self._reading = True
        self._blocked = False
        self._lent = 0  # what it is called in the express lane
        self._known = False  # whether the request in SERVING had a known head
        self._patience = self._waits = 0  # known heads to wait for before it is lent again

    @property
    def arrived(self) -> bool:
        """The transport has taken us on, and will tell us when the connection is lost."""
        return self._stage is not ARRIVING

    # The transport calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._stage, self.deadline = IDLE, self._loop.time() + self._limits.header_seconds
        if self._owner.draining:
            self._close()

    def data_received(self, data: bytes) -> None:
        stage = self._stage
        if stage >= CLOSING:
            return
        reader = self._reader
        if stage is IDLE and not reader.buffer and (request := reader.whole(data)):
            self._serve(request)
            return
        reader.buffer += data
        if stage <= BODY:
            self._advance()
        elif self._reading and len(reader.buffer) > self._limits.read_ahead_bytes:
            self._reading = False
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        if self._stage is not SERVING and not (self._stage is FLUSHING and self._reader.buffer):
            self._stage = max(self._stage, CLOSING)
            return False
        left = self._limits.half_close_seconds - (self._loop.time() - self._started)
        if self._secure or left <= 0:
            self.abort()
            return False
        self._farewell = self._loop.call_later(left, self.abort)
        return True

    def connection_lost(self, error: Exception | None) -> None:
        self._forgotten()
        self._stage = GONE
        if self._farewell is not None:
            self._farewell.cancel()
        self._cancel()
        self._owner.leave(self)

    def pause_writing(self) -> None:
        self._blocked = True

    def resume_writing(self) -> None:
        self._blocked = False
        self._loop.call_soon(self._flushed)  # not now: asyncio's own transport must not be closed from within this call

    def _flushed(self) -> None:
        if self._stage is FLUSHING and not self._blocked and not self._transport.is_closing():
            self._advance()

    # The listener calls these.

    def expire(self, now: float) -> None:
        """The deadline has passed: move it or enforce it."""
        stage = self._stage
        if stage is HEAD:
            self._refuse(Refused(408, "The head of the request took too long."))
        elif stage is BODY:
            self._judge_pace(now)
        elif stage is IDLE:
            self._close()
        elif stage is FLUSHING or stage is CLOSING:
            self.abort()
        elif stage is LENT and self._owner.lane is not None:
            served, busy = self._owner.lane.served(self._lent)
            if busy or served > self._judged:
                self._judged, self.deadline = served, now + self._limits.idle_seconds
            else:
                self._close()

    def _judge_pace(self, now: float) -> None:
        """By what came since the last look, not since the start: a body sent fast to its last byte earns no rest."""
        received, window = self._reader.body_received, now - self._started
        if received - self._judged < window * self._limits.body_floor_bytes_per_second:
            self._refuse(Refused(408, "The body of the request came too slowly."))
        else:
            self._judged, self._started = received, now
            self.deadline = now + self._limits.body_grace_seconds

    def drain(self) -> None:
        """Finish the request that runs or is arriving, and leave."""
        if self._stage is IDLE:
            self._close()
        elif self._stage is LENT and self._owner.lane is not None:
            self._owner.lane.recall(self._lent)

    def abort(self) -> None:
        self._forgotten()
        self._cancel()
        if self.arrived:
            self._stage = max(self._stage, CLOSING)
            self._transport.abort()

    # One request after another.

    def _advance(self) -> None:
        """Start the next request if it is whole; otherwise wait for its bytes, but not for ever."""
        reader = self._reader
        try:
            request = reader.next()
        except Refused as refused:
            self._refuse(refused)
            return
        if not self._reading and (request is None or len(reader.buffer) <= self._limits.read_ahead_bytes):
            self._reading = True
            self._transport.resume_reading()
        if request is not None:
            self._serve(request)
        elif self._farewell is not None:
            self._close()
        else:
            self._wait()

    def _wait(self) -> None:
        limits, reader = self._limits, self._reader
        if reader.in_body:
            stage, patience = BODY, limits.body_grace_seconds
        elif reader.buffer:
            stage, patience = HEAD, limits.header_seconds
        else:
            stage, patience = IDLE, limits.idle_seconds
        if stage is IDLE and self._owner.draining:
            self._close()
        elif stage is not self._stage:
            self._stage, self._started = stage, self._loop.time()
            self._judged, self.deadline = 0, self._started + patience
            if reader.wants_continue:
                self._transport.write(CONTINUE)

    def _serve(self, request: HttpRequest) -> None:
        self._stage, self._started = SERVING, self._loop.time()
        self._method, self._target = request.method, request.target
        self._known = request.lesson is not None
        self.request = request
        self._owner.arrived(self)

    def run(self) -> None:
        """Start the request that has arrived, if anyone still waits for it."""
        if self.request is not None:
            handling, self.request = self._owner.handler(self.request), None
            running = self._running = Stepwise(self._loop, handling, self._answer, self._failed)
            running.step()

    def _cancel(self) -> None:
        """Nobody waits for the answer any more."""
        running, self._running, self.request = self._running, None, None
        if running is not None and (error := running.cancel()):
            self._tell_of(error)

    def _answer(self, response: HttpResponse) -> None:
        try:
            close = response.close or not self._reader.keep_alive or self._owner.draining
            reply = render(response, self._owner.date, close=close, head=self._method == "HEAD")
        except Exception as error:
            self._failed(error)
        else:
            self._send(reply, close)

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, asyncio.CancelledError):
            self._transport.abort()
            return
        self._tell_of(error)
        refusal = self._owner.refuse(500, "The server failed.")
        self._send(render(refusal, self._owner.date, close=True, head=self._method == "HEAD"), True)

    def _tell_of(self, error: BaseException) -> None:
        log.error("http.handler_failed", method=self._method, target=repr(self._target[:200]), exc_info=error)

    def _send(self, reply: bytes, close: bool) -> None:
        if self._stage is not SERVING or self._transport.is_closing():
            return
        self._transport.write(reply)
        if close:
            self._close()
        elif self._blocked or self._reader.buffer or self._farewell:
            self._stage, self.deadline = FLUSHING, self._loop.time() + self._limits.write_seconds
            if not self._blocked:  # the next request has its turn after those of others
                self._loop.call_soon(self._flushed)
        else:
            self._stage, self.deadline = IDLE, self._loop.time() + self._limits.idle_seconds
            if self._known and self._owner.lane is not None and not self._secure:
                self._lend(self._owner.lane)

    # To the express lane, and back.

    def _lend(self, lane: "ExpressLane") -> None:
        self._waits -= 1
        if self._waits >= 0 or self._owner.draining or self._transport.get_write_buffer_size():
            return
        socket = self._transport.get_extra_info("socket").fileno()
        if key := lane.lend(self, socket, self._reader.likenesses.all()):
            self._transport.pause_reading()
            self._stage, self._lent, self._judged = LENT, key, 0

    def taken_back(self, unsent: bytes, unread: bytes, served: int) -> None:
        """The lane does not have it any more: there is the rest of a reply, or of what has come."""
        self._lent = 0
        self._patience = 0 if served else min(2 * self._patience + 1, MOST_PATIENCE)
        self._waits = self._patience
        if self._stage is not LENT or self._transport.is_closing():
            return
        self._stage, self.deadline = IDLE, self._loop.time() + self._limits.idle_seconds
        self._transport.resume_reading()
        if unsent:
            self._transport.write(unsent)
        if self._blocked:
            self._reader.buffer += unread
            self._stage, self.deadline = FLUSHING, self._loop.time() + self._limits.write_seconds
        elif unread:
            self.data_received(unread)
        elif self._owner.draining:
            self._close()

    def _forgotten(self) -> None:
        if self._lent and self._owner.lane is not None:
            self._owner.lane.forget(self._lent)
        self._lent = 0

    # Going out.

    def _refuse(self, refused: Refused) -> None:
        if self._transport.is_closing():  # and connection_lost is on its way
            return
        self._transport.write(render(self._owner.refuse(refused.status, refused.reason), self._owner.date, close=True))
        self._stage = CLOSING
        self.deadline = self._loop.time() + self._limits.linger_seconds
        if self._farewell is not None:
            self._transport.close()
            return
        if not self._reading:
            self._transport.resume_reading()
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def _close(self) -> None:
        self._forgotten()
        self._stage = CLOSING
        self.deadline = self._loop.time() + self._limits.write_seconds
        self._transport.close()

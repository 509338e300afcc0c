"""One SQLite file with one writer, and the group commit that makes it fast.

Changes are applied on the event loop, one after the other, inside one open transaction. Callers who ask for the same
share one change, which is made just before the commit (`share`). The transaction is committed, with one fsync, as soon
as the loop has run everything that was ready: requests that arrive together share the commit, and a lone request never
waits for a timer, nor for a turn of the loop. A send that wakes a receiver does: the receive is in the next turn, and
in the same commit. So does the first request after a commit that many shared: their next ones are on their way. A
caller is answered after the commit with its change returned, and before the journal's file and the counters are.

What can go wrong: a full disk rolls the batch back, everyone in it is told to try again, and the store goes on with
what makes room, until there is some. Any other I/O error means that nobody knows what is on the disk any more: everyone
is told so, and the process must stop and recover through the log at its next start.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import IO, Any, TypeVar, TypeVarTuple

import apsw
import structlog

from penstock.core.errors import QueueGone, Unavailable
from penstock.core.keyring import KeyRefused
from penstock.core.outbox import Outbox
from penstock.core.store import RecordsChanged, StoreError, TooManyInFlight
from penstock.stores.sqlite.file import LARGE_LOG_PAGES, connect, is_large, locked, migrate, size_cache
from penstock.stores.sqlite.party import MOST_ITEMS, Key, Party
from penstock.stores.sqlite.reserve import Reserve
from penstock.stores.sqlite.written import Written

log = structlog.get_logger("penstock")

A = TypeVar("A")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

SHARE_AT_MOST = 512
"""Changes in one commit, about."""
FEW = 2
"""Calls in one commit: with so many, each is nearly alone."""
ROOM_BYTES = 4 * 1024 * 1024
FULL = "The disk is full."
REFUSALS = (KeyRefused, QueueGone, RecordsChanged, TooManyInFlight)
"""What a change may raise when what it has written, if anything, is complete in itself."""
FATAL = (apsw.IOError, apsw.CorruptError, apsw.NotADBError, apsw.CantOpenError, apsw.ReadOnlyError)


def stop(error: BaseException) -> None:
    """What is on the disk is not known any more; the next start finds out from the log."""
    log.critical("stopping: the disk failed", reason=str(error))
    sys.stderr.flush()
    os._exit(70)


class Database:
    """`before_commit` writes what is kept in memory, `after_commit` knows that it is written, `after_rollback` reads it
    again. `on_fatal` is told when the disk can be trusted no more."""

    def __init__(
        self,
        path: Path,
        outbox: Outbox,
        before_commit: Callable[[], None],
        after_commit: Callable[[], None],
        after_rollback: Callable[[], None],
        on_fatal: Callable[[BaseException], None],
    ) -> None:
        self.path, self._outbox = path, outbox
        self._before_commit, self._after_commit = before_commit, after_commit
        self._after_rollback, self._on_fatal = after_rollback, on_fatal
        self._waiting = 0
        self._parties: dict[Key, Party] = {}
        self._in_transaction = self._unsettled = self._refused_midway = self._changed = self._failed = False
        self.alone = False
        self._calls = self._company = 0
        """Announced since the last commit, and before it."""
        self._lock: IO[bytes] | None = None
        self.disk_full, self._room, self._reserve = False, False, Reserve(path)
        self.on_commit: Callable[[int, float], None] = lambda changes, seconds: None

    def open(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = locked(self.path)
        self.path.touch(mode=0o600)
        try:
            self._connection = connect(self.path)
            migrate(self._connection)
        except BaseException as error:
            self._lock.close()
            self._lock = None
            if isinstance(error, apsw.Error):
                raise StoreError(f"{self.path} cannot be opened: {error}") from error
            raise
        self.execute: Callable[..., Any] = self._connection.execute
        self.changes: Callable[[], int] = self._connection.changes

    def load(self, native: ModuleType) -> None:
        """Let native code have a part in what is done through this connection."""
        self._connection.enable_load_extension(True)
        self._connection.load_extension(str(native.__file__), "penstock_opened")
        self._connection.enable_load_extension(False)

    def expect(self, calls: int) -> None:
        """So many come now. One by itself is committed at once, unless it was in company until a moment ago: then the
        others are about to come again."""
        self._calls += calls
        self.alone = calls == 1 and not self.in_company

    @property
    def in_company(self) -> bool:
        return self._company > FEW

    # For native code that changes something by itself, and commits it

    def is_idle(self) -> bool:
        """Whether no transaction is open, and all is well. What the last one left to be done is done now."""
        self._settle()
        return not (self._in_transaction or self.disk_full or self._failed)

    def committed_elsewhere(self, calls: int, seconds: float) -> None:
        self._company, self._calls = calls, 0
        self.on_commit(calls, seconds)

    def undo(self, error: Exception) -> None:
        """It failed."""
        if isinstance(error, FATAL):
            self._fail(error)
            return
        if not isinstance(error, apsw.FullError):
            log.error("failed", exc_info=error)
        self._roll_back(error)

    def close(self) -> None:
        if self._lock is None:
            return
        self.commit()
        self._connection.close()
        self._lock.close()
        self._lock = None

    def write(self, change: Callable[[*Ts], T], *args: *Ts) -> Coroutine[Any, Any, T]:
        """Apply a change and return its result once it is on disk, with everything that it may have seen: what one
        caller changed and another only found is acknowledged to both by the same commit."""
        self.check_room()
        return self.relieve(change, *args)

    def check_room(self) -> None:
        """Before a change that takes room."""
        if self.disk_full and not self.look_for_room():
            raise Unavailable(FULL)

    async def relieve(self, change: Callable[[*Ts], T], *args: *Ts) -> T:
        """`write` for a change that makes room or takes next to none: it is also made while the disk is full."""
        begun = not self._in_transaction
        result, changed = self._make(change, *args)
        alone, self.alone = self.alone and begun, False
        if changed or self._waiting:
            written = self._written
            self._waiting += 1
            if alone:
                self._commit()
            try:
                await written
            except Unavailable:
                if changed or self._failed:
                    raise
                return await self.relieve(change, *args)  # what it saw was undone: look again
        return result

    def share(
        self, change: Callable[[Sequence[A], int, *Ts], Sequence[T]], items: Sequence[A], now: int, *args: *Ts
    ) -> Coroutine[Any, Any, Sequence[T]]:
        """`relieve` for somebody who is often one of many. Those who ask for the same before a commit share the change:
        it is told the items of them all, and the time of the latest, and has a result for each item."""
        if self.alone or len(items) >= MOST_ITEMS:
            return self.relieve(change, items, now, *args)
        return self._shared((change, args), items, now)

    async def _shared(self, key: Key, items: Sequence[Any], now: int) -> Sequence[Any]:
        party = self._parties.get(key)
        if party is not None and len(party.items) + len(items) > MOST_ITEMS:
            self._carry_out(self._parties.pop(key))
            party = self._parties.get(key)  # if that was undone, others may have joined again
        if not self._in_transaction:
            self._make(_begin_with_nothing)
        if party is None:
            party = self._parties[key] = Party(key)
        place, written = party.join(items, now), self._written
        self._waiting += 1
        try:
            await written
        except Unavailable:
            if party.changed or self._failed:
                raise
            return await self._shared(key, items, now)  # it was undone before it was made, or what it saw was
        if party.refusal is not None:
            raise party.refusal
        return party.results[place : place + len(items)]

    def _carry_out(self, party: Party) -> None:
        (change, args), party.changed = party.key, True
        try:
            party.results, party.changed = self._make(change, party.items, party.now, *args)
        except REFUSALS as refusal:
            party.refusal, party.changed = refusal, False
        except Exception as error:  # members are told within the rollback that it was not stored
            if not isinstance(error, Unavailable):
                log.error("failed", exc_info=error)

    def _carry_out_all(self) -> bool:
        """Whether the transaction is still the same. If not, a change was undone, and with it all of them: who waited
        has been told, and some have joined again, in the next one."""
        parties, self._parties, written = self._parties, {}, self._written
        for party in parties.values():
            if self._written is written and self._in_transaction:
                self._carry_out(party)
        return self._written is written and self._in_transaction

    def _make(self, change: Callable[[*Ts], T], *args: *Ts) -> tuple[T, bool]:
        """In the transaction that is open, or in a new one: the result of a change, and whether it changed anything."""
        total, outbox = self._connection.total_changes, self._outbox
        before, event = total(), outbox.seq
        try:
            if not self._in_transaction:
                self._begin()
            result = change(*args)
        except REFUSALS:
            self._refused_midway |= total() != before
            raise
        except apsw.FullError as error:
            self._roll_back(error)
            raise Unavailable(FULL) from error
        except FATAL as error:
            self._fail(error)
            raise Unavailable("The disk failed.") from error
        except BaseException as error:
            self._roll_back(error)
            raise
        changed = outbox.seq != event or total() != before
        self._changed |= changed
        return result, changed

    def _begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._settle()
        self.execute("BEGIN IMMEDIATE")
        self._in_transaction, self._changed = True, False
        self._written, self._refused_midway = Written(self._loop), False
        self._joined = 0 if self.in_company else 1
        self._loop.call_soon(self._commit_when_all_are_in)

    def wait_for_more(self) -> None:
        """Of a change that is being made: another will follow in the next turn of the loop, of somebody who has been
        waiting for it, and who is told first."""
        if self._in_transaction:
            self.alone, self._joined, self._written.latest_first = False, 0, True

    def _commit_when_all_are_in(self) -> None:
        """A lone change is committed at once. While others join, there is no hurry: whoever comes now shares the
        commit, which takes longer than to look for them. What is carried out at the end may be waited for by more."""
        if self._wait_for_others():
            return
        if self._in_transaction and self._carry_out_all() and not self._wait_for_others():
            self._commit()
        self._settle()

    def _wait_for_others(self) -> bool:
        """Look again in the next turn of the loop if anybody joined in this one; whether that is so."""
        before, self._joined = self._joined, self._waiting
        more = self._in_transaction and before < self._waiting < SHARE_AT_MOST
        if more:
            self._loop.call_soon(self._commit_when_all_are_in)
        return more

    def commit(self) -> None:
        """At once, all that there is."""
        while self._in_transaction:
            self._commit()
        self._settle()

    def _commit(self) -> None:
        """Callers are told first. What else there is to do can wait for the next turn of the loop, or for `commit`."""
        if not self._carry_out_all():
            return
        started = perf_counter()
        try:
            if self._waiting or self._refused_midway:
                self._before_commit()
            self.execute("COMMIT")
        except apsw.FullError as error:
            self._roll_back(error)
            return
        except BaseException as error:
            self._fail(error)
            return
        self._in_transaction, self._unsettled = False, True
        waiting, self._waiting = self._waiting, 0
        self._company, self._calls = self._calls, 0
        if self._changed:
            self.disk_full = self.disk_full and not self._room
            self.on_commit(waiting, perf_counter() - started)
        if waiting:
            self._written.tell()

    def _settle(self) -> None:
        if self._unsettled:
            self._unsettled = False
            self._after_commit()

    def _roll_back(self, error: BaseException) -> None:
        """Undo the whole batch: none of it has been acknowledged. Whoever is told goes on at once, so that is last."""
        self._in_transaction, self._parties = False, {}
        try:
            if not self._connection.getautocommit():
                self.execute("ROLLBACK")
            if isinstance(error, apsw.FullError):
                self.disk_full, self._room = True, False
                self._reserve.give_up()
                self._reuse_log()
            self._after_rollback()
        except apsw.Error as worse:
            self._fail(worse)
        else:
            self._tell_all(error)

    def set_room_aside(self) -> None:
        """For the day the disk is full."""
        self._reserve.keep()

    def fit_to_size(self) -> None:
        """The database may have grown. What is written to a large one is soon written again, so a longer log spares it
        many ways into the database (ADR 028)."""
        size_cache(self._connection)
        if is_large(self._connection) and self._reserve.enlarge():
            self.execute(f"PRAGMA wal_autocheckpoint={LARGE_LOG_PAGES}")

    def look_for_room(self) -> bool:
        """Whether a full disk seems to have room again, on the disk or within the database; the next commit shows."""
        free: int = self.execute("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size").get
        self._room = self._reserve.keep() or free > ROOM_BYTES
        return self._room

    def _reuse_log(self) -> None:
        """Changes can go on in the space that the log has already, once what is in it is in the database."""
        with contextlib.suppress(apsw.FullError):
            self.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()

    def _fail(self, error: BaseException) -> None:
        """Nobody knows what is on the disk: tell everyone, and stop."""
        self._in_transaction, self._parties, self._failed = False, {}, True
        self._tell_all(error)
        self._on_fatal(error)

    def _tell_all(self, error: BaseException) -> None:
        waiting, self._waiting = self._waiting, 0
        if waiting:
            self._written.tell(f"The change could not be stored: {error}")


def _begin_with_nothing() -> None: ...

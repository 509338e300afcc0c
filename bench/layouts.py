"""Small stores for `bench/storage.py`: the layouts of the table of messages that were weighed against each other.

Each does what a send, a receive and a delete do to the file, and nothing else: no groups, no events, no claims. They
know neither rounds nor clocks; `now` is an argument.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw
import msgspec

SHELF, GROUP, HIDDEN_MS = 1, 0, 30_000
IDENTITY = b"0f8fad5b-d9cb-469f-a165-70867728950e"
CHECKSUM = 123_456_789
PROMOTED_AT_ONCE = 500
COMMITS_TOLD = 1000

_MESSAGE = """CREATE TABLE message (
    number INTEGER PRIMARY KEY, shelf INTEGER NOT NULL, enqueued INTEGER NOT NULL, {state}, grp INTEGER NOT NULL,
    size INTEGER NOT NULL, receives INTEGER NOT NULL DEFAULT 0, first_received INTEGER, received INTEGER,
    id BLOB NOT NULL, checksum INTEGER NOT NULL, content BLOB);
CREATE INDEX message_age ON message (shelf, enqueued);
CREATE TABLE tally (place INTEGER PRIMARY KEY, counters BLOB NOT NULL);
"""


def connect(path: Path, synchronous: str) -> apsw.Connection:
    """As `penstock.stores.sqlite.file.connect` does, but for `synchronous`."""
    connection = apsw.Connection(str(path), statementcachesize=256)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    for pragma in ("journal_mode=WAL", f"synchronous={synchronous}", "cache_size=-32768", "wal_autocheckpoint=4000"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


class Layout(ABC):
    """One file. `hidden` says when what was received comes back."""

    schema = ""

    def __init__(self, path: Path, synchronous: str = "OFF") -> None:
        self.path, self.connection = path, connect(path, synchronous)
        self.execute = self.connection.execute
        self.execute(self.schema)
        self.number = 0

    def begin(self) -> None:
        self.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self.execute("COMMIT")

    @abstractmethod
    def send(self, now: int, content: bytes) -> None: ...

    @abstractmethod
    def receive(self, now: int, hidden: int = HIDDEN_MS) -> int: ...

    @abstractmethod
    def delete(self, number: int) -> None: ...

    @abstractmethod
    def come_back(self, now: int) -> None:
        """Whatever has to be done for messages whose time has come."""

    @abstractmethod
    def counts(self, now: int) -> tuple[int, int]:
        """Ready and in flight, exactly."""

    def fill(self, messages: int, hidden: int, now: int, content: bytes) -> None:
        self.begin()
        for _ in range(messages):
            self.send(now, content)
        for _ in range(hidden):
            self.receive(now, 10**9)
        self.commit()

    def log_bytes(self) -> int:
        return os.path.getsize(f"{self.path}-wal")

    def empty_log(self) -> None:
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


_COLUMNS = "number, enqueued, state, place, due, grp, size, receives, first_received, received, id, checksum, content"
_PLACED = f"SELECT {_COLUMNS} FROM message WHERE shelf=? AND grp=? AND place IS NOT NULL ORDER BY place, number LIMIT 1"
_STANDS_FRESH = f"SELECT {_COLUMNS} FROM message WHERE shelf=?1 AND state=0 AND place IS NULL AND"
_FRESH = f"""{_STANDS_FRESH} enqueued=?2 AND number>=?3 UNION ALL {_STANDS_FRESH} enqueued>?2
    ORDER BY enqueued, number LIMIT 1"""


class Flips(Layout):
    """What is kept: what came back is in the index of places, what was never handed out stands in line by its age, from
    `fresh` on (ADR 016); counters follow the changes of state, in one row for each commit."""

    schema = (
        _MESSAGE.format(state="state INTEGER NOT NULL, place INTEGER, shown INTEGER, due INTEGER")
        + """
CREATE INDEX message_line ON message (shelf, grp, place) WHERE place IS NOT NULL;
CREATE INDEX message_due ON message (due) WHERE due IS NOT NULL;
"""
    )

    def __init__(self, path: Path, synchronous: str = "OFF") -> None:
        super().__init__(path, synchronous)
        self.ready = self.in_flight = self.commits = 0
        self.fresh = 0, 0

    def commit(self) -> None:
        self.commits += 1
        counters = msgspec.msgpack.encode((1, self.ready, self.in_flight, *self.fresh))
        self.execute("INSERT OR REPLACE INTO tally VALUES (?,?)", (self.commits % COMMITS_TOLD, counters))
        self.execute("COMMIT")

    def send(self, now: int, content: bytes) -> None:
        self.number += 1
        self.execute(
            "INSERT INTO message (number, shelf, enqueued, state, place, due, grp, size, id, checksum, content)"
            " VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (self.number, SHELF, now, 0, None, None, GROUP, len(content), IDENTITY, CHECKSUM, content),
        )
        self.ready += 1

    def receive(self, now: int, hidden: int = HIDDEN_MS) -> int:
        placed = self.execute(_PLACED, (SHELF, GROUP)).fetchone()
        row = self.execute(_FRESH, (SHELF, *self.fresh)).fetchone()
        if row:
            self.fresh = row[1], row[0]
        if row is None or (placed and (placed[3], placed[0]) < (row[1], row[0])):
            row = placed
        self.execute(
            "UPDATE message SET state=?, place=?, shown=?, due=?, receives=?, first_received=?, received=?"
            " WHERE number=?",
            (1, None, None, now + hidden, row[7] + 1, row[8] or now, now, row[0]),
        )
        self.ready, self.in_flight = self.ready - 1, self.in_flight + 1
        return int(row[0])

    def delete(self, number: int) -> None:
        state = self.execute("DELETE FROM message WHERE number=? AND shelf=? RETURNING state", (number, SHELF)).get
        self.in_flight -= state
        self.ready -= 1 - state

    def come_back(self, now: int) -> None:
        due = "SELECT number, due FROM message WHERE due<=? ORDER BY due LIMIT ?"
        for number, since in self.execute(due, (now, PROMOTED_AT_ONCE)).fetchall():
            self.execute("UPDATE message SET state=0, due=NULL, place=? WHERE number=?", (since, number))
            self.ready, self.in_flight = self.ready + 1, self.in_flight - 1

    def counts(self, now: int) -> tuple[int, int]:
        return self.ready, self.in_flight


class VisibleAt(Layout):
    """A message has no state but a time from which it is visible: coming back takes no step, and counting takes one."""

    schema = (
        _MESSAGE.format(state="visible_at INTEGER NOT NULL")
        + "CREATE INDEX message_visible ON message (shelf, grp, visible_at);"
    )

    def send(self, now: int, content: bytes) -> None:
        self.number += 1
        self.execute(
            "INSERT INTO message (number, shelf, enqueued, visible_at, grp, size, id, checksum, content)"
            " VALUES (?,?,?,?,?,?,?,?,?)",
            (self.number, SHELF, now, now, GROUP, len(content), IDENTITY, CHECKSUM, content),
        )

    def receive(self, now: int, hidden: int = HIDDEN_MS) -> int:
        row = next(
            self.execute(
                "SELECT number, enqueued, visible_at, grp, size, receives, first_received, received, id, checksum,"
                " content FROM message WHERE shelf=? AND grp=? AND visible_at<=? ORDER BY visible_at, number",
                (SHELF, GROUP, now),
            )
        )
        self.execute(
            "UPDATE message SET visible_at=?, receives=?, first_received=?, received=? WHERE number=?",
            (now + hidden, row[5] + 1, row[6] or now, now, row[0]),
        )
        return int(row[0])

    def delete(self, number: int) -> None:
        _ = self.execute("DELETE FROM message WHERE number=? AND shelf=? RETURNING receives", (number, SHELF)).get

    def come_back(self, now: int) -> None:
        """Time alone makes them visible."""

    def counts(self, now: int) -> tuple[int, int]:
        return tuple(
            self.execute(
                f"SELECT count(*) FROM message WHERE shelf=? AND grp=? AND visible_at{compared}?", (SHELF, GROUP, now)
            ).get
            for compared in ("<=", ">")
        )


class Apart(Flips):
    """As `Flips`, with every content in a table of its own: where only large ones lie now."""

    schema = Flips.schema + "CREATE TABLE bulk (number INTEGER PRIMARY KEY, content BLOB NOT NULL);"

    def send(self, now: int, content: bytes) -> None:
        self.execute("INSERT INTO bulk VALUES (?,?)", (self.number + 1, content))
        super().send(now, b"")

    def receive(self, now: int, hidden: int = HIDDEN_MS) -> int:
        number = super().receive(now, hidden)
        _ = self.execute("SELECT content FROM bulk WHERE number=?", (number,)).get
        return number

    def delete(self, number: int) -> None:
        super().delete(number)
        self.execute("DELETE FROM bulk WHERE number=?", (number,))


def cycle(layout: Layout, now: int, contents: Sequence[bytes]) -> None:
    """What so many clients do to the file: send, receive, delete, inside one transaction."""
    layout.begin()
    for content in contents:
        layout.send(now, content)
    for number in received(layout, now, len(contents)):
        layout.delete(number)
    layout.commit()


def received(layout: Layout, now: int, number: int) -> Iterable[int]:
    return [layout.receive(now) for _ in range(number)]

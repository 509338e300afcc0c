"""Seventeen bugs that queues have had, each a small edit of our own source, and the part of the battery that finds it.

A test that cannot fail proves nothing: `test_planted_bugs` plants each in a copy of the source and runs that part on
it. When an edit finds its text no more, the code has moved on: bring the entry up to date, keep what it is about.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

import penstock

SOURCE = Path(penstock.__path__[0])

MODEL = "tests/conformance/test_model.py -k sqlite"
PARTIES = "tests/conformance/test_model.py -k native"
KILL = "tests/faults/test_kill.py -k acknowledged"
POWER = "tests/faults/test_power_cut.py -k acknowledged"
CORRUPTION = "tests/faults/test_corruption.py -k damaged"
EDGES = "tests/faults/test_time_edges.py -k sqlite"
HOSTILE = "tests/faults/test_hostile.py -k gone"

PURGES = "tests/faults/test_races.py -k purge"
SCOPES = "tests/faults/test_races.py -k deduplication"

PURGE_LEAVES = """\
        self.by_shelf[entry.shelf] = entry
        self._db.execute("UPDATE message SET shelf=? WHERE state=1", (entry.shelf,))
        self._db"""

BURIED_TWICE = """\
        self._db.execute("CREATE TEMP TABLE twin AS SELECT * FROM message WHERE number=?", (moved.number,))
        self._db.execute("UPDATE twin SET number=number+1000000; INSERT INTO message SELECT * FROM twin")
        self._db.execute("DROP TABLE twin")
        new_group = self.groups.enter(target, group"""

Edit = tuple[str, str, str]
"""A file of the package, what is written there exactly once, and what is to be there instead."""


@dataclass(frozen=True)
class Bug:
    name: str
    found_by: str
    edits: tuple[Edit, ...]


class Outdated(Exception):
    """The source is not what an entry of `BUGS` expects."""


BUGS = (
    Bug("a reply leaves before the commit", POWER, (
        ("stores/sqlite/database.py", "                await written\n", "                pass\n"),
        ("stores/sqlite/database.py", "\n            await written\n", "\n            self._carry_out_all()\n"),
    )),
    Bug("the log is not synced at a commit", POWER, (
        ("stores/sqlite/file.py", '"synchronous=FULL"', '"synchronous=NORMAL"'),
        ("stores/sqlite/file.py", '"synchronous": 2}', '"synchronous": 1}'),
    )),
    Bug("a superseded handle deletes", MODEL, (
        ("stores/sqlite/claims.py", "current = card.receives == receives", "current = card.receives >= receives"),
    )),
    Bug("windows are in milliseconds", EDGES, (
        ("stores/sqlite/delivery.py", "= now + ask.visibility_seconds * 1000 if", "= now + ask.visibility_seconds if"),
    )),
    Bug("deduplication forgets its scope", SCOPES, (
        ("stores/sqlite/sending.py", "queue.deduplication_scope(new.group, now)", '""'),
    )),
    Bug("a dead letter stays in its queue too", MODEL, (
        ("stores/sqlite/shelves.py", "        new_group = self.groups.enter(target, group", BURIED_TWICE),
    )),
    Bug("a delete is not counted", MODEL, (
        ("stores/sqlite/shelves.py", "entry.counts[card.state] -= 1\n            entry.bytes", "entry.bytes"),
    )),
    Bug("a receive knows no retention", EDGES, (
        ("stores/sqlite/delivery.py", "if card.enqueued <= horizon:", "if False:"),
        ("stores/sqlite/shelves.py", "if entry.oldest > horizon:", "if True:"),
    )),
    Bug("a group is not locked", MODEL, (
        ("stores/sqlite/lines.py", "if not _is_ready(card):", "if False:"),
        ("stores/sqlite/groups.py", "CASE state WHEN 0 THEN coalesce(shown, enqueued) END", "enqueued"),
        ("stores/sqlite/groups.py", "in_flight+?1, available=NULL", "in_flight+?1"),
    )),
    Bug("sequence numbers begin again at a start", MODEL, (
        ("stores/sqlite/marks.py", "keepsake WHERE name='numbers'\").get or 0", "keepsake\") and 0"),
    )),
    Bug("a purge leaves what is in flight", PURGES, (
        ("stores/sqlite/catalogue.py", "        self.by_shelf[entry.shelf] = entry\n        self._db", PURGE_LEAVES),
    )),
    Bug("a checksum is not compared", CORRUPTION, (
        ("stores/sqlite/cards.py", "if not intact:", "if False:"),
    )),
    Bug("a waiter that has left is given a message", HOSTILE, (
        ("listeners/http_connection.py", "_cancel(self) -> None:\n", "_cancel(self) -> None:\n        return\n"),
    )),
    Bug("the results of a batch are swapped", KILL, (
        ("api/sqs/batch.py", "zip(prepared, results, strict=True)", "zip(prepared, results[::-1], strict=True)"),
    )),
    Bug("a tampered handle is taken", KILL, (
        ("core/handle.py", " and hmac.compare_digest(digest, self._digest(claim))", ""),
    )),
    Bug("a party that was received is not counted", PARTIES, (
        ("stores/sqlite/wholesale.py", "        shelves.delivered(entry, number, due, now)\n", ""),
    )),
    Bug("a party passes over a message", PARTIES, (
        ("stores/sqlite/wholesale.py", "entry.fresh = last + 1", "entry.fresh = last + 2"),
    )),
)  # fmt: skip


def plant(bug: Bug, folder: Path) -> None:
    """A copy of the package with the bug in it, in a folder that is to be on the path."""
    copy = folder / SOURCE.name
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in bug.edits:
        file = copy / name
        text = file.read_text() if file.exists() else ""
        if text.count(old) != 1:
            raise Outdated(
                f"The entry {bug.name!r} of tests/faults/planted.py expects this once in {name}, and it is there "
                f"{text.count(old)} times:\n{old}"
            )
        file.write_text(text.replace(old, new))

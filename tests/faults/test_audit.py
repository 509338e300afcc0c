"""The audit of a file at rest complains of whatever it finds there: one that it cannot read must not silence it.

Disks that lie leave such files behind at a power cut, and the controls of that part are about being told.
"""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from .audit import faults_of
from .conftest import Opened

DECLARED = "counters BLOB NOT NULL"


def of_another_kind(connection: apsw.Connection) -> None:
    connection.execute("UPDATE tally SET counters = 7")


def garbled(connection: apsw.Connection) -> None:
    connection.execute("UPDATE tally SET counters = x'C1'")


def absent(connection: apsw.Connection) -> None:
    """What SQLite reads where a sector of the page is missing, whatever the table says of NULL."""
    rename = "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = 'tally'"
    connection.execute("PRAGMA writable_schema = ON")
    for before, after, change in (
        (DECLARED, "counters BLOB", "UPDATE tally SET counters = NULL"),
        ("counters BLOB", DECLARED, "SELECT 1"),
    ):
        connection.execute(rename, (before, after))
        connection.execute("PRAGMA writable_schema = RESET")
        connection.execute(change)
        connection.execute("PRAGMA writable_schema = ON")


@pytest.mark.parametrize("damage", [of_another_kind, garbled, absent])
async def test_counters_that_cannot_be_read_are_complained_of(
    opened: Opened, folder: Path, damage: Callable[[apsw.Connection], None]
) -> None:
    world, path = await opened(), folder / "penstock.db"
    await (await world.queue("q")).send("m")
    await world.store.close()
    assert faults_of(path, folder) == []
    with closing(apsw.Connection(str(path))) as connection:
        damage(connection)
    (complaint,) = faults_of(path, folder)
    assert "tally" in complaint

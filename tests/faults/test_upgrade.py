"""A database of an older schema is brought up to date at the start, and every message in it is as it was."""

import uuid
from pathlib import Path

import apsw
import msgspec

from penstock.core.message import Attribute, Message
from penstock.core.store import Outcome, Receive
from penstock.stores.sqlite.claims import _format
from penstock.stores.sqlite.file import MIGRATIONS
from penstock.stores.sqlite.packing import checksum, packed, readable_id, repacked
from penstock.stores.sqlite.store import SqliteStore

from .audit import faults_of

NOW = 1_700_000_000_000
SMALL, LARGE = "small", "large" * 10_000
ATTRIBUTES = {"price": ("Number", "12"), "raw": ("Binary", b"\0\xff")}


def first_schema(path: Path) -> list[uuid.UUID]:
    """What the first schema looked like: cards and payloads in two tables, ids packed; a queue with three messages, of
    which the last is in flight."""
    connection = apsw.Connection(str(path))
    connection.execute((MIGRATIONS / "001-initial.sql").read_text())
    connection.execute("PRAGMA user_version=1")
    connection.execute("INSERT INTO queue VALUES (1,'us-east-1','1','q','{}','{}',1,1,NULL,7,2,1,0,100,0)")
    connection.execute("INSERT INTO keepsake VALUES ('shelves', 7), ('numbers', 10)")
    ids = [uuid.uuid4() for _ in range(3)]
    for number, (identity, body) in enumerate(zip(ids, (SMALL, LARGE, "third"), strict=True), start=1):
        hidden = number == 3
        connection.execute(
            "INSERT INTO message VALUES (7,?,?,?,?,NULL,?,0,?,?,?,?)",
            (NOW, number, hidden, None if hidden else NOW, NOW + 30_000 if hidden else None, len(body), hidden,
             NOW if hidden else None, NOW if hidden else None),
        )  # fmt: skip
        connection.execute(
            "INSERT INTO payload VALUES (?,?,?,0,'AIDA',?,?,'trace',NULL,NULL,NULL,NULL)",
            (number, identity.bytes, body, NOW, msgspec.msgpack.encode(ATTRIBUTES) if number == 1 else None),
        )
    connection.close()
    return ids


async def test_messages_of_the_first_schema_are_handed_out_as_they_were_sent(tmp_path: Path) -> None:
    ids = first_schema(tmp_path / "penstock.db")
    store = SqliteStore(tmp_path / "penstock.db")
    await store.open()
    small, large = await store.receive(1, Receive(10, 30), NOW + 1)
    assert [small.id, large.id] == [str(ids[0]), str(ids[1])]
    assert (small.body, large.body, small.sender, small.sent, small.trace) == (SMALL, LARGE, "AIDA", NOW, "trace")
    assert small.attributes == {name: Attribute(*pair) for name, pair in ATTRIBUTES.items()}
    assert await store.delete(1, [small.claim, large.claim], NOW + 2) == [Outcome.DONE, Outcome.DONE]
    await store.close()


async def test_a_receipt_of_the_first_schema_is_still_good(tmp_path: Path) -> None:
    first_schema(tmp_path / "penstock.db")
    store = SqliteStore(tmp_path / "penstock.db")
    await store.open()
    assert await store.delete(1, [_format.pack(7, NOW, 3, 1)], NOW + 2) == [Outcome.DONE]
    assert (await store.counts(1, NOW + 2))[:3] == (2, 0, 0)
    await store.close()


async def test_messages_of_the_schema_with_an_index_of_ages_keep_their_order_and_their_age(tmp_path: Path) -> None:
    """Two of them had come from another queue: one with a higher number than younger ones, one with a lower."""
    connection = apsw.Connection(str(tmp_path / "penstock.db"))
    for name, function in {"readable_id": readable_id, "packed": repacked, "checksum": checksum}.items():
        connection.create_scalar_function(name, function)
    for script in sorted(MIGRATIONS.glob("00[1-7]-*.sql")):
        connection.execute(script.read_text())
    connection.execute("PRAGMA user_version=7")
    connection.execute(
        "INSERT INTO queue VALUES (1,'us-east-1','1','q','{}','{}',1,1,NULL,7,0,0,0,0,0,NULL,NULL),"
        " (2,'us-east-1','1','r','{}','{}',1,1,NULL,8,5,0,0,5,0,?,9)",
        (NOW + 90,),
    )
    connection.execute("INSERT INTO keepsake VALUES ('shelves', 8), ('numbers', 20)")
    connection.execute("INSERT INTO tally VALUES (1, 1, ?)", (msgspec.msgpack.encode([[1, 6, 0, 0, 6, 0, NOW, 2]]),))
    shelves = {7: {2: 0, 3: 1, 4: 70, 6: 2, 7: 3, 8: -50}, 8: {5: 0, 9: 90, 10: 91, 11: 92, 12: 93}}
    for shelf, ages in shelves.items():
        for number, age in ages.items():
            identity, content = str(uuid.uuid4()).encode(), packed(Message(str(age), "AIDA", NOW + age))
            connection.execute(
                "INSERT INTO message (number, shelf, enqueued, state, place, grp, size, id, checksum, content)"
                " VALUES (?,?,?,0,?,0,1,?,?,?)",
                (number, shelf, NOW + age, NOW + 100 if number in (4, 5, 8) else None, identity,
                 checksum(identity, content), content),
            )  # fmt: skip
    connection.close()
    store = SqliteStore(tmp_path / "penstock.db")
    await store.open()
    for queue, shelf in ((1, 7), (2, 8)):
        ages = [str(age) for age in sorted(shelves[shelf].values())]
        assert [message.body for message in await store.peek(queue, 10, b"", NOW + 200)] == ages
        assert await store.oldest(queue, NOW + 200) == NOW + int(ages[0])
        assert {message.body for message in await store.receive(queue, Receive(10, 30), NOW + 200)} == set(ages)
    await store.close()
    assert faults_of(tmp_path / "penstock.db", tmp_path) == []

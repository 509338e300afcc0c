"""What lies on a shelf is handed out by native code in the order and with the content that it has without it: whatever
else lies between the plain messages."""

import random
import shutil
from pathlib import Path

import apsw
import pytest

from penstock.core.queue import QueueKey
from penstock.core.traffic import Minute

from .conftest import Start
from .lane import ACCOUNT, REGION, Json, Site
from .test_differential import journal_of, verified

COLOUR = {"MessageAttributes": {"colour": {"DataType": "String", "StringValue": "blue"}}}
KINDS: dict[str, Json] = {
    "plain": {},
    "attributes": COLOUR,
    "delayed": {"DelaySeconds": 900},
    "bulky": {},
    "damaged": {},
    "unreadable": {},
    "expired": {},
    "received": {},
}
BULK = {"bulky": "x" * 3000}


async def filled(site: Site, kinds: list[str], **attributes: str) -> None:
    """A queue with a message of each kind, as far as requests can make them so."""
    url, line = await site.create("orders", {"penstock:journal": "full"}, **attributes), await site.line()
    for place, kind in enumerate(kinds):
        body = {"QueueUrl": url, "MessageBody": f"{place} {kind} {BULK.get(kind, '')}", **KINDS[kind]}
        assert (await line.ask("SendMessage", body)).status == 200


def changed(file: Path, kinds: list[str]) -> None:
    """The rest: what time or a bad disk would do. Those that were received are visible again, and were twice."""
    connection = apsw.Connection(str(file))
    changes = {
        "damaged": "checksum=checksum+1",
        "unreadable": "enqueued=enqueued, content=x'c1000000000001', checksum=-1",
        "expired": "enqueued=enqueued-4*86400000-1000",
        "received": "receives=2, place=enqueued, received=enqueued, first_received=enqueued",
    }
    numbers = [number for (number,) in connection.execute("SELECT number FROM message ORDER BY number")]
    assert len(numbers) == len(kinds)
    for number, kind in zip(numbers, kinds, strict=True):
        if kind in changes:
            connection.execute(f"UPDATE message SET {changes[kind]} WHERE number=?", (number,))
    connection.close()


async def received(site: Site, most: int) -> list[list[str]]:
    """What each receive is given, until there is nothing."""
    line, found = await site.lent_line("ReceiveMessage"), list[list[str]]()
    body = {"QueueUrl": site.url("orders"), "MaxNumberOfMessages": most}
    while messages := (await line.ask("ReceiveMessage", body)).json.get("Messages"):
        found.append([message["Body"] for message in messages])
    return found


@pytest.mark.parametrize("most", [1, 3, 10])
@pytest.mark.parametrize("encrypted", ["true", "false"])
@pytest.mark.parametrize("seed", range(3))
async def test_messages_of_all_kinds_are_handed_out_as_they_are_without_native_code(
    start: Start, folder: Path, seed: int, encrypted: str, most: int
) -> None:
    rng = random.Random(seed)
    kinds = rng.choices([*KINDS], [8, 1, 1, 1, 1, 1, 1, 1], k=30)
    writer = await start("native", native=bool(seed % 2))
    await filled(writer, kinds, SqsManagedSseEnabled=encrypted)
    await writer.stop()
    changed(folder / "native" / "penstock.db", kinds)
    shutil.copytree(folder / "native", folder / "python")
    sites = [await start("native"), await start("python", native=False)]
    found = [await received(site, most) for site in sites]
    assert found[0] == found[1]
    assert found[0]
    assert await sites[0].peek("orders") == await sites[1].peek("orders")
    assert await sites[0].counts("orders") == await sites[1].counts("orders")
    for site in sites:
        await site.stop()
    assert journal_of(sites[0]) == journal_of(sites[1])


@pytest.mark.parametrize("level", ["off", "events", "full"])
@pytest.mark.parametrize("encrypted", ["true", "false"])
async def test_what_native_code_writes_is_read_without_it_and_the_other_way_round(
    start: Start, folder: Path, encrypted: str, level: str
) -> None:
    bodies = ["m", "é" * 500, "x" * 1900, "y" * 2000, "z" * 5000, '\u2028😀\t"\\']
    for native in (True, False):
        name = f"written {native}"
        site = await start(name, native=native)
        url = await site.create("orders", {"penstock:journal": level}, SqsManagedSseEnabled=encrypted)
        line = await site.lent_line("SendMessage", "SendMessageBatch")
        for body in bodies:
            assert (await line.ask("SendMessage", {"QueueUrl": url, "MessageBody": body})).status == 200
        entries = [{"Id": f"e{place}", "MessageBody": body} for place, body in enumerate(bodies)]
        assert (await line.ask("SendMessageBatch", {"QueueUrl": url, "Entries": entries[:4]})).status == 200
        await site.stop()
        site = await start(name, native=not native)
        assert [body for given in await received(site, 10) for body in given] == bodies + bodies[:4]
        assert await site.counts("orders") == (0, 10, 0, sum(len(body.encode()) for body in bodies + bodies[:4]))
        await site.stop()
        if level == "full":
            verified(folder / name)


async def test_what_lies_in_clear_cannot_be_read_where_it_is_encrypted(start: Start, folder: Path) -> None:
    site = await start()
    url = await site.create("orders", {"penstock:journal": "off"})
    line = await site.lent_line("SendMessage")
    assert await line.by_lane("SendMessage", {"QueueUrl": url, "MessageBody": "unmistakable"})
    await site.stop()
    assert not [file for file in (folder / "data").glob("penstock.db*") if b"unmistakable" in file.read_bytes()]


async def test_every_message_is_encrypted_with_a_nonce_of_its_own(start: Start, folder: Path) -> None:
    site = await start()
    url = await site.create("orders")
    line = await site.lent_line("SendMessageBatch")
    entries = [{"Id": f"e{place}", "MessageBody": "m"} for place in range(10)]
    for _ in range(20):
        await line.ask("SendMessageBatch", {"QueueUrl": url, "Entries": entries})
    await site.stop()
    connection = apsw.Connection(str(folder / "data" / "penstock.db"))
    contents = [content for (content,) in connection.execute("SELECT content FROM message")]
    connection.close()
    assert len({content[7:19] for content in contents}) == len(contents) >= 200


async def test_traffic_is_counted_alike(start: Start) -> None:
    told = []
    for name, native in (("native", True), ("python", False)):
        site = await start(name, native=native)
        url = await site.create("orders")
        line, own = await site.lent_line(), await site.line()
        entries = [{"Id": f"e{place}", "MessageBody": "m" * (place + 1)} for place in range(5)]
        await line.ask("SendMessageBatch", {"QueueUrl": url, "Entries": entries})
        await line.ask("SendMessage", {"QueueUrl": url, "MessageBody": "mm"})
        reply = await line.ask("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 3})
        for message in reply.json["Messages"][:2] * 2:
            handle = message["ReceiptHandle"]
            await line.ask("DeleteMessage", {"QueueUrl": url, "ReceiptHandle": handle})
        await line.ask("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 10})
        await line.ask("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 10})
        await own.close()
        minutes = site.store.traffic.minutes(QueueKey(REGION, ACCOUNT, "orders"), 0, site.server.clock.now())
        told.append([sum(counts) for counts in zip(*(counted(minute) for minute in minutes), strict=True)])
    assert told[0] == told[1]
    assert told[0][:2] == [6, 6]


def counted(minute: Minute) -> tuple[int, ...]:
    return minute.sent, minute.received, minute.deleted, minute.empty, minute.bytes, minute.smallest, minute.largest

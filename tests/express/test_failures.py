"""A commit that fails while parties wait for it: each of their members is refused, or served once."""

import asyncio
from collections.abc import Iterator

import apsw
import pytest

from faults.power import Disk, installed

from .conftest import Start
from .lane import Json, Line, Reply, Site

MOMENTS = (1, 2)
"""The log is written, and it is synced."""


@pytest.fixture
def disk() -> Iterator[Disk]:
    with installed(Disk()) as disk:
        yield disk


class FullAt:
    """The disk is full at one change of a file, or from there on."""

    def __init__(self, change: int, for_good: bool = False) -> None:
        self.left, self.for_good, self.told = change, for_good, 0

    def __call__(self) -> None:
        self.left -= 1
        if self.left == 0 or (self.left < 0 and self.for_good):
            self.told += 1
            raise apsw.FullError("the disk is full, says the test")


async def at_once(asked: list[tuple[Line, str, Json]]) -> list[Reply]:
    for line, action, body in asked:
        line.writer.write(line.request(action, body))
    return list(await asyncio.gather(*(line.reply() for line, _, _ in asked)))


def check_statuses(replies: list[Reply]) -> None:
    assert {reply.status for reply in replies} <= {200, 503}
    assert all(reply.error == "ServiceUnavailableException" for reply in replies if reply.status == 503)


async def all_is_well_again(site: Site, disk: Disk, url: str) -> None:
    disk.before_change = lambda: None
    line = await site.lent_line("SendMessage")
    assert (await line.ask("SendMessage", {"QueueUrl": url, "MessageBody": "after"})).status == 200


@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("change", MOMENTS)
async def test_what_is_sent_is_stored_if_and_only_if_it_is_acknowledged(
    start: Start, disk: Disk, change: int, for_good: bool
) -> None:
    site = await start()
    url = await site.create("orders")
    lines = [await site.lent_line("SendMessage", "SendMessageBatch") for _ in range(8)]
    asked: list[tuple[Line, str, Json]] = [
        (line, "SendMessage", {"QueueUrl": url, "MessageBody": f"m{place} ".ljust(900, "x")})
        if place % 2
        else (line, "SendMessageBatch", {"QueueUrl": url, "Entries": [{"Id": "a", "MessageBody": f"m{place}"}]})
        for place, line in enumerate(lines)
    ]
    full = disk.before_change = FullAt(change, for_good)
    replies = await at_once(asked)
    check_statuses(replies)
    assert full.told
    acknowledged = [
        body["MessageBody"] if "MessageBody" in body else body["Entries"][0]["MessageBody"]
        for (_, _, body), reply in zip(asked, replies, strict=True)
        if reply.status == 200
    ]
    assert sorted(body for body, *_ in await site.peek("orders")) == sorted(acknowledged)
    await all_is_well_again(site, disk, url)
    assert sorted(body for body, *_ in await site.peek("orders")) == sorted([*acknowledged, "after"])


@pytest.mark.parametrize("change", MOMENTS)
async def test_what_is_received_or_deleted_is_so_once_or_not_at_all(start: Start, disk: Disk, change: int) -> None:
    site = await start()
    url, fresh = await site.create("orders"), await site.line()
    lines = [await site.lent_line() for _ in range(8)]
    await site.stock("orders", *(f"m{place}" for place in range(12)))
    handles = [
        message["ReceiptHandle"]
        for message in (await fresh.ask("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 4})).json["Messages"]
    ]
    asked: list[tuple[Line, str, Json]] = [
        (line, "ReceiveMessage", {"QueueUrl": url})
        if place % 2
        else (line, "DeleteMessage", {"QueueUrl": url, "ReceiptHandle": handles[place // 2]})
        for place, line in enumerate(lines)
    ]
    full = disk.before_change = FullAt(change)
    replies = await at_once(asked)
    check_statuses(replies)
    assert full.told
    done = [(action, reply) for (_, action, _), reply in zip(asked, replies, strict=True) if reply.status == 200]
    received = [message["Body"] for _, reply in done for message in reply.json.get("Messages", [])]
    assert len(set(received)) == len(received)
    deleted = sum(action == "DeleteMessage" for action, _ in done)
    visible, in_flight, _, _ = await site.counts("orders")
    assert in_flight == len(received) + 4 - deleted
    assert visible == 8 - len(received)
    await all_is_well_again(site, disk, url)


async def test_a_party_that_does_not_fit_is_undone_and_who_shared_its_commit_is_served(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage", digits=6)
    others = [await site.lent_line("ReceiveMessage") for _ in range(3)]
    await site.stock("orders", "a", "b", "c")
    site.database.execute("PRAGMA max_page_count=1")  # it cannot grow
    line.writer.write(line.request("SendMessage", {"QueueUrl": url, "MessageBody": "x" * 900_000}))
    for other in others:
        other.writer.write(other.request("ReceiveMessage", {"QueueUrl": url}))
    assert (await line.reply()).status == 503
    given = [(await other.reply()).json["Messages"][0]["Body"] for other in others]
    assert sorted(given) == ["a", "b", "c"]
    assert (await site.counts("orders"))[:3] == (0, 3, 0)


async def test_a_queue_that_goes_while_requests_for_it_wait_is_missed_by_them(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    lines, other = [await site.lent_line("SendMessage") for _ in range(5)], await site.line()
    other.writer.write(other.request("DeleteQueue", {"QueueUrl": url}))
    replies = await at_once([(line, "SendMessage", {"QueueUrl": url, "MessageBody": "m"}) for line in lines])
    assert {reply.status for reply in replies} <= {200, 400}
    assert (await other.reply()).status == 200
    assert (await lines[0].ask("SendMessage", {"QueueUrl": url, "MessageBody": "m"})).error == "QueueDoesNotExist"

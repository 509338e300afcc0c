"""Requests that native code serves without a look of Python's at each: for as long as nothing changes that matters."""

import asyncio
import gzip
import json
from typing import Any

import pytest

from .conftest import Start
from .lane import Json, Line, Site, until
from .test_signatures import a_user, iam

SEND = "SendMessage"


async def known(site: Site, url: str, *actions: str) -> Line:
    """A connection whose next requests for these are served at once."""
    line = await site.lent_line()
    for action in actions or ("SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage"):
        for _ in range(2):
            assert (await line.ask(action, await body_of(site, url, action))).status == 200
    return line


async def body_of(site: Site, url: str, action: str) -> Json:
    bodies: dict[str, Any] = {
        "SendMessage": {"MessageBody": "m"},
        "SendMessageBatch": {"Entries": [{"Id": "a", "MessageBody": "m"}, {"Id": "b", "MessageBody": "n"}]},
        "ReceiveMessage": {"MaxNumberOfMessages": 2},
    }
    if action.startswith("Delete"):
        handle = await a_handle(site, url)
        one = {"ReceiptHandle": handle}
        bodies[action] = one if action == "DeleteMessage" else {"Entries": [{"Id": "a", **one}]}
    elif action == "ReceiveMessage":
        await site.stock(url.rpartition("/")[2], "x", "y")
    return {"QueueUrl": url, **bodies[action]}


async def a_handle(site: Site, url: str) -> str:
    await site.stock(url.rpartition("/")[2], "to be deleted")
    line = await site.line()
    reply = await line.ask("ReceiveMessage", {"QueueUrl": url})
    await line.close()
    return str(reply.json["Messages"][0]["ReceiptHandle"])


@pytest.mark.parametrize("action", ["SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage"])
@pytest.mark.parametrize("encrypted", ["true", "false"])
async def test_the_second_of_two_alike_is_served_at_once(start: Start, action: str, encrypted: str) -> None:
    site = await start()
    url = await site.create("orders", SqsManagedSseEnabled=encrypted)
    line = await site.lent_line()
    served = []
    for _ in range(4):
        body, before = await body_of(site, url, action), site.at_once
        assert (await line.ask(action, body)).status == 200
        served.append(site.at_once - before)
    assert served[0] == 0
    assert served[2:] == [1, 1]


async def a_fifo_queue(site: Site) -> str:
    return await site.create("orders.fifo", FifoQueue="true", ContentBasedDeduplication="true")


def of_group(url: str, body: str, group: str = "g") -> Json:
    return {"QueueUrl": url, "MessageBody": body, "MessageGroupId": group}


async def test_messages_of_a_fifo_queue_go_through_at_once_and_in_order(start: Start) -> None:
    site = await start()
    url = await a_fifo_queue(site)
    line, seen = await site.lent_line(), []
    before = site.at_once
    told = [await line.ask(SEND, of_group(url, str(number))) for number in range(20)]
    numbers = [reply.json["SequenceNumber"] for reply in told]
    for number in range(20):
        (message,) = (await line.ask("ReceiveMessage", {"QueueUrl": url})).json["Messages"]
        if number % 10 == 0:
            assert (await line.ask("ReceiveMessage", {"QueueUrl": url})).json == {}, "its group has one in flight"
        seen.append(message["Body"])
        given = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]}
        assert (await line.ask("DeleteMessage", given)).status == 200
    assert seen == [str(number) for number in range(20)]
    assert numbers == sorted(numbers)
    assert site.at_once - before > 50
    assert (await site.counts("orders.fifo"))[:3] == (0, 0, 0)


async def test_a_duplicate_among_what_goes_through_at_once_is_told_of_the_first(start: Start) -> None:
    site = await start()
    url = await a_fifo_queue(site)
    line = await site.lent_line(SEND)
    told = [(await line.ask(SEND, of_group(url, str(number)))).json for number in range(5)]
    before = site.at_once
    assert [(await line.ask(SEND, of_group(url, str(number)))).json for number in range(5)] == told
    assert site.at_once == before
    assert (await site.counts("orders.fifo"))[:3] == (5, 0, 0)


async def test_a_queue_whose_ids_are_to_be_given_from_now_on_wants_them_with_the_next(start: Start) -> None:
    site = await start()
    url, other = await a_fifo_queue(site), await site.line()
    line = await site.lent_line(SEND)
    for number in range(3):
        assert (await line.ask(SEND, of_group(url, str(number)))).status == 200
    given = {"QueueUrl": url, "Attributes": {"ContentBasedDeduplication": "false"}}
    assert (await other.ask("SetQueueAttributes", given)).status == 200
    assert (await line.ask(SEND, of_group(url, "without"))).error == "InvalidParameterValueException"
    for number in range(3):
        body = {**of_group(url, "with"), "MessageDeduplicationId": str(number)}
        assert (await line.ask(SEND, body)).status == 200


async def test_who_waits_at_a_fifo_queue_is_told_of_what_is_sent_and_of_what_becomes_free(start: Start) -> None:
    site = await start()
    url = await a_fifo_queue(site)
    sender, waiter, other = [await site.lent_line() for _ in range(3)]
    for number in range(3):
        await sender.ask(SEND, of_group(url, f"early {number}", f"h{number}"))
        (message,) = (await waiter.ask("ReceiveMessage", {"QueueUrl": url})).json["Messages"]

    async def waiting(line: Line) -> "asyncio.Task[Any]":
        among = len(site.server.room)
        task = asyncio.create_task(line.ask("ReceiveMessage", {"QueueUrl": url, "WaitTimeSeconds": 20}))
        await until(lambda: len(site.server.room) == among + 1)
        return task

    for number in range(3):
        first, before = await waiting(waiter), site.at_once
        await sender.ask("SendMessageBatch", a_pair(url, number))
        (message,) = (await first).json["Messages"]
        assert message["Body"] == f"{number} a"
        second = await waiting(other)
        given = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]}
        assert (await sender.ask("DeleteMessage", given)).status == 200
        (message,) = (await second).json["Messages"]
        assert message["Body"] == f"{number} b"
        given = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]}
        assert (await sender.ask("DeleteMessage", given)).status == 200
    assert site.at_once > before
    await until(lambda: not len(site.server.room))


def a_pair(url: str, number: int) -> Json:
    entries = [{"Id": name, "MessageBody": f"{number} {name}", "MessageGroupId": f"g{number}"} for name in "ab"]
    return {"QueueUrl": url, "Entries": entries}


async def test_a_queue_that_takes_less_from_now_on_takes_less_of_the_next(start: Start) -> None:
    site = await start()
    url, other = await site.create("orders"), await site.line()
    line = await known(site, url, SEND)
    given = {"QueueUrl": url, "Attributes": {"MaximumMessageSize": "1024"}}
    assert (await other.ask("SetQueueAttributes", given)).status == 200
    reply = await line.ask(SEND, {"QueueUrl": url, "MessageBody": "m" * 1025})
    assert reply.error == "InvalidParameterValueException"


async def test_a_queue_that_hides_for_longer_from_now_on_hides_the_next_for_longer(start: Start) -> None:
    site = await start()
    url, other = await site.create("orders", VisibilityTimeout="600"), await site.line()
    line = await known(site, url, "ReceiveMessage")
    await other.ask("SetQueueAttributes", {"QueueUrl": url, "Attributes": {"VisibilityTimeout": "0"}})
    await site.stock("orders", "again and again")
    asked = {"QueueUrl": url, "MaxNumberOfMessages": 2}
    for _ in range(3):
        assert [m["Body"] for m in (await line.ask("ReceiveMessage", asked)).json["Messages"]] == ["again and again"]


async def test_a_delay_is_kept_by_the_next_message(start: Start) -> None:
    site = await start()
    url, other = await site.create("orders"), await site.line()
    line = await known(site, url, SEND)
    await other.ask("SetQueueAttributes", {"QueueUrl": url, "Attributes": {"DelaySeconds": "900"}})
    signs, queue_id = site.server.room.signs, await site.queue_id("orders")
    before, told = site.at_once, signs(queue_id)
    for _ in range(3):
        await line.ask(SEND, {"QueueUrl": url, "MessageBody": "m"})
    assert (await site.counts("orders"))[:3] == (2, 0, 3)
    assert site.at_once > before
    assert signs(queue_id) == told, "there is nothing to be had yet"


async def test_what_was_purged_is_gone_and_what_comes_then_is_there(start: Start) -> None:
    site = await start(purge_wait_seconds=0)
    url, other = await site.create("orders"), await site.line()
    line = await known(site, url)
    assert (await other.ask("PurgeQueue", {"QueueUrl": url})).status == 200
    for _ in range(2):
        assert (await line.ask("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 2})).json == {}
        await line.ask(SEND, {"QueueUrl": url, "MessageBody": "after"})
        (message,) = (await line.ask("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 2})).json["Messages"]
        assert message["Body"] == "after"
    assert (await site.counts("orders"))[:3] == (0, 2, 0)


async def test_a_queue_made_again_under_its_name_is_another(start: Start) -> None:
    site = await start(recreate_wait_seconds=0)
    url, other = await site.create("orders"), await site.line()
    line = await known(site, url)
    assert (await other.ask("DeleteQueue", {"QueueUrl": url})).status == 200
    assert (await line.ask(SEND, {"QueueUrl": url, "MessageBody": "m"})).error == "QueueDoesNotExist"
    await site.create("orders")
    assert await line.at_once(SEND, {"QueueUrl": url, "MessageBody": "new"})
    assert (await site.counts("orders"))[:3] == (2, 0, 0)


async def test_a_queue_gets_groups_and_the_next_receive_is_fair(start: Start) -> None:
    site = await start()
    url, other = await site.create("orders"), await site.line()
    line = await known(site, url)
    await other.ask(SEND, {"QueueUrl": url, "MessageBody": "of a group", "MessageGroupId": "g"})
    before = site.at_once
    await line.ask("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 2})
    await line.ask(SEND, {"QueueUrl": url, "MessageBody": "m"})
    assert site.at_once == before


async def test_whoever_waits_is_told_of_what_is_sent_at_once(start: Start) -> None:
    site = await start()
    url, sender = await site.create("orders"), await site.lent_line(SEND)
    assert await sender.at_once(SEND, {"QueueUrl": url, "MessageBody": "before"})
    plain, lent = await site.line(), await site.lent_line("ReceiveMessage")
    for _ in range(2):
        assert len((await plain.ask("ReceiveMessage", {"QueueUrl": url})).json["Messages"]) == 1
    served = []
    for line in (plain, lent, lent):
        waiting = asyncio.create_task(line.ask("ReceiveMessage", {"QueueUrl": url, "WaitTimeSeconds": 20}))
        await until(lambda: len(site.server.room))
        before = site.at_once
        await sender.ask(SEND, {"QueueUrl": url, "MessageBody": "after"})
        assert [message["Body"] for message in (await waiting).json["Messages"]] == ["after"]
        served.append(site.at_once - before)
    assert served == [0, 1, 1], "who waits where Python serves him is told by Python"
    await until(lambda: not len(site.server.room))
    assert site.server.room.lines == {}


async def test_of_several_who_wait_the_first_are_called_and_the_others_stay_in_line(start: Start) -> None:
    site = await start()
    url, sender = await site.create("orders"), await site.lent_line(SEND, "SendMessageBatch")
    entries = [{"Id": str(number), "MessageBody": str(number)} for number in range(2)]
    batch: Json = {"QueueUrl": url, "Entries": entries}
    assert await sender.at_once("SendMessageBatch", batch)
    lines = [await site.lent_line("ReceiveMessage") for _ in range(4)]
    for _ in range(4):
        assert (await lines[0].ask("ReceiveMessage", {"QueueUrl": url})).json["Messages"]
    waiting = []
    for place, line in enumerate(lines):
        asked = line.ask("ReceiveMessage", {"QueueUrl": url, "WaitTimeSeconds": 20})
        waiting.append(asyncio.create_task(asked))
        await until(lambda place=place: len(site.server.room) == place + 1)  # type: ignore[misc]
    before = site.at_once
    await sender.ask("SendMessageBatch", batch)
    assert site.at_once == before + 1
    assert [[m["Body"] for m in (await one).json["Messages"]] for one in waiting[:2]] == [["0"], ["1"]]
    await until(lambda: len(site.server.room) == 2)
    await sender.ask("SendMessageBatch", batch)
    assert [[m["Body"] for m in (await one).json["Messages"]] for one in waiting[2:]] == [["0"], ["1"]]
    requests = site.server.metrics.requests
    counted = sum(histogram.count for (name, _), histogram in requests.items() if name == "ReceiveMessage")
    assert counted == 8 + await warming(site)


async def warming(site: Site) -> int:
    """How many receives there were at the queue that only makes heads known."""
    (key,) = [key for key in site.store.traffic.queues() if key.name == "warm"]
    minutes = site.store.traffic.minutes(key, 0, site.server.clock.now())
    return sum(minute.received + minute.empty for minute in minutes)


async def test_who_was_called_in_vain_goes_on_waiting(start: Start) -> None:
    """Another who came at the same moment took what it was called for."""
    site = await start()
    url, sender = await site.create("orders"), await site.lent_line(SEND)
    assert await sender.at_once(SEND, {"QueueUrl": url, "MessageBody": "before"})
    waiter, other = await site.lent_line("ReceiveMessage"), await site.lent_line("ReceiveMessage")
    for _ in range(2):
        assert (await other.ask("ReceiveMessage", {"QueueUrl": url})).json["Messages"]
    waiting = asyncio.create_task(waiter.ask("ReceiveMessage", {"QueueUrl": url, "WaitTimeSeconds": 20}))
    await until(lambda: len(site.server.room))
    sender.writer.write(sender.request(SEND, {"QueueUrl": url, "MessageBody": "one"}))
    other.writer.write(other.request("ReceiveMessage", {"QueueUrl": url}))
    assert (await sender.reply()).status == 200
    if (await other.reply()).json:
        await sender.ask(SEND, {"QueueUrl": url, "MessageBody": "two"})
    assert len((await waiting).json["Messages"]) == 1


async def test_who_waited_and_may_no_more_is_given_nothing(start: Start) -> None:
    site = await start()
    url, root = await site.create("orders"), await site.line()
    ann = await a_user(site, root)
    sender, waiter = await site.lent_line(SEND), await site.lent_line("ReceiveMessage", who=ann)
    assert await sender.at_once(SEND, {"QueueUrl": url, "MessageBody": "before"})
    for _ in range(2):
        assert (await waiter.ask("ReceiveMessage", {"QueueUrl": url})).json["Messages"]
    waiting = asyncio.create_task(waiter.ask("ReceiveMessage", {"QueueUrl": url, "WaitTimeSeconds": 20}))
    await until(lambda: len(site.server.room))
    await iam(site, root, "DeleteUserPolicy", UserName="ann", PolicyName="all")
    await sender.ask(SEND, {"QueueUrl": url, "MessageBody": "after"})
    assert (await waiting).error == "AccessDeniedException"
    assert (await site.counts("orders"))[:3] == (1, 2, 0)


async def test_messages_due_come_back_though_nothing_but_rounds_goes_on(start: Start) -> None:
    site = await start()
    url = await site.create("orders", VisibilityTimeout="1")
    line = await known(site, url, SEND, "ReceiveMessage")
    await line.ask(SEND, {"QueueUrl": url, "MessageBody": "last"})
    seen: list[str] = []
    async with asyncio.timeout(10):
        while seen.count("last") < 2:
            reply = await line.ask("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 2})
            seen += [message["Body"] for message in reply.json.get("Messages", ())]
            await asyncio.sleep(0.01)


async def test_counts_metrics_and_the_journal_know_of_everything(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    lines = [await site.lent_line() for _ in range(8)]

    async def life(line: Line, place: int) -> None:
        for number in range(12):
            await line.ask(SEND, {"QueueUrl": url, "MessageBody": f"{place} {number}"})
            (message,) = (await line.ask("ReceiveMessage", {"QueueUrl": url})).json["Messages"]
            if number % 3:
                await line.ask("DeleteMessage", {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]})

    before = site.at_once
    await asyncio.gather(*(life(line, place) for place, line in enumerate(lines)))
    assert site.at_once - before > 100
    assert (await site.counts("orders"))[:3] == (0, 32, 0)
    now = site.server.clock.now()
    (key,) = [key for key in site.store.traffic.queues() if key.name == "orders"]
    minutes = site.store.traffic.minutes(key, 0, now)
    assert sum(minute.sent for minute in minutes) == 96
    assert sum(minute.received for minute in minutes) == 96
    assert sum(minute.deleted for minute in minutes) == 64
    await site.stop()
    events: list[str] = []
    numbers: list[int] = []
    for path in site.server.settings.journal_directory.rglob("*.jsonl*"):
        data = path.read_bytes()
        for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines():
            event = json.loads(line)
            numbers.append(event["seq"])
            events += [event["event"]] * (event["queue"] == "orders")
    assert sorted(numbers) == list(range(min(numbers), max(numbers) + 1))
    assert [events.count(name) for name in ("SENT", "RECEIVED", "DELETED")] == [96, 96, 64]

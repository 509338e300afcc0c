"""Rows 70–78: what the three batch actions have in common."""

from typing import Any

import pytest

from .clients import Client
from .harness import Queue, World, make, row

ENTRY: dict[str, dict[str, Any]] = {
    "SendMessageBatch": {"MessageBody": "m"},
    "DeleteMessageBatch": {"ReceiptHandle": "garbage"},
    "ChangeMessageVisibilityBatch": {"ReceiptHandle": "garbage", "VisibilityTimeout": 1},
}
every_batch = pytest.mark.parametrize("action", ENTRY)
BAD_ID = (
    "A batch entry id can only contain alphanumeric characters, hyphens and underscores. "
    "It can be at most 80 letters long."
)


async def queue_with(client: Client, messages: int) -> tuple[Queue, list[dict[str, Any]]]:
    queue = await make(client, "orders")
    for number in range(messages):
        await queue.send(str(number))
    return queue, await queue.receive() if messages else []


@row(70)
@every_batch
async def test_a_batch_has_an_entry(client: Client, action: str) -> None:
    queue = await make(client, "orders")
    message = f"There should be at least one {action}RequestEntry in the request."
    await queue.refuses("EmptyBatchRequest", message, action, Entries=[])


@row(71)
@every_batch
@pytest.mark.parametrize("number", [11, 20])
async def test_a_batch_has_ten_entries_at_most(client: Client, action: str, number: int) -> None:
    queue = await make(client, "orders")
    entries = [{"Id": str(n)} | ENTRY[action] for n in range(number)]
    message = f"Maximum number of entries per request are 10. You have sent {number}."
    await queue.refuses("TooManyEntriesInBatchRequest", message, action, Entries=entries)
    assert await queue.counts() == (0, 0, 0)


@row(71)
async def test_ten_entries_are_not_too_many(client: Client) -> None:
    queue = await make(client, "orders")
    sent = await queue.send_batch(*({"Id": str(n), "MessageBody": str(n)} for n in range(10)))
    assert [entry["Id"] for entry in sent["Successful"]] == [str(n) for n in range(10)]
    taken = await queue.receive()
    entries = [{"Id": m["Body"], "ReceiptHandle": m["ReceiptHandle"]} for m in taken]
    hidden = await queue.do(
        "ChangeMessageVisibilityBatch", Entries=[entry | {"VisibilityTimeout": 99} for entry in entries]
    )
    assert hidden == {"Successful": [{"Id": entry["Id"]} for entry in entries]}
    deleted = await queue.do("DeleteMessageBatch", Entries=entries)
    assert deleted == {"Successful": [{"Id": entry["Id"]} for entry in entries]}
    assert await queue.counts() == (0, 0, 0)


@row(72, 78)
@every_batch
async def test_the_ids_of_a_batch_are_distinct(client: Client, action: str) -> None:
    queue = await make(client, "orders")
    entries = [{"Id": name} | ENTRY[action] for name in ("idA", "idB", "idA")]
    await queue.refuses("BatchEntryIdsNotDistinct", "Id idA repeated.", action, Entries=entries)
    assert await queue.counts() == (0, 0, 0)


@row(73)
@every_batch
@pytest.mark.parametrize("name", ["", "a" * 81, "invalid:id", "a b", "ä", "a.b", "a\n"])
async def test_an_id_is_a_short_word(client: Client, action: str, name: str) -> None:
    queue = await make(client, "orders")
    entries = [{"Id": "good"} | ENTRY[action], {"Id": name} | ENTRY[action]]
    await queue.refuses("InvalidBatchEntryId", BAD_ID, action, Entries=entries)
    assert await queue.counts() == (0, 0, 0)


@row(73)
async def test_an_id_of_eighty_letters_is_short_enough(client: Client) -> None:
    queue = await make(client, "orders")
    names = ["a" * 80, "A-z_09"]
    sent = await queue.send_batch(*({"Id": name, "MessageBody": "m"} for name in names))
    assert [entry["Id"] for entry in sent["Successful"]] == names


@row(74)
async def test_a_fifo_entry_without_a_group_spoils_the_batch(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    good = {"Id": "1", "MessageBody": "m", "MessageGroupId": "g", "MessageDeduplicationId": "1"}
    bad = {"Id": "2", "MessageBody": "m", "MessageDeduplicationId": "2"}
    message = "The request must contain the parameter MessageGroupId."
    await queue.refuses("InvalidParameterValue", message, "SendMessageBatch", Entries=[good, bad])
    single = {"MessageBody": "m", "MessageDeduplicationId": "2"}
    await queue.refuses("MissingParameter", message, "SendMessage", **single)
    assert await queue.counts() == (0, 0, 0)


@row(75)
async def test_a_fifo_entry_without_a_deduplication_id_spoils_the_batch(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    good = {"Id": "1", "MessageBody": "m", "MessageGroupId": "g", "MessageDeduplicationId": "1"}
    bad = {"Id": "2", "MessageBody": "m", "MessageGroupId": "g"}
    message = (
        "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"
    )
    await queue.refuses("InvalidParameterValue", message, "SendMessageBatch", Entries=[good, bad])
    assert await queue.counts() == (0, 0, 0)


@row(76)
async def test_each_entry_succeeds_or_fails_by_itself_in_the_order_of_the_request(client: Client) -> None:
    queue = await make(client, "orders")
    bodies = {"a": "m", "b": "\x01", "c": "m", "d": "\x02", "e": "m"}
    result = await queue.send_batch(*({"Id": name, "MessageBody": body} for name, body in bodies.items()))
    assert [entry["Id"] for entry in result["Successful"]] == ["a", "c", "e"]
    assert [entry["Id"] for entry in result["Failed"]] == ["b", "d"]
    assert all(entry.keys() == {"Id", "Code", "Message", "SenderFault"} for entry in result["Failed"])
    assert await queue.counts() == (3, 0, 0)


@row(76)
async def test_a_list_that_would_be_empty_is_left_out(client: Client) -> None:
    queue = await make(client, "orders")
    assert (await queue.send_batch({"Id": "1", "MessageBody": "m"})).keys() == {"Successful"}
    assert (await queue.send_batch({"Id": "1", "MessageBody": "\x01"})).keys() == {"Failed"}


@row(77)
async def test_one_bad_handle_does_not_keep_the_others_from_being_deleted(client: Client) -> None:
    queue, messages = await queue_with(client, 3)
    entries = [{"Id": m["Body"], "ReceiptHandle": m["ReceiptHandle"]} for m in messages]
    entries[1]["ReceiptHandle"] = "garbage"
    result = await queue.do("DeleteMessageBatch", Entries=entries)
    assert result["Successful"] == [{"Id": "0"}, {"Id": "2"}]
    assert result["Failed"] == [
        {
            "Id": "1",
            "Code": "ReceiptHandleIsInvalid",
            "Message": 'The input receipt handle "garbage" is not a valid receipt handle.',
            "SenderFault": True,
        }
    ]
    assert await queue.counts() == (0, 1, 0)


@row(77)
async def test_a_handle_of_another_queue_fails_alone(client: Client) -> None:
    queue, (message,) = await queue_with(client, 1)
    other = await make(client, "other")
    await other.send()
    theirs = (await other.take())["ReceiptHandle"]
    entries = [{"Id": "mine", "ReceiptHandle": message["ReceiptHandle"]}, {"Id": "theirs", "ReceiptHandle": theirs}]
    result = await queue.do("DeleteMessageBatch", Entries=entries)
    assert result["Successful"] == [{"Id": "mine"}]
    assert [(e["Id"], e["Code"], e["Message"]) for e in result["Failed"]] == [
        ("theirs", "ReceiptHandleIsInvalid", f'The receipt handle "{theirs}" is not valid for this queue.')
    ]
    assert await other.counts() == (0, 1, 0)


@row(77)
async def test_the_same_message_twice_in_a_batch_is_deleted_once_and_well(client: Client) -> None:
    queue, (message,) = await queue_with(client, 1)
    handle = message["ReceiptHandle"]
    result = await queue.do(
        "DeleteMessageBatch", Entries=[{"Id": name, "ReceiptHandle": handle} for name in ("1", "2")]
    )
    assert result == {"Successful": [{"Id": "1"}, {"Id": "2"}]}
    assert await queue.counts() == (0, 0, 0)


@row(77)
async def test_an_expired_fifo_handle_fails_alone(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo")
    await queue.send("a", MessageGroupId="a")
    await queue.send("b", MessageGroupId="b")
    late, kept = await queue.receive(VisibilityTimeout=10)
    await queue.hide(kept, 100)
    world.advance(10)
    entries = [{"Id": m["Body"], "ReceiptHandle": m["ReceiptHandle"]} for m in (late, kept)]
    result = await queue.do("DeleteMessageBatch", Entries=entries)
    assert result["Successful"] == [{"Id": "b"}]
    handle = late["ReceiptHandle"]
    message = f"Value {handle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."
    assert [(e["Id"], e["Code"], e["Message"]) for e in result["Failed"]] == [("a", "InvalidParameterValue", message)]


@row(78)
async def test_an_entry_without_a_visibility_fails_alone(world: World, client: Client) -> None:
    queue, messages = await queue_with(client, 3)
    entries = [{"Id": m["Body"], "ReceiptHandle": m["ReceiptHandle"], "VisibilityTimeout": 100} for m in messages]
    del entries[1]["VisibilityTimeout"]
    entries[2]["VisibilityTimeout"] = 0
    result = await queue.do("ChangeMessageVisibilityBatch", Entries=entries)
    assert result["Successful"] == [{"Id": "0"}, {"Id": "2"}]
    message = "The request must contain the parameter ChangeMessageVisibilityBatchRequestEntry.2.VisibilityTimeout."
    assert result["Failed"] == [{"Id": "1", "Code": "MissingParameter", "Message": message, "SenderFault": True}]
    assert await queue.bodies(VisibilityTimeout=600) == ["2"]
    world.advance(30)
    assert await queue.bodies(VisibilityTimeout=600) == ["1"]
    world.advance(70)
    assert await queue.bodies() == ["0"]

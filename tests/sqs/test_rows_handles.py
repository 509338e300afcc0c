"""Rows 1–11: receipt handles, and what they delete."""

import pytest

from .clients import Client
from .harness import World, make, row

GONE = "Message does not exist or is not available for visibility timeout change."


def about(handle: str, reason: str) -> str:
    return f"Value {handle} for parameter ReceiptHandle is invalid. Reason: {reason}"


@row(1)
async def test_every_delivery_of_a_message_has_a_handle_of_its_own(client: Client) -> None:
    queue = await make(client, "orders")
    sent = await queue.send()
    first, second = await queue.take(VisibilityTimeout=0), await queue.take()
    assert first["MessageId"] == second["MessageId"] == sent["MessageId"]
    assert first["ReceiptHandle"] != second["ReceiptHandle"]


@row(2)
async def test_a_standard_message_is_deleted_by_its_latest_handle_even_when_it_is_visible_again(
    world: World, client: Client
) -> None:
    queue = await make(client, "orders")
    await queue.send()
    message = await queue.take(VisibilityTimeout=10)
    world.advance(11)
    assert await queue.counts() == (1, 0, 0)
    await queue.delete(message)
    assert await queue.counts() == (0, 0, 0)
    assert await queue.receive() == []


@row(3, differs=True)
async def test_a_superseded_handle_is_answered_kindly_but_deletes_nothing(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    first = await queue.take(VisibilityTimeout=1)
    world.advance(2)
    second = await queue.take()
    await queue.delete(first)
    assert await queue.counts() == (0, 1, 0)
    await queue.delete(second)
    assert await queue.counts() == (0, 0, 0)


@row(4)
async def test_a_fifo_message_is_not_deleted_once_its_window_is_over(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo")
    await queue.send()
    handle = (await queue.take(VisibilityTimeout=10))["ReceiptHandle"]
    world.advance(10)
    expired = about(handle, "The receipt handle has expired.")
    await queue.refuses("InvalidParameterValue", expired, "DeleteMessage", ReceiptHandle=handle)
    assert await queue.counts() == (1, 0, 0)


@row(5)
async def test_a_fifo_message_is_deleted_within_an_extension(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo")
    await queue.send()
    message = await queue.take(VisibilityTimeout=5)
    await queue.hide(message, 60)
    world.advance(59.999)
    await queue.delete(message)
    assert await queue.counts() == (0, 0, 0)


@row(6)
@pytest.mark.parametrize("name", ["orders", "orders.fifo"])
async def test_deleting_again_is_no_error(client: Client, name: str) -> None:
    queue = await make(client, name)
    await queue.send()
    message = await queue.take()
    await queue.delete(message, message, message)
    assert await queue.counts() == (0, 0, 0)


@row(7, differs=True)
@row(10)
@pytest.mark.parametrize(
    ("action", "more"), [("DeleteMessage", {}), ("ChangeMessageVisibility", {"VisibilityTimeout": 1})]
)
async def test_a_garbage_handle_is_not_a_handle(client: Client, action: str, more: dict[str, int]) -> None:
    queue = await make(client, "orders")
    message = 'The input receipt handle "garbage" is not a valid receipt handle.'
    await queue.refuses("ReceiptHandleIsInvalid", message, action, ReceiptHandle="garbage", **more)


@row(8)
@pytest.mark.parametrize(
    ("action", "more"), [("DeleteMessage", {}), ("ChangeMessageVisibility", {"VisibilityTimeout": 0})]
)
async def test_a_handle_of_another_queue_is_of_no_use_here(client: Client, action: str, more: dict[str, int]) -> None:
    mine, theirs = await make(client, "mine"), await make(client, "theirs")
    for queue in (mine, theirs):
        await queue.send()
    handle = (await theirs.take())["ReceiptHandle"]
    message = f'The receipt handle "{handle}" is not valid for this queue.'
    await mine.refuses("ReceiptHandleIsInvalid", message, action, ReceiptHandle=handle, **more)
    assert await mine.counts() == (1, 0, 0)
    assert await theirs.counts() == (0, 1, 0)


@row(9)
@pytest.mark.parametrize("swept", [False, True])
async def test_deleting_what_has_expired_is_no_error(world: World, client: Client, swept: bool) -> None:
    queue = await make(client, "orders", MessageRetentionPeriod=60)
    await queue.send()
    message = await queue.take(VisibilityTimeout=3600)
    world.advance(61)
    if swept:
        await world.tend()
    await queue.delete(message)
    assert await queue.counts() == (0, 0, 0)


@row(11)
@pytest.mark.parametrize("name", ["orders", "orders.fifo"])
async def test_the_visibility_of_a_deleted_message_cannot_be_changed(client: Client, name: str) -> None:
    queue = await make(client, name)
    await queue.send()
    message = await queue.take()
    await queue.delete(message)
    handle = message["ReceiptHandle"]
    change = {"ReceiptHandle": handle, "VisibilityTimeout": 10}
    await queue.refuses("InvalidParameterValue", about(handle, GONE), "ChangeMessageVisibility", **change)


@row(2, differs=True)
async def test_a_handle_does_not_grow_old(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    message = await queue.take(VisibilityTimeout=43200)
    world.advance(3 * 24 * 3600)
    await queue.delete(message)
    assert await queue.counts() == (0, 0, 0)

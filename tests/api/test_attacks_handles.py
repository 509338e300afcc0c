"""Attacks on receipt handles: made up, cut short, of another queue, of another account with such a queue."""

import base64

import pytest

from sqs.harness import STRANGER, Queue, World, make

USES = {
    "DeleteMessage": {},
    "ChangeMessageVisibility": {"VisibilityTimeout": 0},
}


@pytest.fixture(params=["json", "query"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def held(queue: Queue) -> str:
    """The handle of a message that is in flight."""
    await queue.send("private")
    return str((await queue.take())["ReceiptHandle"])


async def check_useless(queue: Queue, handle: str) -> None:
    """For nothing that a handle is good for, alone or in a batch."""
    for action, more in USES.items():
        reply = await queue.call(action, ReceiptHandle=handle, **more)
        assert (reply.status, reply.error_code) == (404, "ReceiptHandleIsInvalid")
        batch = await queue.do(f"{action}Batch", Entries=[{"Id": "a", "ReceiptHandle": handle, **more}])
        assert [failed["Code"] for failed in batch["Failed"]] == ["ReceiptHandleIsInvalid"]
        assert not batch.get("Successful")


async def test_the_handle_of_another_account_is_useless_at_ones_own_queue_of_that_name(
    world: World, protocol: str
) -> None:
    theirs = await make(world.client(protocol), "orders")
    mine = await make(world.client(protocol, STRANGER), "orders")
    handle = await held(theirs)
    await held(mine)
    await check_useless(mine, handle)
    assert await theirs.counts() == (0, 1, 0)
    assert await mine.counts() == (0, 1, 0)


async def test_the_handle_of_another_account_is_useless_at_its_own_queue(world: World, protocol: str) -> None:
    theirs = await make(world.client(protocol), "orders")
    handle = await held(theirs)
    stranger = Queue(world.client(protocol, STRANGER), theirs.url)
    for action, more in USES.items():
        reply = await stranger.call(action, ReceiptHandle=handle, **more)
        assert (reply.status, reply.error_code) == (403, "AccessDenied")
    assert await theirs.counts() == (0, 1, 0)


async def test_the_handle_of_a_queue_that_was_deleted_is_useless_at_the_next_of_that_name(
    world: World, protocol: str
) -> None:
    client = world.client(protocol)
    first = await make(client, "orders")
    handle = await held(first)
    await first.do("DeleteQueue")
    world.advance(61)
    again = await make(client, "orders")
    await held(again)
    await check_useless(again, handle)
    assert await again.counts() == (0, 1, 0)


async def test_a_handle_that_was_cut_short_or_made_longer_is_useless(world: World, protocol: str) -> None:
    queue = await make(world.client(protocol), "orders")
    handle = await held(queue)
    sealed = base64.b64decode(handle)
    for length in range(1, len(sealed)):
        await check_useless(queue, base64.b64encode(sealed[:length]).decode())
    for longer in (sealed + b"\0", b"\0" + sealed, sealed * 2):
        await check_useless(queue, base64.b64encode(longer).decode())
    assert await queue.counts() == (0, 1, 0)


async def test_a_handle_with_a_bit_flipped_is_useless(world: World, protocol: str) -> None:
    queue = await make(world.client(protocol), "orders")
    sealed = base64.b64decode(await held(queue))
    for place in range(len(sealed)):
        flipped = bytearray(sealed)
        flipped[place] ^= 0x10
        await check_useless(queue, base64.b64encode(flipped).decode())
    assert await queue.counts() == (0, 1, 0)


async def test_a_handle_put_together_from_two_is_useless(world: World, protocol: str) -> None:
    """The head of one message's handle and the seal of another's."""
    queue = await make(world.client(protocol), "orders")
    first, second = base64.b64decode(await held(queue)), base64.b64decode(await held(queue))
    assert len(first) == len(second)
    for cut in range(1, len(first)):
        spliced = first[:cut] + second[cut:]
        if spliced not in (first, second):
            await check_useless(queue, base64.b64encode(spliced).decode())
    assert await queue.counts() == (0, 2, 0)

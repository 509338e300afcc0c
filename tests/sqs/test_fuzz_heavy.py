"""Good requests made bad by chance: an error of the protocol's own form goes out, and nothing is changed."""

import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_from_bytes, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.stores.sqlite import SqliteStore

from .clients import PROTOCOLS, Client, flattened
from .golden import GREETING, MD5_OF_TRACE, string
from .harness import ACCOUNT, Queue, World, make, make_with_dead_letters

many = settings(
    max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(
        ["All", "", "null", "true", "-1", "0", "\0", "é", "{}", "[]", "x" * 300, "orders", "arn:aws:sqs:::"]
    )
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=4,
)


HANDLE = "HANDLE-TO-COME"
"""Stands in a request until it is sent: what is drawn must not depend on what the server said."""


def requests(queue: Queue, dead: Queue) -> dict[str, dict[str, Any]]:
    """A good one of every action that can be repeated."""
    url = {"QueueUrl": queue.url}
    message = {"MessageBody": "m", "DelaySeconds": 1, "MessageAttributes": GREETING, "MessageGroupId": "g"}
    system = {"MessageSystemAttributes": {"AWSTraceHeader": string(next(iter(MD5_OF_TRACE)))}}
    held = {"ReceiptHandle": HANDLE}
    change = held | {"VisibilityTimeout": 100}
    names = {"AttributeNames": ["All"], "MessageAttributeNames": ["Hel.*"], "MessageSystemAttributeNames": ["SenderId"]}
    redrive = json.dumps({"deadLetterTargetArn": dead.arn, "maxReceiveCount": 3})
    attributes = {"DelaySeconds": "1", "Policy": '{"Statement":[]}', "RedrivePolicy": redrive}
    attributes |= {"RedriveAllowPolicy": '{"redrivePermission":"denyAll"}'}
    return {
        "AddPermission": url | {"Label": "l", "AWSAccountIds": [ACCOUNT], "Actions": ["SendMessage"]},
        "CancelMessageMoveTask": {"TaskHandle": "eyJ0YXNrSWQiOiJ4Iiwic291cmNlQXJuIjoieSJ9"},
        "ChangeMessageVisibility": url | change,
        "ChangeMessageVisibilityBatch": url | {"Entries": [{"Id": "1"} | change, {"Id": "2"} | change]},
        "CreateQueue": {"QueueName": "new", "Attributes": attributes, "tags": {"k": "v"}},
        "DeleteMessage": url | held,
        "DeleteMessageBatch": url | {"Entries": [{"Id": "1"} | held, {"Id": "2"} | held]},
        "GetQueueAttributes": url | {"AttributeNames": ["All", "Policy"]},
        "GetQueueUrl": {"QueueName": "orders", "QueueOwnerAWSAccountId": ACCOUNT},
        "ListDeadLetterSourceQueues": {"QueueUrl": dead.url, "MaxResults": 1},
        "ListMessageMoveTasks": {"SourceArn": dead.arn, "MaxResults": 1},
        "ListQueues": {"QueueNamePrefix": "o", "MaxResults": 1, "NextToken": "b3JkZXJz"},
        "ReceiveMessage": url | names | {"MaxNumberOfMessages": 1, "WaitTimeSeconds": 1, "VisibilityTimeout": 1},
        "RemovePermission": url | {"Label": "l"},
        "SendMessage": url | message | system,
        "SendMessageBatch": url | {"Entries": [{"Id": "1"} | message, {"Id": "2"} | message | system]},
        "SetQueueAttributes": url | {"Attributes": attributes},
        "StartMessageMoveTask": {"SourceArn": dead.arn, "DestinationArn": queue.arn, "MaxNumberOfMessagesPerSecond": 5},
        "TagQueue": url | {"Tags": {"k": "v"}},
        "UntagQueue": url | {"TagKeys": ["k"]},
    }


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container and key within a value."""
    keys = range(len(value)) if isinstance(value, list) else list(value) if isinstance(value, dict) else ()
    found = [(value, key) for key in keys]
    for key in keys:
        found += places(value[key])
    return found


def changed_json(draw: st.DataObject, params: dict[str, Any]) -> bytes:
    request = json.loads(json.dumps(params))
    for _ in range(draw.draw(st.integers(1, 2))):
        container, key = draw.draw(st.sampled_from(places(request)))
        if draw.draw(st.booleans()):
            container[key] = draw.draw(values)
        elif isinstance(container, dict):
            value = container.pop(key)
            if draw.draw(st.booleans()):
                container[draw.draw(st.text(max_size=6))] = value
        if not request:
            break
    return json.dumps(request).encode()


def changed_form(draw: st.DataObject, action: str, params: dict[str, Any]) -> bytes:
    pairs = [("Action", action), *flattened(action, params)]
    for _ in range(draw.draw(st.integers(1, 2))):
        place = draw.draw(st.integers(0, len(pairs) - 1))
        name, value = pairs[place]
        match draw.draw(st.sampled_from(["value", "name", "drop", "repeat", "index", "deeper"])):
            case "value":
                pairs[place] = name, draw.draw(st.text(max_size=12) | scalars.map(str))
            case "name":
                pairs[place] = draw.draw(st.text(max_size=12)), value
            case "drop" if place:
                del pairs[place]
            case "repeat":
                pairs.append((name, value))
            case "index":
                pairs[place] = (
                    name.replace(".1", draw.draw(st.sampled_from([".0", ".01", ".-1", ".99", ".", ".x"]))),
                    value,
                )
            case "deeper":
                pairs[place] = f"{name}.1", value
    return urlencode(pairs).encode()


def garbled(draw: st.DataObject, body: bytes) -> bytes:
    """Cut, doubled or overwritten somewhere."""
    start = draw.draw(st.integers(0, len(body)))
    end = draw.draw(st.integers(start, min(len(body), start + 8)))
    middle = draw.draw(st.binary(max_size=4) | st.just(body[start:end] * 2))
    return body[:start] + middle + body[end:]


async def state(queue: Queue, dead: Queue) -> Any:
    listed = (await queue.client.call("ListQueues")).result
    return await queue.attributes("All"), await dead.attributes("All"), await queue.do("ListQueueTags"), listed


@asynccontextmanager
async def new_world(folder: Path) -> AsyncIterator[World]:
    """One for every example, so that it can be repeated."""
    store = SqliteStore(Path(tempfile.mkdtemp(dir=folder)) / "penstock.db")
    await store.open()
    world = World(store)
    world.room.close()  # nobody waits
    try:
        yield world
    finally:
        await store.close()
        shutil.rmtree(store.path.parent)


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
@given(draw=st.data())
@many
async def test_no_request_breaks_the_server(folder: Path, protocol: str, draw: st.DataObject) -> None:
    async with new_world(folder) as world:
        client = world.client(protocol)
        queue, dead = await make_with_dead_letters(client, "orders", 1000)
        await queue.send()
        handle = (await queue.take(VisibilityTimeout=0))["ReceiptHandle"]
        action, params = draw.draw(st.sampled_from(list(requests(queue, dead).items())))
        body = changed_json(draw, params) if protocol == "json" else changed_form(draw, action, params)
        if draw.draw(st.booleans()):
            body = garbled(draw, body)
        body = body.replace(HANDLE.encode(), (quote(handle, safe="") if protocol == "query" else handle).encode())
        before = await state(queue, dead)
        answer = await client.raw(action, body)
        assert answer.status < 500, (action, body, answer.body)
        if answer.status == 404 and answer.body == NO_ACTION:
            assert await state(queue, dead) == before
        elif not client.read(named_action(client, action, answer.body), answer).ok:
            assert await state(queue, dead) == before, (action, body, answer.body)


NO_ACTION = b'<?xml version="1.0"?><UnknownOperationException/>\n'


def named_action(client: Client, action: str, body: bytes) -> str:
    """A garbled form may have asked for something else."""
    if client.protocol == "json" or b"Response" not in body or b"ErrorResponse" in body:
        return action
    return body.partition(b"?><")[2].partition(b"Response")[0].decode()


@given(body=st.binary(max_size=64))
@many
async def test_no_bytes_break_the_server(world: World, client: Client, body: bytes) -> None:
    answer = await client.raw("SendMessage", body)
    assert 400 <= answer.status < 500


@given(path=st.binary(max_size=24), query=st.binary(max_size=24))
@many
async def test_no_path_breaks_the_server(world: World, client: Client, path: bytes, query: bytes) -> None:
    await make(client, "orders")
    target = f"/{quote_from_bytes(path)}?Action=ReceiveMessage&{quote_from_bytes(query, safe='=&')}"
    answer = await client._send("POST", target, {"Content-Type": "application/x-www-form-urlencoded"}, b"")
    assert 400 <= answer.status < 500

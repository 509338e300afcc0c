"""The traffic of `penstock demo`: a producer and a consumer for each queue, some of which fail."""

import json
import random
import threading
import time
from typing import Any, NamedTuple

import botocore.session

TEN = 10


class Lane(NamedTuple):
    account: str
    queue: str
    type: str
    batches_a_second: float
    """Of ten messages each."""
    handling_seconds: float
    """For ten messages: a consumer that takes longer than its producer falls behind."""
    failing: float = 0.0
    """The share of deliveries after which the message is not deleted."""
    groups: int = 0


LANES = (
    Lane("000000000000", "orders", "order.placed", 12, 0.03, failing=0.2),
    Lane("000000000000", "payments.fifo", "payment", 4, 0.05, failing=0.01, groups=8),
    Lane("000000000000", "mail", "mail", 5, 0.30),
    Lane("111122223333", "thumbnails", "image.added", 8, 0.08),
    Lane("444455556666", "webhooks", "hook", 3, 0.10, failing=0.35),
)


def keys(account: str) -> tuple[str, str]:
    return f"DEMO{account}", f"demo-secret-of-{account}"


def run(url: str, seconds: float) -> int:
    """How many messages were sent."""
    clients = {account: _client(url, account) for account in {lane.account for lane in LANES}}
    until = time.monotonic() + seconds
    sent: list[int] = []
    roles = [
        threading.Thread(target=role, args=(lane, clients[lane.account], until, sent))
        for lane in LANES
        for role in (_produce, _consume)
    ]
    for role in roles:
        role.start()
    for role in roles:
        role.join()
    return sum(sent)


def _client(url: str, account: str) -> Any:
    access_key, secret_key = keys(account)
    return botocore.session.Session().create_client(
        "sqs",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
    )


def _produce(lane: Lane, client: Any, until: float, sent: list[int]) -> None:
    queue = client.get_queue_url(QueueName=lane.queue)["QueueUrl"]
    number = 0
    while time.monotonic() < until:
        entries = [_entry(lane, number + place) for place in range(TEN)]
        client.send_message_batch(QueueUrl=queue, Entries=entries)
        number += TEN
        time.sleep(random.expovariate(lane.batches_a_second))
    sent.append(number)


def _entry(lane: Lane, number: int) -> dict[str, Any]:
    body = {"number": number, "of": lane.queue, "padding": "·" * random.randrange(600)}
    entry = {
        "Id": str(number % TEN),
        "MessageBody": json.dumps(body),
        "MessageAttributes": {"bus.type": {"DataType": "String", "StringValue": lane.type}},
    }
    if lane.groups:
        once = f"{time.time_ns()}-{number}"
        entry |= {"MessageGroupId": f"customer-{number % lane.groups}", "MessageDeduplicationId": once}
    return entry


def _consume(lane: Lane, client: Any, until: float, sent: list[int]) -> None:
    queue = client.get_queue_url(QueueName=lane.queue)["QueueUrl"]
    while time.monotonic() < until:
        got = client.receive_message(QueueUrl=queue, MaxNumberOfMessages=TEN, WaitTimeSeconds=1).get("Messages", [])
        time.sleep(lane.handling_seconds * random.uniform(0.5, 1.5))
        done = [message for message in got if random.random() >= lane.failing]
        if done:
            entries = [{"Id": str(i), "ReceiptHandle": one["ReceiptHandle"]} for i, one in enumerate(done)]
            client.delete_message_batch(QueueUrl=queue, Entries=entries)

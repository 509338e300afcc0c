"""What an application does with SQS, told as facts that do not depend on the SDK that did it.

Tests import it and run it with the current boto3 (JSON); as a program it runs where boto3 1.28 lives (Query), and
nothing of ours can be imported there. No fact holds an id, a time or the prefix of the queues' names, so that both
tellings must be equal.
"""

import json
import sys
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import boto3
from botocore.exceptions import ClientError

Facts = dict[str, Any]
SOON_SECONDS = 8  # within which a long poll of twenty has been woken, on a machine that is busy with other things


class Teller:
    """A client, and the short verbs that stories are told with. Queues are known by their names without the prefix."""

    def __init__(self, client: Any, prefix: str) -> None:
        self.sqs, self.prefix = client, prefix

    def create(self, name: str, **attributes: object) -> str:
        texts = {key: str(value) for key, value in attributes.items()}
        return str(self.sqs.create_queue(QueueName=self.prefix + name, Attributes=texts)["QueueUrl"])

    def name(self, url: str) -> str:
        return url.rpartition("/")[2].removeprefix(self.prefix)

    def attributes(self, url: str, *names: str) -> dict[str, str]:
        return dict(self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names).get("Attributes", {}))

    def arn(self, url: str) -> str:
        return self.attributes(url, "QueueArn")["QueueArn"]

    def counts(self, url: str) -> list[int]:
        """How many messages are visible, in flight and delayed."""
        found = self.attributes(url, "All")
        return [int(found[f"ApproximateNumberOfMessages{kind}"]) for kind in ("", "NotVisible", "Delayed")]

    def send(self, url: str, body: str, **params: Any) -> Any:
        return self.sqs.send_message(QueueUrl=url, MessageBody=body, **params)

    def receive(self, url: str, most: int = 10, **params: Any) -> list[Any]:
        given = {"AttributeNames": ["All"], "MessageAttributeNames": ["All"]} | params
        return list(self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=most, **given).get("Messages", []))

    def bodies(self, url: str, most: int = 10, **params: Any) -> list[str]:
        return [message["Body"] for message in self.receive(url, most, **params)]

    def delete(self, url: str, message: Any) -> None:
        self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def refusal(self, action: str, **params: Any) -> list[Any]:
        """How a call is refused: the error's code and the HTTP status."""
        try:
            getattr(self.sqs, action)(**params)
        except ClientError as error:
            return [error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]]
        return ["was not refused"]


def queue(tell: Teller) -> Facts:
    sqs, name = tell.sqs, f"{tell.prefix}orders"
    given = {"QueueName": name, "Attributes": {"VisibilityTimeout": "45", "DelaySeconds": "0"}}
    url = sqs.create_queue(**given, tags={"team": "shop", "stage": "test"})["QueueUrl"]
    facts: Facts = {"again": sqs.create_queue(**given)["QueueUrl"] == url}
    facts["found"] = sqs.get_queue_url(QueueName=name)["QueueUrl"] == url
    facts["listed"] = [tell.name(found) for found in sqs.list_queues(QueueNamePrefix=name)["QueueUrls"]]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "60"})
    facts["attributes"] = tell.attributes(url, "VisibilityTimeout", "DelaySeconds")
    facts["named"] = sorted(tell.attributes(url, "All"))
    sqs.tag_queue(QueueUrl=url, Tags={"stage": "live"})
    sqs.untag_queue(QueueUrl=url, TagKeys=["team"])
    facts["tags"] = sqs.list_queue_tags(QueueUrl=url)["Tags"]
    sqs.add_permission(QueueUrl=url, Label="ship", AWSAccountIds=["000000000000"], Actions=["SendMessage"])
    (statement,) = json.loads(tell.attributes(url, "Policy")["Policy"])["Statement"]
    facts["permission"] = [statement["Sid"], statement["Action"], statement["Principal"]]
    sqs.remove_permission(QueueUrl=url, Label="ship")
    facts["permission removed"] = tell.attributes(url, "Policy") == {}
    tell.send(url, "to be purged")
    sqs.purge_queue(QueueUrl=url)
    facts["purged"] = tell.counts(url)
    facts["purged again"] = tell.refusal("purge_queue", QueueUrl=url)
    sqs.delete_queue(QueueUrl=url)
    facts["deleted"] = tell.refusal("get_queue_url", QueueName=name)
    facts["too soon"] = tell.refusal("create_queue", QueueName=name)
    return facts


def message(tell: Teller) -> Facts:
    url = tell.create("letters")
    given = {
        "text": {"DataType": "String", "StringValue": "zażółć <&> \U0001f600"},
        "number": {"DataType": "Number.int", "StringValue": "42"},
        "bytes": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
    }
    trace = {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-5759e988-bd862e3fe1be46a994272793"}}
    body = "first line\r\nsecond & <last>\t\U0001f600"
    sent = tell.send(url, body, MessageAttributes=given, MessageSystemAttributes=trace)
    (got,) = tell.receive(url)
    facts: Facts = {
        "same": [got["MessageId"] == sent["MessageId"], got["Body"] == body, got["MessageAttributes"] == given],
        "digests": [sent[f"MD5OfMessage{part}"] for part in ("Body", "Attributes", "SystemAttributes")],
        "digests again": [got["MD5OfBody"], got["MD5OfMessageAttributes"]],
        "attributes": sorted(got["Attributes"]),
        "first": [got["Attributes"]["ApproximateReceiveCount"], got["Attributes"]["AWSTraceHeader"]],
        "hidden": [tell.bodies(url), tell.counts(url)],
    }
    tell.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=got["ReceiptHandle"], VisibilityTimeout=0)
    (again,) = tell.receive(url, 1)
    tell.delete(url, again)
    facts["second"] = [again["Attributes"]["ApproximateReceiveCount"], tell.counts(url)]
    largest = {"b": {"DataType": "Binary", "BinaryValue": b"\xff" * (1_048_576 - len("mbBinary"))}}
    tell.send(url, "m", MessageAttributes=largest)
    facts["largest"] = tell.receive(url)[0]["MessageAttributes"] == largest
    facts["larger"] = tell.refusal("send_message", QueueUrl=url, MessageBody="mm", MessageAttributes=largest)
    return facts


def batches(tell: Teller) -> Facts:
    sqs, url = tell.sqs, tell.create("parcels")
    entries = [{"Id": f"e{number}", "MessageBody": f"parcel {number}"} for number in range(3)]
    entries[1]["DelaySeconds"] = 901  # type: ignore[assignment]
    facts: Facts = {"sent": split(sqs.send_message_batch(QueueUrl=url, Entries=entries))}
    got = tell.receive(url)
    facts["received"] = sorted(message["Body"] for message in got)
    handles = [*(message["ReceiptHandle"] for message in got), "garbage"]
    named = [{"Id": f"h{number}", "ReceiptHandle": handle} for number, handle in enumerate(handles)]
    hidden = [entry | {"VisibilityTimeout": 120} for entry in named]
    facts["changed"] = split(sqs.change_message_visibility_batch(QueueUrl=url, Entries=hidden))
    facts["deleted"] = split(sqs.delete_message_batch(QueueUrl=url, Entries=named))
    facts["left"] = tell.counts(url)
    return facts


def split(reply: Any) -> list[Any]:
    """Who came through, and who did not: why, and by whose fault."""
    failed = [[entry["Id"], entry["Code"], entry["SenderFault"]] for entry in reply.get("Failed", [])]
    return [[entry["Id"] for entry in reply.get("Successful", [])], failed]


def order(tell: Teller) -> Facts:
    url = tell.create("steps.fifo", FifoQueue="true", ContentBasedDeduplication="true")
    sent = [tell.send(url, body, MessageGroupId=body[0]) for body in ("a1", "b1", "a2", "b2", "a3")]
    again = tell.send(url, "a1", MessageGroupId="a")
    numbers = [int(reply["SequenceNumber"]) for reply in sent]
    facts: Facts = {
        "numbers grow": numbers == sorted(set(numbers)),
        "duplicate": [again[name] == sent[0][name] for name in ("MessageId", "SequenceNumber")],
        "counted": tell.counts(url),
    }
    (first,) = tell.receive(url, 1)
    facts["first"] = [first["Body"], first["Attributes"]["MessageGroupId"], len(first["Attributes"]["SequenceNumber"])]
    facts["while a is in flight"] = tell.bodies(url)
    tell.delete(url, first)
    facts["then"] = tell.bodies(url)
    return facts


def dead_letters(tell: Teller) -> Facts:
    sqs, dead = tell.sqs, tell.create("dead")
    policy = {"deadLetterTargetArn": tell.arn(dead), "maxReceiveCount": "1"}
    source = tell.create("work", VisibilityTimeout=0, RedrivePolicy=json.dumps(policy))
    tell.send(source, "poison")
    facts: Facts = {"tries": [tell.bodies(source), tell.bodies(source)]}
    (moved,) = tell.receive(dead, VisibilityTimeout=0)
    facts["moved"] = [moved["Body"], moved["Attributes"]["DeadLetterQueueSourceArn"] == tell.arn(source)]
    facts["sources"] = [tell.name(url) for url in sqs.list_dead_letter_source_queues(QueueUrl=dead)["queueUrls"]]
    arn = tell.arn(dead)
    sqs.start_message_move_task(SourceArn=arn)
    (back,) = tell.receive(source, WaitTimeSeconds=20)
    facts["back"] = [back["Body"], back["MessageId"] != moved["MessageId"]]
    (task,) = sqs.list_message_move_tasks(SourceArn=arn)["Results"]
    facts["task"] = [task["Status"], task["ApproximateNumberOfMessagesMoved"], "TaskHandle" in task]
    for number in range(5):
        tell.send(dead, f"slow {number}")
    aside = tell.arn(tell.create("aside"))
    handle = sqs.start_message_move_task(SourceArn=arn, DestinationArn=aside, MaxNumberOfMessagesPerSecond=1)
    facts["twice"] = tell.refusal("start_message_move_task", SourceArn=arn)
    sqs.cancel_message_move_task(TaskHandle=handle["TaskHandle"])
    task = sqs.list_message_move_tasks(SourceArn=arn, MaxResults=10)["Results"][0]
    facts["cancelled"] = [task["Status"] in ("CANCELLING", "CANCELLED"), task["MaxNumberOfMessagesPerSecond"]]
    facts["some stayed"] = tell.counts(dead)[0] > 0
    return facts


def long_polls(tell: Teller) -> Facts:
    """Each poll would wait for twenty seconds."""
    url, facts = tell.create("bell"), Facts()
    with ThreadPoolExecutor(1) as thread:

        def parked() -> "Future[list[str]]":
            poll = thread.submit(tell.bodies, url, WaitTimeSeconds=20, VisibilityTimeout=0)
            wait_until_parked(tell.sqs.meta.endpoint_url, poll)
            return poll

        poll = parked()
        tell.send(url, "ding")
        facts["send"] = poll.result(SOON_SECONDS)
        (message,) = tell.receive(url)
        poll = parked()
        tell.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
        facts["visibility 0"] = poll.result(SOON_SECONDS)
        tell.receive(url, VisibilityTimeout=1)
        facts["visibility over"] = parked().result(SOON_SECONDS)
        tell.delete(url, tell.receive(url)[0])
        tell.send(url, "dong", DelaySeconds=1)
        facts["delay over"] = parked().result(SOON_SECONDS)
    started = time.monotonic()
    facts["nothing came"] = tell.bodies(tell.create("silence"), WaitTimeSeconds=1)
    facts["waited"] = time.monotonic() - started >= 1
    return facts


def wait_until_parked(endpoint: str, poll: "Future[list[str]]") -> None:
    browser = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + SOON_SECONDS
    while time.monotonic() < deadline and not poll.done():
        if b"\npenstock_waiters 0.0" not in browser.open(f"{endpoint}/metrics").read():
            return
        time.sleep(0.01)
    assert poll.done(), "the long poll does not wait"


STORIES: list[Callable[[Teller], Facts]] = [queue, message, batches, order, dead_letters, long_polls]


def tell_all(client: Any, prefix: str) -> dict[str, Facts]:
    return {story.__name__: told(story, Teller(client, prefix)) for story in STORIES}


def told(story: Callable[[Teller], Facts], tell: Teller) -> Facts:
    """A story that breaks is a fact too, and does not keep the others from being told."""
    try:
        return dict(json.loads(json.dumps(story(tell))))
    except Exception as error:
        return {"broke": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    client = boto3.client("sqs")
    protocol = client.meta.service_model.metadata["protocol"]
    print(json.dumps({"boto3": boto3.__version__, "protocol": protocol, "told": tell_all(client, sys.argv[1])}))

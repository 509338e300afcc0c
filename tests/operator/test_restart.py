"""What a server still knows after kill -9. Every case is prepared, the server is killed once, every case goes on.

A case is a generator: up to its `yield` it talks to the server that will be killed, after it to the next one.
"""

from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from operating import kill, until

from server_process import Server

Case = Callable[[Any], Generator[None, Any, None]]
CASES: list[Case] = []


def case(case: Case) -> Case:
    CASES.append(case)
    return case


def receive(sqs: Any, queue: str, **params: Any) -> list[Any]:
    got: list[Any] = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, **params).get("Messages", [])
    return got


def bodies(sqs: Any, queue: str, **params: Any) -> list[str]:
    return [message["Body"] for message in receive(sqs, queue, **params)]


@case
def what_was_acknowledged_is_there(sqs: Any) -> Generator[None, Any, None]:
    sqs.create_queue(QueueName="kept", Attributes={"VisibilityTimeout": "77"}, tags={"team": "shop"})
    sent = [sqs.send_message(QueueUrl="kept", MessageBody=str(number))["MessageId"] for number in range(5)]
    sqs = yield
    assert [message["MessageId"] for message in receive(sqs, "kept")] == sent
    found = sqs.get_queue_attributes(QueueUrl="kept", AttributeNames=["All"])["Attributes"]
    assert (found["VisibilityTimeout"], found["ApproximateNumberOfMessagesNotVisible"]) == ("77", "5")
    assert sqs.list_queue_tags(QueueUrl="kept")["Tags"] == {"team": "shop"}


@case
def what_was_deleted_stays_deleted(sqs: Any) -> Generator[None, Any, None]:
    sqs.create_queue(QueueName="emptied")
    sqs.send_message(QueueUrl="emptied", MessageBody="done")
    (message,) = receive(sqs, "emptied", VisibilityTimeout=0)
    sqs.delete_message(QueueUrl="emptied", ReceiptHandle=message["ReceiptHandle"])
    sqs = yield
    assert bodies(sqs, "emptied") == []


@case
def what_is_in_flight_stays_hidden_and_its_handle_is_good(sqs: Any) -> Generator[None, Any, None]:
    sqs.create_queue(QueueName="flying")
    for body in ("delete me", "show me"):
        sqs.send_message(QueueUrl="flying", MessageBody=body)
    handles = {message["Body"]: message["ReceiptHandle"] for message in receive(sqs, "flying", VisibilityTimeout=600)}
    sqs = yield
    assert bodies(sqs, "flying") == []
    sqs.delete_message(QueueUrl="flying", ReceiptHandle=handles["delete me"])
    sqs.change_message_visibility(QueueUrl="flying", ReceiptHandle=handles["show me"], VisibilityTimeout=0)
    (message,) = receive(sqs, "flying", AttributeNames=["ApproximateReceiveCount"])
    assert (message["Body"], message["Attributes"]["ApproximateReceiveCount"]) == ("show me", "2")


@case
def delays_and_visibility_run_on(sqs: Any) -> Generator[None, Any, None]:
    for queue in ("delayed", "hidden"):
        sqs.create_queue(QueueName=queue)
    sqs.send_message(QueueUrl="hidden", MessageBody="seen before")
    receive(sqs, "hidden", VisibilityTimeout=2)
    sqs.send_message(QueueUrl="delayed", MessageBody="later", DelaySeconds=2)
    sqs = yield
    assert bodies(sqs, "delayed", WaitTimeSeconds=10) == ["later"]
    assert bodies(sqs, "hidden", WaitTimeSeconds=10) == ["seen before"]


@case
def a_duplicate_is_still_one_and_numbers_grow(sqs: Any) -> Generator[None, Any, None]:
    sqs.create_queue(QueueName="steps.fifo", Attributes={"FifoQueue": "true"})
    letter = {"QueueUrl": "steps.fifo", "MessageBody": "m", "MessageGroupId": "g"}
    first = sqs.send_message(**letter, MessageDeduplicationId="one")
    (message,) = receive(sqs, "steps.fifo")
    sqs.delete_message(QueueUrl="steps.fifo", ReceiptHandle=message["ReceiptHandle"])
    sqs = yield
    again = sqs.send_message(**letter, MessageDeduplicationId="one")
    assert [again[name] for name in ("MessageId", "SequenceNumber")] == [first["MessageId"], first["SequenceNumber"]]
    assert bodies(sqs, "steps.fifo") == []
    assert sqs.send_message(**letter, MessageDeduplicationId="two")["SequenceNumber"] > first["SequenceNumber"]


@case
def a_group_in_flight_is_still_blocked(sqs: Any) -> Generator[None, Any, None]:
    attributes = {"FifoQueue": "true", "ContentBasedDeduplication": "true"}
    sqs.create_queue(QueueName="blocked.fifo", Attributes=attributes)
    for body in ("a1", "a2", "b1"):
        sqs.send_message(QueueUrl="blocked.fifo", MessageBody=body, MessageGroupId=body[0])
    (first,) = sqs.receive_message(QueueUrl="blocked.fifo", VisibilityTimeout=600)["Messages"]
    sqs = yield
    assert bodies(sqs, "blocked.fifo") == ["b1"]
    sqs.delete_message(QueueUrl="blocked.fifo", ReceiptHandle=first["ReceiptHandle"])
    assert bodies(sqs, "blocked.fifo") == ["a2"]


@case
def a_running_move_task_goes_on(sqs: Any) -> Generator[None, Any, None]:
    dead = "arn:aws:sqs:us-east-1:000000000000:dead"
    sqs.create_queue(QueueName="dead")
    policy = f'{{"deadLetterTargetArn": "{dead}", "maxReceiveCount": 1}}'
    sqs.create_queue(QueueName="source", Attributes={"RedrivePolicy": policy})
    entries = [{"Id": str(number), "MessageBody": str(number)} for number in range(10)]
    sqs.send_message_batch(QueueUrl="dead", Entries=entries)
    target = dead.replace("dead", "source")
    sqs.start_message_move_task(SourceArn=dead, DestinationArn=target, MaxNumberOfMessagesPerSecond=5)
    (task,) = sqs.list_message_move_tasks(SourceArn=dead)["Results"]
    assert task["Status"] == "RUNNING"
    sqs = yield
    until(lambda: sqs.list_message_move_tasks(SourceArn=dead)["Results"][0]["Status"] == "COMPLETED")
    (task,) = sqs.list_message_move_tasks(SourceArn=dead)["Results"]
    assert task["ApproximateNumberOfMessagesMoved"] == 10
    assert sorted(bodies(sqs, "source")) == [str(number) for number in range(10)]
    assert bodies(sqs, "dead") == []


@case
def the_waits_after_a_purge_and_a_delete_are_not_over(sqs: Any) -> Generator[None, Any, None]:
    for queue in ("purged", "deleted"):
        sqs.create_queue(QueueName=queue)
    sqs.send_message(QueueUrl="purged", MessageBody="gone")
    sqs.purge_queue(QueueUrl="purged")
    sqs.delete_queue(QueueUrl="deleted")
    sqs = yield
    assert bodies(sqs, "purged") == []
    with pytest.raises(ClientError, match="PurgeQueueInProgress"):
        sqs.purge_queue(QueueUrl="purged")
    with pytest.raises(ClientError, match="QueueDeletedRecently"):
        sqs.create_queue(QueueName="deleted")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, dict[str, Generator[None, Any, None]]]]:
    server = Server(tmp_path_factory.mktemp("killed"))
    server.start()
    sqs = server.client()
    going = {case.__name__: case(sqs) for case in CASES}
    for prepared in going.values():
        next(prepared)
    kill(server)
    server.start()
    yield server.client(), going
    assert server.stop() == 0


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
def test_after_kill_9(killed: tuple[Any, dict[str, Generator[None, Any, None]]], case: str) -> None:
    sqs, going = killed
    with pytest.raises(StopIteration):
        going[case].send(sqs)

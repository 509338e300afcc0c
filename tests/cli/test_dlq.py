"""`penstock dlq redrive`: plans carried out on a running server, in whole and in part."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from penstock.pipeline.plan import Group, Plan
from server_process import Server

from .conftest import Run

Redrive = Callable[..., subprocess.CompletedProcess[str]]


def arn(name: str) -> str:
    return f"arn:aws:sqs:us-east-1:000000000000:{name}"


@dataclass
class Queues:
    """A queue and its dead-letter queue, with messages that lie there."""

    client: Any
    name: str
    end: str = ""
    ids: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        kind = {"FifoQueue": "true"} if self.end else {}
        self.source, self.dead = f"{self.name}{self.end}", f"{self.name}-dead{self.end}"
        self.client.create_queue(QueueName=self.dead, Attributes=kind)
        policy = json.dumps({"deadLetterTargetArn": arn(self.dead), "maxReceiveCount": 1000})
        self.client.create_queue(QueueName=self.source, Attributes=kind | {"RedrivePolicy": policy})

    def put(self, *bodies: str, **more: Any) -> None:
        for body in bodies:
            own = {"MessageDeduplicationId": body, "MessageGroupId": body} if self.end else {}
            self.ids.append(self.client.send_message(QueueUrl=self.dead, MessageBody=body, **own, **more)["MessageId"])

    def bodies(self, queue: str) -> list[str]:
        return sorted(message["Body"] for message in self.messages(queue))

    def messages(self, queue: str) -> list[Any]:
        asked = {"MessageAttributeNames": ["All"], "MessageSystemAttributeNames": ["All"], "MaxNumberOfMessages": 10}
        return self.client.receive_message(QueueUrl=queue, VisibilityTimeout=0, **asked).get("Messages", [])  # type: ignore[no-any-return]

    def group(self, messages: str | list[str], **more: Any) -> Group:
        known = {"signature": "0123456789ab", "count": len(self.ids), "chosen": True}
        return Group(
            **known | {"dead_letter_queue": arn(self.dead), "destination": arn(self.source)} | more, messages=messages
        )  # type: ignore[arg-type]


@pytest.fixture
def queues(server: Server, request: pytest.FixtureRequest) -> Queues:
    return Queues(server.client(), f"dlq-{abs(hash(request.node.name))}")


@pytest.fixture
def redrive(penstock: Run, server: Server, tmp_path: Path) -> Redrive:
    def run(*groups: Group, options: tuple[str, ...] = ("--yes",)) -> subprocess.CompletedProcess[str]:
        plan = tmp_path / "plan.json"
        plan.write_text(Plan("2026-11-16T08:30:00Z", groups).text())
        return penstock("dlq", "redrive", plan, *options, env=server.environment)

    return run


def test_a_whole_queue_goes_back(queues: Queues, redrive: Redrive) -> None:
    queues.put("a", "b", "c")
    done = redrive(queues.group("all"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("moved 3 messages, of 3 in the plan\n")
    assert (queues.bodies(queues.source), queues.bodies(queues.dead)) == (["a", "b", "c"], [])


def test_only_the_listed_messages_go_and_the_others_can_be_received_at_once(queues: Queues, redrive: Redrive) -> None:
    queues.put(*"abcdefghijklmnop")
    done = redrive(queues.group(queues.ids[3:6]))
    assert (done.returncode, done.stderr) == (0, "")
    assert "moved 3 of 3 messages" in done.stdout
    assert queues.bodies(queues.source) == ["d", "e", "f"]
    assert len(queues.messages(queues.dead)) == 10


def test_a_message_goes_with_its_attributes_trace_and_group(queues: Queues, redrive: Redrive) -> None:
    trace = {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-5759e988-bd862e3fe1be46a994272793"}}
    attributes = {
        "n": {"DataType": "Number", "StringValue": "7"},
        "b": {"DataType": "Binary", "BinaryValue": b"\0\xff"},
    }
    queues.put("a", "b", MessageAttributes=attributes, MessageSystemAttributes=trace, MessageGroupId="tenant")
    assert redrive(queues.group(queues.ids[:1])).returncode == 0
    (message,) = queues.messages(queues.source)
    assert message["MessageAttributes"] == attributes
    assert message["Attributes"]["AWSTraceHeader"] == trace["AWSTraceHeader"]["StringValue"]
    assert message["Attributes"]["MessageGroupId"] == "tenant"


def test_in_a_fifo_queue_a_message_is_not_taken_for_its_own_repetition(server: Server, redrive: Redrive) -> None:
    queues = Queues(server.client(), "dlq-fifo", ".fifo")
    sent = {"MessageDeduplicationId": "a", "MessageGroupId": "a"}
    queues.client.send_message(QueueUrl=queues.source, MessageBody="a", **sent)
    queues.put("a", "b")
    assert redrive(queues.group(queues.ids[:1])).returncode == 0
    assert (queues.bodies(queues.source), queues.bodies(queues.dead)) == (["a", "a"], ["b"])


def test_repeating_a_plan_moves_nothing_twice_and_names_what_it_did_not_find(queues: Queues, redrive: Redrive) -> None:
    queues.put("a", "b")
    assert redrive(queues.group(queues.ids[:1])).returncode == 0
    done = redrive(queues.group(queues.ids[:1]))
    assert done.returncode == 1
    assert f"not found: {queues.ids[0]}" in done.stdout
    assert (queues.bodies(queues.source), queues.bodies(queues.dead)) == (["a"], ["b"])


def test_groups_of_one_queue_are_looked_for_in_one_pass(queues: Queues, redrive: Redrive) -> None:
    elsewhere = Queues(queues.client, f"{queues.name}-other")
    queues.put("a", "b", "c")
    second = queues.group(queues.ids[1:2], destination=arn(elsewhere.source), signature="ba9876543210")
    assert redrive(queues.group(queues.ids[:1]), second, queues.group(queues.ids[2:], chosen=False)).returncode == 0
    assert (queues.bodies(queues.source), queues.bodies(elsewhere.source)) == (["a"], ["b"])
    assert queues.bodies(queues.dead) == ["c"]


def test_a_dry_run_says_what_would_be_done_and_does_nothing(queues: Queues, redrive: Redrive) -> None:
    queues.put("a", "b")
    done = redrive(queues.group("all"), queues.group(queues.ids[:1]), options=("--dry-run",))
    way = f"0123456789ab {queues.dead} → {queues.source}"
    assert done.stdout.splitlines() == [
        f"{way}: 1 messages; the queue holds 2",
        f"{way}: all messages, 2 when the plan was made; the queue holds 2",
    ]
    assert (queues.bodies(queues.source), queues.bodies(queues.dead)) == ([], ["a", "b"])


def test_without_a_person_to_ask_nothing_is_moved(queues: Queues, redrive: Redrive) -> None:
    queues.put("a")
    done = redrive(queues.group("all"), options=())
    assert (done.returncode, done.stderr) == (
        1, "penstock: nobody is here to be asked: give --yes, or --dry-run to look first\n",
    )  # fmt: skip
    assert queues.bodies(queues.dead) == ["a"]


def test_a_destination_that_is_not_there_leaves_the_messages_where_they_are(queues: Queues, redrive: Redrive) -> None:
    queues.put("a")
    done = redrive(queues.group(queues.ids, destination=arn("dlq-nowhere")))
    assert done.returncode == 1
    assert "(AWS.SimpleQueueService.NonExistentQueue) when calling the GetQueueUrl operation" in done.stderr
    assert queues.bodies(queues.dead) == ["a"]


def test_ctrl_c_leaves_every_message_in_one_queue_and_visible(server: Server, queues: Queues, tmp_path: Path) -> None:
    queues.put(*"abcdefgh")
    plan = tmp_path / "plan.json"
    plan.write_text(Plan("", [queues.group(queues.ids)]).text())
    words = [sys.executable, "-m", "penstock", "dlq", "redrive", str(plan), "--yes", "--rate", "1"]
    process = subprocess.Popen(words, env=server.environment, stdout=subprocess.PIPE, text=True)
    try:
        while not (there := queues.bodies(queues.source)):
            assert process.poll() is None
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130
    moved = queues.bodies(queues.source)
    assert there[0] in moved
    assert sorted(moved + queues.bodies(queues.dead)) == list("abcdefgh")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON: "),
        ("{}", 'not a redrive plan: there is no list "groups"'),
        ('{"version": 2, "groups": []}', "a plan of version 2; this Penstock knows 1"),
        ('{"version": 1, "groups": []}', 'no group is chosen; set "chosen" to true for those that are to go back'),
        ('{"version": 1, "groups": [{"dead_letter_queue": "x"}]}', "groups[0].dead_letter_queue is 'x', not the ARN"),
    ],
)
def test_a_file_that_is_no_plan_is_told_why(penstock: Run, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    done = penstock("dlq", "redrive", tmp_path / "plan.json")
    assert done.returncode == 1
    assert done.stderr.startswith(f"penstock: {tmp_path / 'plan.json'}: {said}")
    assert done.stderr.count("\n") == 1


def test_a_plan_that_is_not_there_is_named(penstock: Run) -> None:
    assert penstock("dlq", "redrive", "nowhere.json").stderr == "penstock: nowhere.json: No such file or directory\n"

"""What nobody may find on a disk, in a log, in a backup or in what a command says: bodies, attributes, secrets."""

from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from operating import Start, kill, run, until

MARKER = "a marker that nobody may find"
LARGE = MARKER * 2000
ATTRIBUTES = {
    MARKER.replace(" ", "-"): {"DataType": "String", "StringValue": MARKER},
    "raw": {"DataType": "Binary", "BinaryValue": MARKER.encode()},
}


def found(folder: Path, *secrets: str) -> list[str]:
    """The files, also those of folders in it, that have any of these in them."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    return [str(file.relative_to(folder)) for file in files if any(s.encode() in file.read_bytes() for s in secrets)]


def send(sqs: Any, queue: str) -> None:
    fifo = {"MessageGroupId": "g", "MessageDeduplicationId": "d"} if queue.endswith(".fifo") else {}
    trace = {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-5759e988-bd862e3fe1be46a994272793"}}
    sqs.send_message(
        QueueUrl=queue, MessageBody=MARKER, MessageAttributes=ATTRIBUTES, MessageSystemAttributes=trace, **fifo
    )
    entries = [
        {"Id": "1", "MessageBody": LARGE} | ({"MessageGroupId": "h", "MessageDeduplicationId": "e"} if fifo else {})
    ]
    sqs.send_message_batch(QueueUrl=queue, Entries=entries)


def prepare(sqs: Any, fifo: str) -> tuple[str, str]:
    attributes = {"FifoQueue": "true"} if fifo else {}
    dead = sqs.create_queue(QueueName=f"dead{fifo}", Attributes=attributes)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = f'{{"deadLetterTargetArn":"{arn}","maxReceiveCount":1}}'
    queue = sqs.create_queue(QueueName=f"q{fifo}", Attributes=attributes | {"RedrivePolicy": policy})["QueueUrl"]
    return queue, dead


@pytest.mark.parametrize("fifo", ["", ".fifo"])
@pytest.mark.parametrize("key", ["", "alias/orders"])
def test_bodies_and_attributes_are_in_no_file_of_a_killed_server(
    start: Start, tmp_path: Path, fifo: str, key: str
) -> None:
    server = start(kms_keys="alias/orders", log_level="debug")
    sqs = server.client()
    queue, dead = prepare(sqs, fifo)
    for url in (queue, dead) if key else ():
        sqs.set_queue_attributes(QueueUrl=url, Attributes={"KmsMasterKeyId": key})
    send(sqs, queue)
    assert found(tmp_path, MARKER) == [], "as sent"
    while sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, VisibilityTimeout=0).get("Messages"):
        pass
    assert run(tmp_path, "backup", "copy.db").returncode == 0
    assert found(tmp_path, MARKER) == [], "as dead letters, and in a backup"
    arns = [sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"] for url in (dead, queue)]
    sqs.start_message_move_task(SourceArn=arns[0]["QueueArn"], DestinationArn=arns[1]["QueueArn"])
    until(lambda: visible(sqs, queue) == 2)
    kill(server)
    assert found(tmp_path, MARKER) == [], "killed"
    server.start()
    sqs = server.client()
    received = sqs.receive_message(QueueUrl="q" + fifo, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
    received = received.get("Messages", [])
    assert sorted(len(message["Body"]) for message in received) == [len(MARKER), len(LARGE)]
    assert [message["MessageAttributes"] for message in received if message["Body"] == MARKER] == [ATTRIBUTES]
    assert server.stop() == 0
    assert found(tmp_path, MARKER) == [], "stopped"


def visible(sqs: Any, queue: str) -> int:
    name = "ApproximateNumberOfMessages"
    return int(sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=[name])["Attributes"][name])


def test_a_journal_with_bodies_is_what_its_operator_chose(start: Start, tmp_path: Path) -> None:
    """So the search can find something, too."""
    server = start(journal="full")
    server.client().create_queue(QueueName="q")
    server.client().send_message(QueueUrl="q", MessageBody=MARKER)
    kill(server)
    assert found(tmp_path / "data", MARKER) != []


def test_secrets_are_in_no_file_but_those_for_them_and_in_nothing_that_is_said(start: Start, tmp_path: Path) -> None:
    server = start(log_level="debug", root_access_key="", root_secret_key="")
    shown = (tmp_path / "stdout").read_text()
    words = dict(line.split(" = ") for line in (server.data / "credentials").read_text().splitlines()[1:])
    server.access_key, server.secret_key = words["aws_access_key_id"], words["aws_secret_access_key"]
    assert server.secret_key in shown, "told once, when it is made"
    master = (server.data / "master.key").read_text().strip()
    server.client().create_queue(QueueName="q")
    server.client().send_message(QueueUrl="q", MessageBody="m")
    right, server.secret_key = server.secret_key, "another secret"
    with pytest.raises(ClientError) as refusal:
        server.client().list_queues()
    said = [str(refusal.value.response), run(tmp_path, "config").stdout, run(tmp_path, "config", "--json").stdout]
    assert run(tmp_path, "backup", "copy.db").returncode == 0
    kill(server)
    assert sorted(found(tmp_path, right, master)) == ["data/credentials", "data/master.key", "stdout"]
    said += [run(tmp_path, "master-key", words).stdout for words in ("list", "rotate")]
    said += [run(tmp_path, "serve", master_key=key).stderr for key in ("x" + master, "bm8=", master)]
    assert not [text for text in said if right in text or master in text]
    assert all((server.data / name).stat().st_mode & 0o777 == 0o600 for name in ("credentials", "master.key"))


def test_settings_hide_the_master_key(tmp_path: Path) -> None:
    key = "bm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm4="
    done = run(tmp_path, "config", "--json", master_key=key)
    assert done.returncode == 0
    assert key not in done.stdout
    assert "(hidden)" in done.stdout

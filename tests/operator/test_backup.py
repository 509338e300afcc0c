"""A backup is taken while messages keep coming, and what was acknowledged before it is in it, without a gap."""

import json
import shutil
import threading
from pathlib import Path

from operating import Start, run, until

from server_process import Server


def test_a_backup_while_messages_keep_coming_has_everything_up_to_a_moment(start: Start, tmp_path: Path) -> None:
    server = start()
    sqs = server.client()
    sqs.create_queue(QueueName="busy")
    acknowledged: list[int] = []
    over = threading.Event()

    def send() -> None:
        while not over.is_set():
            sqs.send_message(QueueUrl="busy", MessageBody=str(len(acknowledged)))
            acknowledged.append(len(acknowledged))

    sender = threading.Thread(target=send)
    sender.start()
    until(lambda: len(acknowledged) >= 20)
    before = len(acknowledged)
    done = run(tmp_path, "backup", "copy.db")
    over.set()
    sender.join()
    assert done.returncode == 0, done.stderr
    assert before < len(acknowledged), "nothing came meanwhile"

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert run(elsewhere, "restore", tmp_path / "copy.db").returncode == 0
    shutil.copy(tmp_path / "data" / "master.key", elsewhere / "data")
    restored = Server(elsewhere)
    restored.start()
    pages = restored.client("penstock").get_paginator("peek_messages").paginate(QueueUrl="busy")
    bodies = [int(message["Body"]) for page in pages for message in page.get("Messages", [])]
    assert bodies == list(range(len(bodies)))
    assert before <= len(bodies) <= len(acknowledged) + 1
    (message,) = restored.client().receive_message(QueueUrl="busy")["Messages"]
    assert message["Body"] == "0"
    assert restored.stop() == 0


def test_a_restored_server_s_journal_is_another_node_s_and_both_are_whole(start: Start, tmp_path: Path) -> None:
    server = start()
    sqs = server.client()
    sqs.create_queue(QueueName="orders")
    sqs.send_message(QueueUrl="orders", MessageBody="before")
    assert run(tmp_path, "backup", "copy.db").returncode == 0
    sqs.send_message(QueueUrl="orders", MessageBody="after")
    first = server.client("penstock").list_journal_segments()["Node"]
    assert server.stop() == 0

    assert run(tmp_path, "restore", "copy.db", "--force").returncode == 0
    server.start()
    sqs = server.client()
    sqs.send_message(QueueUrl="orders", MessageBody="since")
    reply = server.client("penstock").read_journal()
    events = [json.loads(line) for line in reply["Lines"].splitlines()]
    assert reply["Node"] != first
    assert [(e["event"], e.get("count"), e.get("reason")) for e in events[:1]] == [("GAUGE", 1, "baseline")]
    assert server.stop() == 0
    done = run(tmp_path, "journal", "verify")
    assert (done.returncode, "of 2 nodes, 1 queue compared" in done.stdout) == (0, True), done.stdout

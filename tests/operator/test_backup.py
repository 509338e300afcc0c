"""A backup is taken while messages keep coming, and what was acknowledged before it is in it, without a gap."""

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
    restored = Server(elsewhere)
    restored.start()
    pages = restored.client("penstock").get_paginator("peek_messages").paginate(QueueUrl="busy")
    bodies = [int(message["Body"]) for page in pages for message in page.get("Messages", [])]
    assert bodies == list(range(len(bodies)))
    assert before <= len(bodies) <= len(acknowledged) + 1
    (message,) = restored.client().receive_message(QueueUrl="busy")["Messages"]
    assert message["Body"] == "0"
    assert restored.stop() == 0

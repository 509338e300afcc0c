"""Queues that the settings file declares: there from the start, and no surprise at the next."""

from pathlib import Path
from typing import Any

import pytest
from operating import Start, refusal

DECLARED = """
    [[queues]]
    name = "work"
    attributes = { VisibilityTimeout = 90, RedrivePolicy = { deadLetterTargetArn = "arn:aws:sqs:us-east-1:000000000000:dead", maxReceiveCount = 3 } }
    tags = { team = "shop" }

    [[queues]]
    name = "dead"
    attributes = { MessageRetentionPeriod = 1209600 }

    [[queues]]
    name = "steps.fifo"
    attributes = { ContentBasedDeduplication = true }
"""  # fmt: skip # noqa: E501


def attributes(sqs: Any, name: str) -> dict[str, str]:
    found: dict[str, str] = sqs.get_queue_attributes(QueueUrl=name, AttributeNames=["All"])["Attributes"]
    return found


def test_declared_queues_are_there_whatever_their_order(start: Start) -> None:
    sqs = start(DECLARED).client()
    names = [url.rpartition("/")[2] for url in sqs.list_queues()["QueueUrls"]]
    assert names == ["dead", "steps.fifo", "work"]
    assert attributes(sqs, "work")["VisibilityTimeout"] == "90"
    assert attributes(sqs, "dead")["MessageRetentionPeriod"] == "1209600"
    assert attributes(sqs, "steps.fifo")["ContentBasedDeduplication"] == "true"
    assert sqs.list_queue_tags(QueueUrl="work")["Tags"] == {"team": "shop"}
    assert len(sqs.list_dead_letter_source_queues(QueueUrl="dead")["queueUrls"]) == 1
    sqs.send_message(QueueUrl="steps.fifo", MessageBody="m", MessageGroupId="g")


def test_a_start_with_the_same_file_changes_nothing_and_one_with_another_brings_queues_up_to_date(
    start: Start,
) -> None:
    server = start(DECLARED)
    sqs = server.client()
    sqs.send_message(QueueUrl="work", MessageBody="kept")
    before = attributes(sqs, "work")
    assert server.stop() == 0
    server.start()
    assert attributes(server.client(), "work") == before
    assert server.stop() == 0
    (server.folder / "penstock.toml").write_text('[[queues]]\nname = "work"\nattributes = { VisibilityTimeout = 7 }\n')
    server.start()
    sqs = server.client()
    assert attributes(sqs, "work")["VisibilityTimeout"] == "7"
    assert sqs.receive_message(QueueUrl="work")["Messages"][0]["Body"] == "kept"
    assert "dead" in str(sqs.list_queues()["QueueUrls"]), "what is no longer declared stays"


def test_wrong_attributes_stop_the_start_and_are_all_named(tmp_path: Path) -> None:
    toml = """
        [[queues]]
        name = "work"
        attributes = { VisibilityTimout = 90, DelaySeconds = 901 }
        [[queues]]
        name = "steps"
        attributes = { FifoQueue = true }
    """
    said = "\n".join(refusal(tmp_path, toml))
    assert 'queues "work": VisibilityTimout "90"' in said
    assert "did you mean VisibilityTimeout?" in said
    assert 'queues "work": DelaySeconds "901"' in said
    assert 'queues "steps"' in said


def test_a_dead_letter_queue_that_is_nowhere_stops_the_start(tmp_path: Path) -> None:
    (line,) = refusal(tmp_path, DECLARED.replace(":dead", ":missing"))
    assert line.startswith("penstock: queue work: ")
    assert "missing" in line or "does not exist" in line


def test_a_key_that_nobody_declared_stops_the_start_and_one_that_is_disabled_only_its_queue(
    start: Start, tmp_path: Path
) -> None:
    toml = '[[queues]]\nname = "sealed"\nattributes = { KmsMasterKeyId = "alias/orders" }\n'
    (line,) = refusal(tmp_path, toml)
    assert line == "penstock: queue sealed: Alias alias/orders is not found."
    server = start(toml, kms_keys="alias/orders")
    server.client().send_message(QueueUrl="sealed", MessageBody="kept")
    assert server.stop() == 0
    disabled = start(toml, kms_keys="alias/orders", kms_keys_disabled="alias/orders")
    sqs = disabled.client()
    with pytest.raises(sqs.exceptions.KmsDisabled):
        sqs.receive_message(QueueUrl="sealed")
    assert disabled.stop() == 0
    back = start(toml, kms_keys="alias/orders")
    assert back.client().receive_message(QueueUrl="sealed")["Messages"][0]["Body"] == "kept"

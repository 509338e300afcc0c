"""What operators and their tools see: health, metrics, logs; and what nobody may see there."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from operating import Start, page, variables

from server_process import Server

BODY, SECRET = "a body for nobody else's eyes", "a value for nobody else's eyes"


@pytest.fixture(scope="module")
def handles() -> list[str]:
    """Those that `observed` gave out."""
    return []


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory, handles: list[str]) -> Iterator[Server]:
    """A server that says all it can, after a message's life and some refusals."""
    server = Server(tmp_path_factory.mktemp("observed"), variables({"log_level": "debug", "log_format": "json"}))
    server.start()
    sqs = server.client()
    sqs.create_queue(QueueName="seen")
    kind = {"kind": {"DataType": "String", "StringValue": SECRET}}
    for _ in range(3):
        sqs.send_message(QueueUrl="seen", MessageBody=BODY, MessageAttributes=kind)
    handles += [sqs.receive_message(QueueUrl="seen")["Messages"][0]["ReceiptHandle"] for _ in range(2)]
    sqs.delete_message(QueueUrl="seen", ReceiptHandle=handles[0])
    with pytest.raises(ClientError, match="ReceiptHandleIsInvalid"):
        sqs.delete_message(QueueUrl="seen", ReceiptHandle=f"x{handles[1]}")
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        replace(server, secret_key="a secret that is not known").client().list_queues()
    yield server
    assert server.stop() == 0


def lines(server: Server) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (server.folder / "stderr").read_text().splitlines()]


def test_a_line_tells_of_every_request(observed: Server) -> None:
    requests = [line for line in lines(observed) if line["event"] == "request"]
    told = [(line["action"], line["queue"], line["result"], line["account"]) for line in requests]
    root = "000000000000"
    assert told[:9] == [
        ("CreateQueue", "seen", "ok", root),
        *[("SendMessage", "seen", "ok", root)] * 3,
        *[("ReceiveMessage", "seen", "ok", root)] * 2,
        ("DeleteMessage", "seen", "ok", root),
        ("DeleteMessage", "seen", "ReceiptHandleIsInvalid", root),
        ("Unknown", "", "SignatureDoesNotMatch", ""),
    ]
    assert len({line["request_id"] for line in requests}) == len(requests)
    assert all(line["milliseconds"] > 0 for line in requests)
    assert [line["status"] for line in requests[:9]] == [200] * 7 + [404, 403]


def test_the_request_id_of_a_reply_is_the_one_in_the_log(observed: Server) -> None:
    reply = observed.client().get_queue_url(QueueName="seen")
    assert lines(observed)[-1]["request_id"] == reply["ResponseMetadata"]["RequestId"]


def test_no_line_has_a_body_a_secret_or_a_handle(observed: Server, handles: list[str]) -> None:
    for hidden in (BODY, SECRET, observed.secret_key, *handles, "Signature="):
        assert hidden not in observed.output()


def test_what_goes_well_is_not_worth_a_line_at_the_usual_level(server: Server) -> None:
    sqs = server.client()
    sqs.create_queue(QueueName="worth-no-line")
    with pytest.raises(ClientError):
        sqs.get_queue_url(QueueName="worth-a-line")
    queues = [line.get("queue") for line in lines(server)]
    assert "worth-no-line" not in queues
    assert "worth-a-line" in queues


def test_the_health_pages_are_for_anyone(observed: Server) -> None:
    assert page(observed, "/health/live") == (200, "ok\n")
    assert page(observed, "/health/ready") == (200, "ready\n")


def test_the_metrics_tell_of_requests_queues_and_commits(observed: Server) -> None:
    status, text = page(observed, "/metrics")
    assert status == 200
    samples = dict(re.findall(r"^(penstock_\S+?) (\S+)$", text, re.MULTILINE))
    queue = 'account="000000000000",queue="seen",region="us-east-1"'
    for sample, value in {
        'penstock_requests_total{action="SendMessage",result="ok"}': 3,
        'penstock_requests_total{action="DeleteMessage",result="ReceiptHandleIsInvalid"}': 1,
        'penstock_requests_total{action="Unknown",result="SignatureDoesNotMatch"}': 1,
        'penstock_request_seconds_count{action="SendMessage"}': 3,
        f'penstock_queue_messages{{{queue},state="visible"}}': 1,
        f'penstock_queue_messages{{{queue},state="in_flight"}}': 1,
        f'penstock_queue_messages{{{queue},state="delayed"}}': 0,
        "penstock_waiters": 0,
    }.items():
        assert float(samples[sample]) == value, sample
    assert float(samples[f"penstock_queue_oldest_seconds{{{queue}}}"]) > 0
    assert float(samples["penstock_commit_changes_count"]) > 0
    assert float(samples["penstock_commit_seconds_sum"]) > 0


def test_nobody_can_make_up_names_in_the_metrics(observed: Server) -> None:
    page(observed, "/?Action=MadeUpByAStranger")
    assert "MadeUp" not in page(observed, "/metrics")[1]


def test_metrics_are_for_those_whom_the_settings_name(start: Start) -> None:
    server = start(metrics_from="10.0.0.0/8")
    status, text = page(server, "/metrics")
    assert (status, "penstock_" in text) == (403, False)
    assert "metrics_from" in text
    assert page(server, "/health/live") == (200, "ok\n")

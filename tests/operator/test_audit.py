"""The audit log of a running server: asked for with boto3 and by command, over kills, and with its files changed."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from operating import Start, kill, page, run

from server_process import Server

SHOP = "111122223333"
TOML = f"""
    [[accounts]]
    id = "{SHOP}"
    keys = [{{ access_key = "SHOP_ACCESS_KEY_1", secret_key = "the secret of the shop" }}]
"""


def shop(server: Server, service: str = "sqs") -> Any:
    return replace(server, access_key="SHOP_ACCESS_KEY_1", secret_key="the secret of the shop").client(service)


def refused(call: Any, **request: Any) -> str:
    with pytest.raises(ClientError) as error:
        call(**request)
    return str(error.value.response["Error"]["Code"])


def asked(server: Server, *words: str) -> str:
    """What `penstock audit` says to the root account."""
    variables = {"PENSTOCK_DATA": str(server.data)}
    done = run(server.folder, "audit", "--endpoint-url", server.url, *words, data=variables["PENSTOCK_DATA"])
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def events(server: Server, **wanted: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.client("penstock").lookup_audit_events(**wanted).get("Events", [])
    return found


def add_permission(server: Server, label: str) -> None:
    server.client().add_permission(QueueUrl="orders", Label=label, AWSAccountIds=[SHOP], Actions=["SendMessage"])


@pytest.fixture
def audited(start: Start) -> Server:
    """A server where the shop was refused something of the root account's."""
    server = start(TOML)
    url = server.client().create_queue(QueueName="orders")["QueueUrl"]
    assert refused(shop(server).send_message, QueueUrl=url, MessageBody="let me in") == "AccessDenied"
    return server


def test_a_refused_call_is_found_by_account_and_action(audited: Server) -> None:
    (event,) = events(audited, Account=SHOP, Action="sqs:SendMessage", Result="denied")
    assert event["Principal"] == f"arn:aws:iam::{SHOP}:root"
    assert event["SourceAddress"] == "127.0.0.1"
    assert event["Resource"] == "arn:aws:sqs:us-east-1:000000000000:orders"
    assert (event["ErrorCode"], event["AccessKeyId"]) == ("AccessDenied", "SHOP_ACCESS_KEY_1")
    assert events(audited, Account="999999999999") == []
    assert "let me in" not in "".join(path.read_text() for path in (audited.data / "audit").iterdir())


def test_only_the_root_account_may_look_and_trying_is_written(audited: Server) -> None:
    assert refused(shop(audited, "penstock").lookup_audit_events) == "AccessDenied"
    assert [event["Result"] for event in events(audited, Action="LookupAuditEvents", Result="denied")] == ["denied"]


@pytest.mark.parametrize(
    "request_",
    [{"MaxResults": 0}, {"MaxResults": 1001}, {"Result": "good"}, {"NextToken": "x"}, {"StartTime": 5, "EndTime": 5}],
    ids=str,
)
def test_what_cannot_be_asked_is_an_error_of_the_caller(audited: Server, request_: dict[str, Any]) -> None:
    assert refused(audited.client("penstock").lookup_audit_events, **request_) == "InvalidParameterValue"


def test_a_change_that_was_answered_is_in_the_log_after_a_kill(audited: Server, start: Start) -> None:
    for number in range(5):
        add_permission(audited, f"partner-{number}")
    kill(audited)
    done = run(audited.folder, "audit", "verify")
    assert (done.returncode, done.stderr) == (0, "")
    again = start(TOML)
    labels = [event["Resource"].rpartition("=")[2] for event in events(again, Action="AddPermission")]
    assert labels == [f"partner-{number}" for number in range(5)]
    add_permission(again, "later")
    assert run(again.folder, "audit", "verify").stdout.endswith("all is well.\n")


def test_a_table_says_who_was_refused_what(audited: Server) -> None:
    head, line = asked(audited, "--since", "1h", "--account", SHOP, "--action", "SendMessage").splitlines()
    assert head.split() == ["TIME", "RESULT", "WHO", "FROM", "ACTION", "ON", "TIMES", "REQUEST"]
    assert line.split()[2:6] == ["AccessDenied", f"arn:aws:iam::{SHOP}:root", "127.0.0.1", "sqs:SendMessage"]
    (whole,) = json.loads(asked(audited, "--action", "SendMessage", "--json"))
    assert line.split()[-1] == whole["RequestId"]
    assert asked(audited, "--principal", "anna") == "There is nothing in this time.\n"


def test_verify_names_the_line_that_was_edited_and_the_status_is_1(audited: Server) -> None:
    add_permission(audited, "partner")
    audited.stop()
    file = min((audited.data / "audit").iterdir())
    file.write_text(file.read_text().replace(f"{SHOP}:root", "000000000000:root"))
    done = run(audited.folder, "audit", "verify")
    problem, summary = done.stdout.splitlines()
    assert (done.returncode, problem) == (1, f"{file.name}, line 1: number 1 was changed after it was written")
    assert summary.endswith(": 1 problem.")


def test_verify_without_a_log_says_where_it_looked(tmp_path: Path) -> None:
    done = run(tmp_path, "audit", "verify")
    assert done.returncode == 1
    assert done.stderr == "penstock: there is no audit log at data/audit; name the server's directory with --data\n"


def test_a_flood_of_calls_without_a_signature_is_a_few_lines_that_add_up(audited: Server) -> None:
    began = time.time()
    for _ in range(100):
        assert page(audited, "/?Action=ListQueues")[0] == 403
    seconds = int(time.time() - began) + 2
    assert audited.stop() == 0
    lines = [json.loads(line) for path in (audited.data / "audit").iterdir() for line in path.read_text().splitlines()]
    of_flood = [line for line in lines if line.get("action") != "SendMessage"]
    assert sum(line.get("count", 1) for line in of_flood) == 100
    assert len(of_flood) <= 10 * seconds + 1


def test_without_an_audit_log_nothing_is_written(start: Start) -> None:
    server = start(TOML, audit="off")
    assert refused(server.client("penstock").lookup_audit_events) == "AWS.SimpleQueueService.UnsupportedOperation"
    assert not (server.data / "audit").exists()

"""The journal's operations, called with boto3 from the model that comes with Penstock."""

import json
import time
import urllib.request
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from penstock.core.journal import TAG
from server_process import MODELS, Server

PATIENCE_SECONDS = 20
LAGS = ("reader_lag", "reader_lag_seconds")


@pytest.fixture
def journal(journalling: Server) -> Any:
    return journalling.client("penstock")


@pytest.fixture
def sqs(journalling: Server) -> Any:
    return journalling.client()


@pytest.fixture
def stranger(journalling: Server) -> Any:
    """A client of another account than the root's."""
    session = boto3.Session("AKIAOTHERACCOUNT01", "a secret of the other account", region_name=journalling.region)
    session._loader.search_paths.append(str(MODELS))
    return session.client("penstock", endpoint_url=journalling.url)


def events_of(journal: Any, queue: str, until: str) -> list[dict[str, Any]]:
    """The events of a queue, once there is one of this kind."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found, seq, more = [], 1, True
        while more:
            reply = journal.read_journal(Queue=queue, FromSeq=seq)
            found += [json.loads(line) for line in reply["Lines"].splitlines()]
            seq, more = reply["NextSeq"], reply["More"]
        if until in {event["event"] for event in found}:
            return found
        time.sleep(0.05)
    raise AssertionError(f"there was no {until}")


def refused(call: Any, **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as error:
        call(**request)
    said = error.value.response["Error"]
    return said["Code"], said["Message"]


def test_what_is_done_over_sqs_is_read_from_the_journal(journal: Any, sqs: Any) -> None:
    url = sqs.create_queue(QueueName="read", tags={TAG: "full"})["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="hello")
    [message] = sqs.receive_message(QueueUrl=url)["Messages"]
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    sqs.receive_message(QueueUrl=url)
    events = [event for event in events_of(journal, "read", "EMPTY_RECEIVE") if event["event"] != "GAUGE"]
    assert [event["event"] for event in events] == ["QUEUE_CREATED", "SENT", "RECEIVED", "DELETED", "EMPTY_RECEIVE"]
    assert {event["principal"] for event in events} == {"arn:aws:iam::000000000000:root"}
    assert {event.get("message_id") for event in events[1:4]} == {message["MessageId"]}
    assert [event.get("body") for event in events] == [None, "hello", None, None, None]


def test_a_reader_waits_for_events_that_come(journal: Any, sqs: Any) -> None:
    url = sqs.create_queue(QueueName="awaited")["QueueUrl"]
    last = journal.list_journal_segments()["LastSeq"]
    assert journal.read_journal(FromSeq=last + 1000)["Lines"] == b""
    sqs.send_message(QueueUrl=url, MessageBody="hello")
    reply = journal.read_journal(FromSeq=last + 1, WaitTimeSeconds=20)
    assert reply["FirstSeq"] == last + 1
    assert json.loads(reply["Lines"].splitlines()[0])["seq"] == last + 1


def test_segments_are_listed_and_published(journal: Any, sqs: Any) -> None:
    sqs.create_queue(QueueName="published")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not [s for s in journal.list_journal_segments().get("Segments", []) if "LastSeq" in s]:
        assert time.monotonic() < deadline, "no segment was published"
        time.sleep(0.05)
    reply = journal.list_journal_segments()
    first = reply["Segments"][0]
    assert (first["Node"], first["FirstSeq"]) == (reply["Node"], 1)
    assert first["Name"].startswith(f"node={reply['Node']}/date={first['Date']}/00000000000000000001-")


def test_a_reader_registers_commits_and_is_forgotten(journal: Any, sqs: Any) -> None:
    sqs.create_queue(QueueName="committed")
    name = "spark"
    assert journal.register_journal_reader(ReaderName=name)["ReaderName"] == name
    last, node = (reply := journal.list_journal_segments())["LastSeq"], reply["Node"]
    assert journal.commit_journal_reader(ReaderName=name, Seq=last)["Committed"] == {node: last}
    [reader] = journal.list_journal_readers()["Readers"]
    assert (reader["ReaderName"], reader["Committed"]) == (name, {node: last})
    journal.remove_journal_reader(ReaderName=name)
    assert "Readers" not in journal.list_journal_readers()
    assert refused(journal.remove_journal_reader, ReaderName=name) == (
        "ResourceNotFoundException",
        "There is no reader spark of the journal.",
    )
    assert refused(journal.commit_journal_reader, ReaderName=name, Seq=1)[0] == "ResourceNotFoundException"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"FromSeq": 0}, "InvalidParameterValue"),
        ({"MaxBytes": 0}, "InvalidParameterValue"),
        ({"MaxBytes": 1_048_577}, "InvalidParameterValue"),
        ({"WaitTimeSeconds": 21}, "InvalidParameterValue"),
        ({"Node": "../.."}, "ResourceNotFoundException"),
    ],
)
def test_what_makes_no_sense_is_refused(journal: Any, request_: dict[str, Any], code: str) -> None:
    assert refused(journal.read_journal, **request_)[0] == code


def test_a_commit_beyond_the_last_event_and_a_name_that_is_none_are_refused(journal: Any) -> None:
    assert refused(journal.register_journal_reader, ReaderName="a/b")[0] == "InvalidParameterValue"
    journal.register_journal_reader(ReaderName="eager")
    assert refused(journal.commit_journal_reader, ReaderName="eager", Seq=10**9)[0] == "InvalidParameterValue"
    journal.remove_journal_reader(ReaderName="eager")


def test_only_the_root_account_may_and_refusals_are_events(journal: Any, stranger: Any) -> None:
    for call, request in (
        (stranger.read_journal, {}),
        (stranger.list_journal_segments, {}),
        (stranger.list_journal_readers, {}),
        (stranger.register_journal_reader, {"ReaderName": "x"}),
        (stranger.commit_journal_reader, {"ReaderName": "x", "Seq": 1}),
        (stranger.remove_journal_reader, {"ReaderName": "x"}),
    ):
        code, message = refused(call, **request)
        assert code == "AccessDenied"
        assert message.startswith("User: arn:aws:iam::111122223333:root is not authorized to perform: penstock:")
    assert refused(stranger.peek_messages, QueueUrl="http://x/000000000000/private")[0] == "AccessDenied"
    denied = [event for event in events_of(journal, "private", "DENIED") if event["event"] == "DENIED"]
    assert [(e["account"], e["principal"], e["reason"]) for e in denied] == [
        ("000000000000", "arn:aws:iam::111122223333:root", "PeekMessages")
    ]


def test_a_tag_that_is_no_level_is_refused(sqs: Any) -> None:
    said = f"Value loud for parameter {TAG} is invalid. Reason: Must be one of off, events, full."
    assert refused(sqs.create_queue, QueueName="loud", tags={TAG: "loud"}) == ("InvalidParameterValue", said)
    url = sqs.create_queue(QueueName="quiet")["QueueUrl"]
    assert refused(sqs.tag_queue, QueueUrl=url, Tags={TAG: "loud"})[0] == "InvalidParameterValue"


def test_metrics_tell_of_the_journal(journalling: Server, journal: Any, sqs: Any) -> None:
    sqs.create_queue(QueueName="measured")
    journal.register_journal_reader(ReaderName="metered")
    browser = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    page = browser.open(f"{journalling.url}/metrics", timeout=PATIENCE_SECONDS).read().decode()
    journal.remove_journal_reader(ReaderName="metered")
    names = ("events_total", "bytes", *(f'{name}{{reader="metered"}}' for name in LAGS), "segments_forced_total")
    values = {name: float(page.split(f"\npenstock_journal_{name} ")[1].split("\n")[0]) for name in names}
    assert values["segments_forced_total"] == 0
    assert values['reader_lag{reader="metered"}'] == values["events_total"] > 0
    assert values["bytes"] > 0
    assert 0 < values['reader_lag_seconds{reader="metered"}'] < 3600


def test_a_reader_that_is_done_is_not_behind(journalling: Server, journal: Any, sqs: Any) -> None:
    sqs.create_queue(QueueName="done-with")
    journal.register_journal_reader(ReaderName="done")
    browser, deadline = (
        urllib.request.build_opener(urllib.request.ProxyHandler({})),
        time.monotonic() + PATIENCE_SECONDS,
    )
    lags = [""]
    while lags != ["0.0", "0.0"] and time.monotonic() < deadline:  # others write as well
        last = journal.list_journal_segments()["LastSeq"]
        journal.commit_journal_reader(ReaderName="done", Seq=last)
        page = browser.open(f"{journalling.url}/metrics", timeout=PATIENCE_SECONDS).read().decode()
        lags = [page.split(f'\npenstock_journal_{name}{{reader="done"}} ')[1].split("\n")[0] for name in LAGS]
    journal.remove_journal_reader(ReaderName="done")
    assert lags == ["0.0", "0.0"]

"""`penstock.journal` from a running server: up to the last event, with a reader that the server knows."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadMaxRows

from penstock.pipeline.sources.journal import JournalSource
from penstock.pipeline.sources.journal.columns import COLUMNS
from penstock.pipeline.sources.journal.plan import Piece, Segment
from penstock.pipeline.sources.journal.server import Refused
from penstock.pipeline.sources.journal.server import Server as Remote
from pipeline.journal_source import FORMAT, Following, events, rows
from pipeline.journals import Journal
from server_process import Server


@pytest.fixture(scope="module")
def journalling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that publishes each second, so that there are segments of both kinds."""
    settings = {"PENSTOCK_JOURNAL": "full", "PENSTOCK_JOURNAL_SEGMENT_SECONDS": "1"}
    server = Server(tmp_path_factory.mktemp("journalling"), settings)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def send(journalling: Server) -> Callable[..., None]:
    sqs = journalling.client()

    def send(queue: str, count: int) -> None:
        url = sqs.create_queue(QueueName=queue)["QueueUrl"]
        attributes = {"n": {"DataType": "Number", "StringValue": "7"}}
        for number in range(count):
            sqs.send_message(QueueUrl=url, MessageBody=f"{number} ü", MessageAttributes=attributes)

    return send


def options(server: Server) -> dict[str, str]:
    keys = {"accessKey": server.access_key, "secretKey": server.secret_key}
    return {"endpoint": server.url, "region": server.region} | keys


@pytest.fixture
def remote(journalling: Server) -> Iterator[Remote]:
    with closing(
        Remote(journalling.url, journalling.region, (journalling.access_key, journalling.secret_key, None))
    ) as it:
        yield it


def lines(server: Server) -> list[dict[str, Any]]:
    reply = server.client("penstock").read_journal(FromSeq=1)
    assert not reply["More"]
    return [json.loads(line) for line in reply["Lines"].splitlines()]


def reader_of(server: Server, name: str) -> dict[str, Any]:
    known = server.client("penstock").list_journal_readers()["Readers"]
    return next(reader for reader in known if reader["ReaderName"] == name)


def test_a_batch_has_every_event_up_to_the_last(
    spark: SparkSession, journalling: Server, send: Callable[..., None]
) -> None:
    send("http-batch", 30)
    expected = lines(journalling)
    frame = spark.read.format(FORMAT).options(**options(journalling), eventsPerPartition=7).load()
    assert events(rows(frame))[: len(expected)] == expected
    assert sum(event["event"] == "SENT" and event["queue"] == "http-batch" for event in expected) == 30


def test_a_stream_has_every_event_once_and_tells_the_server_how_far_it_is(
    spark: SparkSession, journalling: Server, send: Callable[..., None], tmp_path: Path
) -> None:
    asked = options(journalling) | {"reader": "audit", "maxEventsPerTrigger": "9", "queue": "http-stream"}
    stream = Following(spark, tmp_path, **asked)
    send("http-stream", 20)
    first = [row["body"] for batch in stream.to_the_end() for row in batch if row["event"] == "SENT"]
    send("http-stream", 5)
    second = [row["body"] for batch in stream.to_the_end() for row in batch if row["event"] == "SENT"]
    assert (first, second) == ([f"{n} ü" for n in range(20)], [f"{n} ü" for n in range(5)])
    last = next(e["seq"] for e in reversed(lines(journalling)) if e["queue"] == "http-stream" and e["event"] == "SENT")
    (committed,) = reader_of(journalling, "audit")["Committed"].values()
    assert committed >= last


def test_a_folder_can_be_read_and_the_server_told(
    journalling: Server, send: Callable[..., None], journal: Journal
) -> None:
    send("http-both", 3)
    journal.publish(*lines(journalling))
    given = options(journalling) | {"path": str(journal.folder), "reader": "both"}
    stream = JournalSource(given).streamReader(COLUMNS)
    start = stream.initialOffset()
    assert not reader_of(journalling, "both").get("Committed")
    end = stream.latestOffset(start, ReadMaxRows(1))
    assert reader_of(journalling, "both")["Committed"] == start
    stream.commit(end)
    stream.stop()
    assert reader_of(journalling, "both")["Committed"] == end


def test_pieces_of_any_size_put_together_are_the_journal(
    journalling: Server, remote: Remote, send: Callable[..., None]
) -> None:
    send("http-pieces", 40)
    expected = lines(journalling)
    found = b""
    for start in range(1, len(expected) + 1, 13):
        segment = Segment(expected[0]["node"], 1, len(expected), None, "name")
        piece = Piece(segment, start, min(start + 12, len(expected)))
        found += b"".join(block.lines for block in remote.read(piece))
    assert [json.loads(line) for line in found.splitlines()] == expected


def test_events_that_the_server_does_not_have_are_a_gap(
    journalling: Server, remote: Remote, send: Callable[..., None]
) -> None:
    send("http-gap", 1)
    last = len(lines(journalling))
    segment = Segment(lines(journalling)[0]["node"], 1, last + 1000, None, "name")
    *_, gap = remote.read(Piece(segment, last + 500, last + 600))
    assert (gap.start, gap.end, gap.events) == (last + 500, last + 600, 101)


def test_a_commit_for_a_node_that_is_gone_is_nothing_and_for_a_reader_that_is_gone_an_error(
    journalling: Server, remote: Remote
) -> None:
    remote.register("leaver")
    remote.commit("leaver", "000000000000", 5)
    with pytest.raises(Refused, match=r"CommitJournalReader at http.* There is no reader nobody"):
        remote.commit("nobody", lines(journalling)[0]["node"], 1)


def test_a_wrong_key_is_one_clear_error(journalling: Server) -> None:
    place = Remote(journalling.url, journalling.region, (journalling.access_key, "another secret", None))
    with (
        pytest.raises(Refused, match=r"ListJournalSegments at http://\S+ was refused: InvalidSignatureException"),
        closing(place),
    ):
        place.segments()


def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.pipeline.sources.journal.server.FIRST_PAUSE_SECONDS", 0.001)
    with pytest.raises(ConnectionError, match=r"ListJournalSegments at http://127.0.0.1:9 failed 5 times: .*refused"):
        Remote("http://127.0.0.1:9", "us-east-1", ("key", "secret", None)).segments()

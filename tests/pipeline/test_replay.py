"""`penstock pipeline replay` against a real server: order, repetition, a kill between sending and remembering."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline import replaying
from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import replay
from penstock.pipeline.schemas import EVENTS, REPLAYS
from penstock.pipeline.streaming import JobFailed
from penstock.pipeline.tables import Batch, ParquetTable, open_table
from server_process import Server

from .journals import line
from .traffic import frame

MESSAGES = 60
ATTRIBUTES = {"bus.type": ["String", "order"], "blob": ["Binary", "AHg="]}
Messages = list[dict[str, Any]]


@pytest.fixture
def out(spark: SparkSession, tmp_path: Path) -> str:
    lines = [
        line(seq, after_ms=seq, body=f"body {seq}", message_id=f"m{seq}", group=f"g{seq % 4}", attributes=ATTRIBUTES)
        for seq in range(1, MESSAGES + 1)
    ]
    folder = str(tmp_path / "tables")
    open_table(spark, folder, EVENTS).append(frame(spark, lines), Batch("q" * 32, 0))
    return folder


@pytest.fixture(params=["", ".fifo"], ids=["standard", "fifo"])
def queue(request: pytest.FixtureRequest, server: Server) -> str:
    fifo = {"FifoQueue": "true"} if request.param else {}
    name = f"replay-{uuid4().hex}{request.param}"
    return str(server.client().create_queue(QueueName=name, Attributes=fifo)["QueueUrl"])


def run(spark: SparkSession, server: Server, out: str, queue: str, **own: Any) -> int:
    ask = Ask(
        "replay", out=out, endpoint_url=server.url, region=server.region, own={"to_queue": queue, "yes": True, **own}
    )
    return replay.run(spark, ask, {"accessKey": server.access_key, "secretKey": server.secret_key})


def drained(server: Server, queue: str) -> Messages:
    client, found = server.client(), list[dict[str, Any]]()
    names = {"MessageSystemAttributeNames": ["All"], "MessageAttributeNames": ["All"]}
    while got := client.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, **names).get("Messages"):
        found += got
        entries = [{"Id": str(at), "ReceiptHandle": one["ReceiptHandle"]} for at, one in enumerate(got)]
        client.delete_message_batch(QueueUrl=queue, Entries=entries)
    return found


def bodies(found: Messages) -> list[str]:
    return sorted((one["Body"] for one in found), key=lambda body: int(body.split()[1]))


EVERY = [f"body {seq}" for seq in range(1, MESSAGES + 1)]


def test_every_message_comes_once_as_it_was_sent(spark: SparkSession, server: Server, out: str, queue: str) -> None:
    assert run(spark, server, out, queue) == 0
    found = drained(server, queue)
    assert bodies(found) == EVERY
    assert {one["Attributes"]["MessageGroupId"] for one in found} == {"g0", "g1", "g2", "g3"}
    assert all(one["MessageAttributes"]["bus.type"]["StringValue"] == "order" for one in found)
    assert all(one["MessageAttributes"]["blob"]["BinaryValue"] == b"\0x" for one in found)


def test_a_group_keeps_its_order_over_many_pieces(
    spark: SparkSession, server: Server, out: str, queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not queue.endswith(".fifo"):
        pytest.skip("a standard queue promises no order")
    monkeypatch.setattr(replaying, "MOST", 25)
    run(spark, server, out, queue)
    groups = defaultdict(list)
    for one in drained(server, queue):
        groups[one["Attributes"]["MessageGroupId"]].append(int(one["Body"].split()[1]))
    assert all(numbers == sorted(numbers) for numbers in groups.values())
    assert sum(map(len, groups.values())) == MESSAGES


def test_a_replay_that_is_repeated_sends_nothing(
    spark: SparkSession, server: Server, out: str, queue: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(spark, server, out, queue)
    drained(server, queue)
    assert run(spark, server, out, queue) == 0
    assert "60 more were sent by this replay and are left out" in capsys.readouterr().out
    assert drained(server, queue) == []


def test_a_replay_killed_before_it_remembers_goes_on_and_a_fifo_queue_gets_each_once(
    spark: SparkSession, server: Server, out: str, queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "MOST", 25)
    append, calls = ParquetTable.append, list[int]()

    def killed(table: ParquetTable, *words: Any) -> int | None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return append(table, *words)

    with monkeypatch.context() as patch:
        patch.setattr(ParquetTable, "append", killed)
        with pytest.raises(KeyboardInterrupt):
            run(spark, server, out, queue)
    run(spark, server, out, queue)
    found = bodies(drained(server, queue))
    assert sorted(set(found), key=lambda body: int(body.split()[1])) == EVERY
    assert len(found) == (MESSAGES if queue.endswith(".fifo") else MESSAGES + 25)
    assert open_table(spark, out, REPLAYS).read().count() == MESSAGES


def test_a_queue_that_is_not_there_is_one_line_and_nothing_counts_as_sent(
    spark: SparkSession, server: Server, out: str, queue: str
) -> None:
    with pytest.raises(JobFailed, match="QueueDoesNotExist") as raised:
        run(spark, server, out, queue.replace("replay-", "gone-"))
    assert "\n" not in str(raised.value)
    assert not Path(out, "replays").exists()


def test_progress_is_told(
    spark: SparkSession, server: Server, out: str, queue: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(spark, server, out, queue, rate=500, where="seq <= 10")
    lines = [json.loads(one) for one in capsys.readouterr().err.splitlines() if one.startswith("{")]
    assert [(one["rows"], one["behind"]) for one in lines if one["event"] == "batch"] == [(10, 0)]

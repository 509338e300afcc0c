"""What a replay is made of: which messages, in which pieces, and as what."""

from base64 import b64encode
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from pyspark.sql import SparkSession

from penstock.cli import parser_of
from penstock.cli.pipeline import asked
from penstock.pipeline import replaying
from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import replay
from penstock.pipeline.replaying import Piece
from penstock.pipeline.schemas import EVENTS, REPLAYS
from penstock.pipeline.streaming import JobFailed
from penstock.pipeline.tables import Batch, TableError, open_table

from .journals import START, Journal, line
from .traffic import frame

TARGET = "http://127.0.0.1:1/000000000000/again"
LINES = [
    line(1, after_ms=0, body="a", message_id="m1", size=1, group="g"),
    line(2, "RECEIVED", after_ms=1, message_id="m1"),
    line(3, after_ms=5, body="b", message_id="m2", size=2, queue="mail"),
    line(4, after_ms=9, message_id="m3", size=4),
]


def ask(out: str = "", **own: object) -> Ask:
    return Ask("replay", out=out, own={"to_queue": TARGET, **own}, dry_run=True)


def test_messages_are_chosen_by_time_queue_and_any_condition(spark: SparkSession) -> None:
    rows = frame(spark, LINES)

    def found(chosen: Ask) -> list[int]:
        return sorted(row["seq"] for row in replaying.chosen(rows, chosen).collect())

    assert found(ask()) == [1, 3, 4]
    assert found(Ask("replay", start_ms=START + 5, end_ms=START + 9)) == [3]
    assert found(Ask("replay", queue=("mail",))) == [3]
    assert found(ask(where="size >= 2 AND body IS NOT NULL")) == [3]


def test_a_wrong_condition_is_one_line(spark: SparkSession) -> None:
    with pytest.raises(JobFailed, match=r"^--where: A column.*`bodi` cannot be resolved.*line 1, column 1"):
        replaying.chosen(frame(spark, LINES), ask(where="bodi = 'a'"))


def test_the_same_question_has_the_same_id_and_another_has_another() -> None:
    words = ["replay", "--to-queue", TARGET, "--queue", "b", "--queue", "a", "--where", "size > 1"]
    one = replaying.replay_id(asked(parser_of("pipeline").parse_args(words)))
    turned = [*words[:3], "--queue", "a", "--queue", "b", *words[7:]]
    assert replaying.replay_id(asked(parser_of("pipeline").parse_args(turned))) == one
    assert replaying.replay_id(asked(parser_of("pipeline").parse_args([*words, "--to", "5"]))) != one
    assert replaying.replay_id(asked(parser_of("pipeline").parse_args([*words, "--id", "mine"]))) == "mine"


def test_pieces_follow_the_nodes_in_time_and_hold_no_more_than_a_minute_of_the_rate(spark: SparkSession) -> None:
    older = [line(seq, after_ms=seq, node="zz") for seq in range(1, 131)]
    newer = [line(seq, after_ms=1000 + seq, node="aa") for seq in range(1, 71)]
    found = replaying.pieces(frame(spark, [*newer, *older]), rate=1)
    assert [piece.node for piece in found] == ["zz", "zz", "zz", "aa", "aa"]
    assert all(piece.messages <= 60 for piece in found)
    assert sum(piece.messages for piece in found) == 200


@given(some.lists(some.integers(1, 40), max_size=30), some.integers(40, 90))
def test_joined_blocks_lose_nothing_and_stay_in_order(sizes: list[int], most: int) -> None:
    blocks = [Piece("n", number * 100, number * 100 + 99, size) for number, size in enumerate(sizes)]
    found = list(replaying._joined(iter(blocks), most))
    assert sum(piece.messages for piece in found) == sum(sizes)
    assert [piece.first for piece in found] == sorted(piece.first for piece in found)
    assert all(piece.messages <= most for piece in found)
    assert all(one.last < two.first for one, two in pairwise(found))


def test_attributes_and_groups_come_back_as_they_were_sent(spark: SparkSession) -> None:
    attributes = {
        "bus.type": ["String", "order"],
        "n": ["Number.int", "5"],
        "b": ["Binary", b64encode(b"\0x").decode()],
    }
    rows = frame(spark, [line(7, body="x", group="g", message_id="m", attributes=attributes)])
    (row,) = replaying.messages(rows, "r", fifo=True, partitions=1).collect()
    assert (row["body"], row["group_id"], len(row["deduplication_id"])) == ("x", "g", 64)
    assert {name: tuple(value) for name, value in row["attributes"].items()} == {
        "bus.type": ("String", "order", None),
        "n": ("Number.int", "5", None),
        "b": ("Binary", None, bytearray(b"\0x")),
    }


def test_a_group_is_in_one_partition_in_the_order_of_sending(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    lines = [line(seq, body=str(seq), group=f"g{seq % 5}", message_id=str(seq)) for seq in range(200, 0, -1)]
    sent = replaying.messages(frame(spark, lines), "r", fifo=True, partitions=3)
    rows = sent.select("group_id", "body", F.spark_partition_id().alias("at")).collect()
    for group in {row["group_id"] for row in rows}:
        own = [row for row in rows if row["group_id"] == group]
        assert len({row["at"] for row in own}) == 1
        assert [int(row["body"]) for row in own] == sorted(int(row["body"]) for row in own)


def test_what_a_replay_has_sent_is_left_out_and_what_another_has_is_not(spark: SparkSession) -> None:
    sent = [
        {"node": LINES[0]["node"], "seq": 1, "replay": "mine"},
        {"node": LINES[0]["node"], "seq": 3, "replay": "other"},
    ]
    replays = spark.createDataFrame(sent, REPLAYS.all)
    rows = replaying.chosen(frame(spark, LINES), ask())
    assert sorted(row["seq"] for row in replaying.missing(rows, replays, "mine").collect()) == [3, 4]


@pytest.fixture
def out(spark: SparkSession, tmp_path: Path) -> str:
    folder = str(tmp_path / "tables")
    open_table(spark, folder, EVENTS).append(frame(spark, LINES), Batch("q" * 32, 0))
    return folder


def test_a_dry_run_says_what_it_would_cost_and_leaves_no_trace(
    spark: SparkSession, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(Path(out).rglob("*"))
    assert replay.run(spark, ask(out, where="body IS NOT NULL", rate=1, id="mine")) == 0
    assert capsys.readouterr().out == (
        f"replay mine → {TARGET}\n"
        "  messages   2 in 1 groups, 3 B, sent 2026-11-16 00:00:00 – 2026-11-16 00:00:00 UTC\n"
        "  cost       at least 1 requests SendMessageBatch\n"
        "  time       2 s at 1 a second\n"
    )
    assert sorted(Path(out).rglob("*")) == before


def test_messages_without_a_body_are_refused_with_how_many_and_why(spark: SparkSession, out: str) -> None:
    with pytest.raises(TableError, match=r"^1 of the 3 messages have no body: the journal was not `full`"):
        replay.run(spark, ask(out))


def test_messages_without_a_group_are_not_for_a_fifo_queue(spark: SparkSession, out: str) -> None:
    chosen = Ask("replay", out=out, own={"to_queue": f"{TARGET}.fifo", "where": "body IS NOT NULL"}, dry_run=True)
    with pytest.raises(TableError, match=r"^1 of the 2 messages have no group, which a FIFO queue needs"):
        replay.run(spark, chosen)


def test_without_anybody_to_ask_nothing_is_sent(spark: SparkSession, out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    chosen = Ask("replay", out=out, own={"to_queue": TARGET, "where": "body IS NOT NULL"})
    with pytest.raises(TableError, match="give --yes to send"):
        replay.run(spark, chosen)


def test_the_journal_will_do_without_a_table(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Journal(tmp_path / "journal").publish(*LINES[:3])
    chosen = Ask("replay", journal=str(tmp_path / "journal"), out=str(tmp_path), own={"to_queue": TARGET}, dry_run=True)
    assert replay.run(spark, chosen) == 0
    assert "messages   2 in 1 groups" in capsys.readouterr().out

"""The job `dlq`: what messages died of, who still waits, and the plan to bring them back."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from penstock.cli import parser_of
from penstock.cli.pipeline import asked
from penstock.pipeline import causes
from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import dlq
from penstock.pipeline.plan import ALL, parse
from penstock.pipeline.schemas import DEAD_LETTERS
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import open_table

from .journals import START, Journal, Line, line
from .play import arn

ERRORS = {
    "m1": "no answer from 10.0.0.7:8080 in 30 s for user 'ann'",
    "m2": "no answer from 10.0.0.12:8080 in 31 s for user 'bob'",
    "m3": "no answer from 10.0.0.7:8080 in 30 s for user 'cy'",
    "m4": "order 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is unknown",
}
TIMEOUT = "no answer from <n> in <n> s for user <text>"


def died(seq: int, name: str, queue: str = "orders", **fields: Any) -> list[Line]:
    """Sent, received once, dead-lettered; three lines."""
    attributes = {"error": ["String", ERRORS[name]]} if name in ERRORS else {}
    about = {"queue": queue, "message_id": name}
    times = {"receive_count": 1, "duration_ms": seq + 1}
    dead = {"endpoint": arn(f"{queue}-dead"), "reason": "maxReceiveCount"}
    first = {"sent_ms": START + seq, "first_receive_ms": START + seq + 1, "principal": f"worker of {queue}"}
    return [
        line(seq, "SENT", seq, **about, attributes=attributes, body=json.dumps({"name": name}), **fields),
        line(seq + 1, "RECEIVED", seq + 1, **about, **times, **first, **fields),
        line(seq + 2, "DEAD_LETTERED", seq + 2, **about, **times, **dead),
    ]


LINES = [
    *(one for number, name in enumerate(ERRORS) for one in died(1 + 3 * number, name, type="order")),
    line(13, "DELETED", 13, queue="orders-dead", message_id="m2", receive_count=2, duration_ms=1),
    *died(14, "m5", "mail"),
    *died(17, "m6", "purged"),
    line(20, "PURGED", 20, queue="purged-dead", count=1),
]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    folder = tmp_path_factory.mktemp("dlq")
    journal = Journal(folder / "journal")
    journal.publish(*LINES)
    words = (
        f"dlq --journal {journal.folder} --out {folder}/tables --plan {folder}/plan.json --report {folder}/report.json"
    )
    return asked(parser_of("pipeline").parse_args([*words.split(), "--error-attribute", "error", "--samples", "2"]))


@pytest.fixture(scope="module")
def found(spark: SparkSession, ask: Ask) -> Mapping[str, Any]:
    """By type and error: the groups that a run found."""
    assert dlq.run(spark, ask) == 0
    report = json.loads(Path(ask.own["report"]).read_text())
    return {group["error"] or group["queue"]: group for group in report["groups"]}


def test_dead_letters_of_one_cause_are_one_group(found: Mapping[str, Any]) -> None:
    assert {name: (group["count"], group["waiting"]) for name, group in found.items()} == {
        TIMEOUT: (3, 2),
        "order <id> is unknown": (1, 1),
        "mail": (1, 1),
        "purged": (1, 0),
    }
    timeout = found[TIMEOUT]
    assert (timeout["first_ms"], timeout["last_ms"]) == (START + 3, START + 9)
    assert (timeout["queue"], timeout["dead_letter_queue"], timeout["type"]) == ("orders", arn("orders-dead"), "order")
    assert (timeout["reason"], timeout["receiver"]) == ("maxReceiveCount", "worker of orders")


def test_samples_are_the_latest_of_those_that_wait(found: Mapping[str, Any]) -> None:
    assert found[TIMEOUT]["sample_ids"] == ["m3", "m1"]
    assert found[TIMEOUT]["sample_bodies"] == ['{"name": "m3"}', '{"name": "m1"}']


def test_the_plan_lists_messages_unless_nothing_else_is_in_the_queue(found: Mapping[str, Any], ask: Ask) -> None:
    plan = parse(Path(ask.own["plan"]).read_text())
    planned = {group.signature: (group.destination, group.messages, group.count) for group in plan.groups}
    assert planned == {
        found[TIMEOUT]["signature"]: (arn("orders"), ["m1", "m3"], 2),
        found["order <id> is unknown"]["signature"]: (arn("orders"), ["m4"], 1),
        found["mail"]["signature"]: (arn("mail"), ALL, 1),
    }
    assert not any(group.chosen for group in plan.groups)


def test_the_table_has_what_the_report_has(spark: SparkSession, found: Mapping[str, Any], ask: Ask) -> None:
    rows = open_table(spark, ask.out, DEAD_LETTERS).read().collect()
    assert {row["signature"]: row["count"] for row in rows} == {g["signature"]: g["count"] for g in found.values()}


def test_a_plan_is_never_overwritten(spark: SparkSession, found: Mapping[str, Any], ask: Ask) -> None:
    with pytest.raises(TableError, match=r"plan\.json is there already: remove it, or name another with --plan"):
        dlq.run(spark, ask)


def test_a_dry_run_shows_the_groups_that_were_asked_about_and_writes_nothing(
    spark: SparkSession, ask: Ask, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {**ask.own, "plan": str(tmp_path / "plan.json"), "report": str(tmp_path / "report.json")}
    asked_less = replace(ask, queue=("mail-dead",), start_ms=START, dry_run=True, out=str(tmp_path / "tables"), own=own)
    assert dlq.run(spark, asked_less) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[:5] == ["SIGNATURE", "COUNT", "WAITING", "FIRST", "LAST"]
    assert row.split()[1:3] == ["1", "1"]
    assert list(tmp_path.iterdir()) == []


def test_a_signature_that_no_group_has_is_an_error(spark: SparkSession, ask: Ask, tmp_path: Path) -> None:
    own = {**ask.own, "plan": str(tmp_path / "plan.json"), "choose": ("deadbeef",)}
    with pytest.raises(TableError, match="no group has the signature deadbeef; there are "):
        dlq.run(spark, replace(ask, queue=("mail",), own=own))


def test_without_a_journal_the_table_of_events_must_have_some(spark: SparkSession, ask: Ask, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"the table 'events' in .* is empty: fill it with `penstock pipeline land`"):
        dlq.run(spark, replace(ask, out=str(tmp_path), own={**ask.own, "journal": None, "plan": str(tmp_path / "p")}))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("timeout after 30.5 s", "timeout after <n> s"),
        ('no field "price" in 0x7ffe12', "no field <text> in <id>"),
        ("can't reach ann's host", "can't reach ann's host"),
        ("object 5f4dcc3b5aa765d6 at  12:30:01", "object <id> at <n>"),
        ("deadbeef is a word, decade too", "deadbeef is a word, decade too"),
    ],
)
def test_what_differs_from_message_to_message_is_no_part_of_an_error(spark: SparkSession, text: str, form: str) -> None:
    row = spark.range(1).select(causes.normalised(F.lit(text)).alias("form")).first()
    assert row is not None
    assert row["form"] == form

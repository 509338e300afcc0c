"""What messages die of: table `dead_letters`, a report, and a plan for `penstock dlq redrive`.

Reads the table `events`, or a journal. Everything is worked out again at each run, and the table has what the last run
found; the plan is a person's paper and never overwritten.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline import causes
from penstock.pipeline.ask import Ask
from penstock.pipeline.events import batch, readable
from penstock.pipeline.files import Taken, files
from penstock.pipeline.plan import ALL, Group, Plan
from penstock.pipeline.schemas import DEAD_LETTERS, EVENTS
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import Batch, open_table

DAYS_BEFORE = 15
"""How long before its death a message may have been sent: the longest retention, and a day."""
DAY_MS = 86_400_000
MOST_IDS = 100_000
"""Of one group in a plan."""


def run(spark: SparkSession, ask: Ask) -> int:
    made = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    _unwritten(spark, ask)
    question = causes.Question(ask.start_ms, ask.end_ms, ask.queue, ask.account, ask.own)
    dead = causes.dead_letters(read(spark, ask), question)
    if dead is None:
        print("There are no dead letters.")  # noqa: T201 - what was asked for
        return 0
    dead = dead.persist()
    found = causes.groups(dead, ask.own["samples"]).orderBy(F.desc("waiting"), F.desc("count"), "signature").persist()
    rows = found.collect()
    plan = Plan(made, list(_plan(rows, causes.waiting_ids(dead, MOST_IDS).collect(), _chosen(rows, ask))))
    print("\n".join(table(rows)))  # noqa: T201
    if not ask.dry_run:
        open_table(spark, ask.out, DEAD_LETTERS, ask.format).replace(found, Batch("dlq", round(time.time() * 1000)))
        _put(spark, ask.own["plan"], plan.text(), once=True)
        report = {"version": 1, "made_at": made, "groups": [row.asDict(recursive=True) for row in rows]}
        _put(spark, ask.own["report"], json.dumps(report, indent=2, ensure_ascii=False, default=str) + "\n")
        print(_told(plan, ask))  # noqa: T201
    return 0


def read(spark: SparkSession, ask: Ask) -> DataFrame:
    since = None if ask.start_ms is None else ask.start_ms - DAYS_BEFORE * DAY_MS
    if ask.own["journal"]:
        return readable(batch(spark, ask.own["journal"], since))
    events = open_table(spark, ask.out, EVENTS, ask.format)
    if not events.writers():
        raise TableError(
            f"the table 'events' in {ask.out} is empty: fill it with `penstock pipeline land`, or read a --journal"
        )
    frame = events.read()
    return frame if since is None else frame.where(F.col("date") >= F.to_date(F.timestamp_millis(F.lit(since))))


def _chosen(rows: Sequence[Row], ask: Ask) -> set[str]:
    known = {row["signature"] for row in rows}
    asked = set(ask.own["choose"])
    if unknown := asked - known - {ALL, "none"}:
        raise TableError(
            f"no group has the signature {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}"
        )
    return known if ALL in asked else asked & known


def _plan(rows: Iterable[Row], waiting: Iterable[Row], chosen: set[str]) -> Iterator[Group]:
    found: Mapping[str, Row] = {row["signature"]: row for row in waiting}
    for row in rows:
        if there := found.get(row["signature"]):
            whole = there["others"] == row["waiting"]
            about = {name: row[name] for name in ("reason", "type", "version", "error", "receiver")}
            yield Group(
                signature=row["signature"],
                dead_letter_queue=row["dead_letter_queue"],
                destination=row["arn"],
                messages=ALL if whole else there["ids"],
                count=row["waiting"],
                chosen=row["signature"] in chosen,
                left_out=0 if whole else row["waiting"] - len(there["ids"]),
                about={**about, "first": _time(row["first_ms"]), "last": _time(row["last_ms"])},
            )


# What a person sees

COLUMNS: Mapping[str, str] = {
    "SIGNATURE": "signature", "COUNT": "count", "WAITING": "waiting", "FIRST": "first_ms", "LAST": "last_ms",
    "ACCOUNT": "account", "FROM": "queue", "TO": "dead_letter_queue", "REASON": "reason", "TYPE": "type",
    "VERSION": "version", "ERROR": "error", "RECEIVED BY": "receiver",
}  # fmt: skip


def table(rows: Sequence[Row]) -> Iterator[str]:
    """One line a group. A column that nobody fills is left out."""
    cells = [list(COLUMNS), *([_cell(name, row[name]) for name in COLUMNS.values()] for row in rows)]
    kept = [column for column in zip(*cells, strict=True) if any(cell != "-" for cell in column[1:])]
    widths = [max(map(len, column)) for column in kept]
    for line in zip(*kept, strict=True):
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name.endswith("_ms"):
        return _time(value)
    text = str(value).rpartition(":")[2] if name == "dead_letter_queue" else str(value)
    return "".join(letter if letter.isprintable() else "·" for letter in text)


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _told(plan: Plan, ask: Ask) -> str:
    waiting = sum(group.count for group in plan.groups)
    chosen = sum(group.count for group in plan.groups if group.chosen)
    left_out = sum(group.left_out for group in plan.groups)
    return (
        f"{waiting:,} dead letters wait, {chosen:,} of them are chosen: edit {ask.own['plan']}, then "
        f"`penstock dlq redrive {ask.own['plan']}`"
        + (f". {left_out:,} were too many to be listed: make another plan after it" if left_out else "")
    )


# Files


def _unwritten(spark: SparkSession, ask: Ask) -> None:
    """Say at the beginning, not after an hour, that a file is in the way."""
    folder, _, name = ask.own["plan"].rpartition("/")
    if not ask.dry_run and files(folder or ".", spark).read(name) is not None:
        raise TableError(f"{ask.own['plan']} is there already: remove it, or name another with --plan")


def _put(spark: SparkSession, path: str, text: str, once: bool = False) -> None:
    folder, _, name = path.rpartition("/")
    place = files(folder or ".", spark)
    try:
        (place.create if once else place.replace)(name, text.encode())
    except Taken:
        raise TableError(f"{path} is there already: remove it, or name another with --plan") from None

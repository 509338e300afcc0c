"""`penstock pipeline shell`: tables as views, one statement, and what is said of a wrong one."""

import io
import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import shell
from penstock.pipeline.schemas import EVENTS
from penstock.pipeline.statements import words
from penstock.pipeline.streaming import JobFailed
from penstock.pipeline.tables import Batch, TableError, open_table

from .journals import line
from .traffic import frame


@pytest.fixture(scope="module")
def out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("tables"))
    rows = [line(1, queue="orders", size=10), line(2, queue="orders", size=5), line(3, "DELETED", queue="mail")]
    open_table(spark, folder, EVENTS).append(frame(spark, rows), Batch("q" * 32, 0))
    return folder


def ask(out: str, sql: str | None, as_json: bool = False) -> Ask:
    return Ask("shell", out=out, own={"sql": sql, "json": as_json})


def test_a_statement_prints_its_rows_as_a_table(
    spark: SparkSession, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    statement = "SELECT queue, count(*) n, sum(size) bytes FROM events GROUP BY queue ORDER BY queue"
    assert shell.run(spark, ask(out, statement)) == 0
    assert "|mail  |1  |NULL |\n|orders|2  |15   |" in capsys.readouterr().out


def test_json_has_a_line_for_each_row_with_every_column(
    spark: SparkSession, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run(spark, ask(out, "SELECT seq, size, date FROM events ORDER BY seq DESC", as_json=True))
    lines = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    assert lines == [{"seq": seq, "size": size, "date": "2026-11-16"} for seq, size in ((3, None), (2, 5), (1, 10))]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELEC 1", r"^--sql: Syntax error at or near 'SELEC'\. \(line 1, column 1\)$"),
        ("SELECT * FROM event", r"^--sql: The table or view `event` cannot be found\..*\(line 1, column 15\)$"),
        (
            "SELECT queues FROM events",
            r"^--sql: A column.*`queues` cannot be.*`queue`.*\(line 1, column 8\)$",
        ),
        (
            "SELECT cast(queue AS int) FROM events",
            r"^--sql: The value 'orders' of the type \"STRING\" cannot be cast.*$",
        ),
    ],
)
def test_what_is_wrong_with_a_statement_is_one_line(spark: SparkSession, out: str, statement: str, said: str) -> None:
    with pytest.raises(JobFailed, match=said) as raised:
        shell.run(spark, ask(out, statement))
    assert "\n" not in str(raised.value)


def test_a_person_finds_every_table_by_name(
    spark: SparkSession, out: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = "print(events.where('size > 5').count(), sql('SELECT max(seq) m FROM events').first().m)\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert shell.run(spark, ask(out, None)) == 0
    captured = capsys.readouterr()
    assert "1 3\n" in captured.out
    assert "  events           node, seq, ts_ms, event," in captured.err


def test_a_folder_without_tables_is_told_what_makes_the_first(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"there is no table in .*: `penstock pipeline land --out .*` makes the first"):
        shell.run(spark, ask(str(tmp_path), "SELECT 1"))


def test_json_without_a_statement_is_refused(spark: SparkSession, out: str) -> None:
    with pytest.raises(TableError, match="--json is for the rows of a statement"):
        shell.run(spark, ask(out, None, as_json=True))


def test_a_complaint_keeps_what_a_person_needs() -> None:
    complaint = "\n[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'. SQLSTATE: 42601 (line 2, pos 3)\n\n== SQL ==\nx"
    assert words(complaint) == "Syntax error at or near 'x'. (line 2, column 4)"

"""`land`: every event in the table once, and nothing that went missing goes unsaid."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.checkpoint import Checkpoint
from penstock.pipeline.jobs import land
from penstock.pipeline.progress import Progress
from penstock.pipeline.schemas import CORRUPT, EVENTS
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import ParquetTable, open_table

from .journals import NODE, Journal, line


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


def ask(journal: Journal, **options: Any) -> Ask:
    place = journal.folder
    return Ask("land", journal=str(place), out=str(place.parent / "tables"), once=True, **options)


def landed(spark: SparkSession, journal: Journal) -> list[tuple[str, int]]:
    rows = open_table(spark, ask(journal).out, EVENTS).read().collect()
    return sorted((row.node, row.seq) for row in rows)


def findings(spark: SparkSession, journal: Journal) -> list[dict[str, Any]]:
    rows = open_table(spark, ask(journal).out, CORRUPT).read().orderBy("first", "offset").collect()
    said = [{name: value for name, value in row.asDict().items() if value is not None} for row in rows]
    for one in said:
        assert one.pop("found_ms") > 0
        assert one.pop("job") == "land"
        assert one.pop("date")
    return said


def test_what_is_published_later_is_landed_later_and_nothing_twice(spark: SparkSession, journal: Journal) -> None:
    for number in range(3):
        journal.publish(line(2 * number + 1), line(2 * number + 2, "RECEIVED"))
        land.run(spark, ask(journal, segments_at_once=1))
        assert landed(spark, journal) == [(NODE, seq) for seq in range(1, 2 * number + 3)]
    assert findings(spark, journal) == []


def test_only_the_queues_and_accounts_that_were_asked_for(spark: SparkSession, journal: Journal) -> None:
    journal.publish(line(1), line(2, queue="other"), line(3, account="111111111111"))
    land.run(spark, ask(journal, queue=("orders",), account=("000000000000",)))
    assert landed(spark, journal) == [(NODE, 1)]
    assert findings(spark, journal) == []
    with pytest.raises(TableError, match="is of another queues: 'orders', not 'other'"):
        land.run(spark, ask(journal, queue=("other",)))


@pytest.mark.parametrize(
    ("owner", "step"),
    [(ParquetTable, "append"), (ParquetTable, "_commit"), (Checkpoint, "cover"), (Progress, "show")],
)
@pytest.mark.parametrize("before", [True, False])
def test_a_job_that_dies_between_any_two_steps_lands_everything_once(
    owner: type, step: str, before: bool, spark: SparkSession, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.publish(line(1), line(2))
    journal.publish_text("torn\n" + json.dumps(line(6)) + "\n", line(5), line(6))
    really = getattr(owner, step)

    def dies(*arguments: Any, **named: Any) -> Any:
        result = None if before else really(*arguments, **named)
        raise TableError("dead")
        return result

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, dies)
        with pytest.raises(TableError, match="dead"):
            land.run(spark, ask(journal))
    for _ in range(2):
        land.run(spark, ask(journal))
    assert landed(spark, journal) == [(NODE, 1), (NODE, 2), (NODE, 6)]
    assert [found["reason"] for found in findings(spark, journal)] == [
        "not a line of the journal",
        "segments are missing",
    ]


def test_a_line_that_cannot_be_read_is_kept_with_its_file_and_offset(spark: SparkSession, journal: Journal) -> None:
    good = json.dumps(line(1)) + "\n"
    file = journal.publish_text(f'{good}{{"node":"ä\n' + json.dumps({"seq": "three"}) + "\n", line(1), line(2), line(3))
    land.run(spark, ask(journal))
    assert landed(spark, journal) == [(NODE, 1)]
    torn, wrong = findings(spark, journal)
    assert torn == {
        "reason": "not a line of the journal",
        "file": f"file:{file}",
        "offset": len(good),
        "node": NODE,
        "line": '{"node":"ä',
    }
    assert (wrong["line"], wrong["offset"]) == ('{"seq": "three"}', len(good) + len(b'{"node":"\xc3\xa4\n'))


def test_a_segment_that_is_missing_is_missed(spark: SparkSession, journal: Journal) -> None:
    journal.publish(line(1), line(2))
    land.run(spark, ask(journal))
    journal.publish(line(5), line(6))
    journal.publish(line(9))
    land.run(spark, ask(journal))
    assert landed(spark, journal) == [(NODE, seq) for seq in (1, 2, 5, 6, 9)]
    assert findings(spark, journal) == [
        {"reason": "segments are missing", "node": NODE, "first": 3, "last": 4},
        {"reason": "segments are missing", "node": NODE, "first": 7, "last": 8},
    ]


def test_where_a_node_begins_nothing_is_missed_before_it(spark: SparkSession, journal: Journal) -> None:
    journal.publish(line(100))
    journal.publish(line(7) | {"node": "another"})
    land.run(spark, ask(journal))
    assert findings(spark, journal) == []


def test_a_truncated_file_gives_what_it_has_and_the_rest_is_missed(spark: SparkSession, journal: Journal) -> None:
    lines = [line(seq, body="x" * 200 + str(seq * 7919)) for seq in range(1, 2001)]
    file = journal.publish(*lines)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    journal.publish(line(2001))
    land.run(spark, ask(journal))
    seqs = [seq for _, seq in landed(spark, journal)]
    assert seqs[-1] == 2001
    assert seqs[:-1] == list(range(1, len(seqs)))
    (short,) = [found for found in findings(spark, journal) if "lines where the name says 2000" in found["reason"]]
    assert (short["first"], short["last"]) == (len(seqs), 2000)


def test_events_and_fields_of_a_newer_server_are_landed(spark: SparkSession, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", ["seq", "colour"])
    journal.publish(line(1, "PAINTED") | {"colour": "red"})
    land.run(spark, ask(journal))
    (row,) = open_table(spark, ask(journal).out, EVENTS).read().collect()
    assert row.event == "PAINTED"
    assert json.loads(row.extra)["colour"] == "red"


def test_a_checkpoint_of_another_table_is_refused(spark: SparkSession, journal: Journal) -> None:
    journal.publish(line(1))
    land.run(spark, ask(journal))
    shutil.rmtree(Path(ask(journal).out) / "events")
    with pytest.raises(TableError, match="is of another table"):
        land.run(spark, ask(journal))


def test_a_table_that_another_checkpoint_filled_is_not_filled_again(spark: SparkSession, journal: Journal) -> None:
    journal.publish(line(1))
    land.run(spark, ask(journal))
    with pytest.raises(TableError, match="was filled with another checkpoint"):
        land.run(spark, ask(journal, checkpoint=str(journal.folder.parent / "new")))
    assert landed(spark, journal) == [(NODE, 1)]


def test_a_dry_run_says_what_waits_and_does_nothing(
    spark: SparkSession, journal: Journal, capsys: pytest.CaptureFixture[str]
) -> None:
    journal.publish(line(1), line(2), line(3))
    assert land.run(spark, ask(journal, dry_run=True)) == 0
    assert "land: 3 events of" in capsys.readouterr().out
    assert landed(spark, journal) == []


def test_each_batch_is_a_line_of_json_in_a_log(
    spark: SparkSession, journal: Journal, capsys: pytest.CaptureFixture[str]
) -> None:
    for seq in (1, 2):
        journal.publish(line(seq))
    land.run(spark, ask(journal, segments_at_once=1))
    first, second, end = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["event"], first["job"], first["batch"], first["rows"], first["behind"]) == ("batch", "land", 0, 1, 1)
    assert (second["batch"], second["done"], second["behind"], second["corrupt"]) == (1, 2, 0, 0)
    assert end["said"].startswith("land: 2 rows in")


def test_a_file_that_is_no_gzip_does_not_stop_the_job(spark: SparkSession, journal: Journal) -> None:
    journal.publish(line(1))
    journal.publish(line(2)).write_bytes(gzip.compress(b"")[:10] + b"rubbish")
    journal.publish(line(3))
    land.run(spark, ask(journal))
    assert landed(spark, journal) == [(NODE, 1), (NODE, 3)]
    (found,) = findings(spark, journal)
    assert (found["reason"], found["first"], found["last"]) == ("the file cannot be read", 2, 2)

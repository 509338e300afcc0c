"""`metrics --from --to`: the same numbers as the stream's, in the place of those that were there, and nothing else."""

from typing import Any

import pytest

from penstock.pipeline.ask import Ask
from penstock.pipeline.events import JournalError
from penstock.pipeline.jobs import land
from penstock.pipeline.stamps import TableError
from pipeline import metrics_oracle as oracle
from pipeline.journals import START, line
from pipeline.metrics_run import Tables
from pipeline.metrics_traffic import traffic

LINES = traffic(seed=7, events=400, minutes=20)
MINUTE = 60_000


@pytest.fixture
def tables(tables: Tables) -> Tables:
    """With a journal of twenty minutes, from midnight on."""
    tables.publish(LINES, (100, 250))
    return tables


def test_a_range_that_nobody_followed_is_computed_to_its_end(tables: Tables) -> None:
    tables.back_fill(0, 20)
    assert tables.metrics() == oracle.metrics(LINES)
    assert tables.latency() == oracle.latency(LINES)


def test_a_back_fill_of_what_the_stream_made_changes_nothing_however_often(tables: Tables) -> None:
    tables.follow()
    before = tables.metrics(), tables.latency()
    for _ in range(2):
        tables.back_fill(4, 12)
        assert (tables.metrics(), tables.latency()) == before
    tables.follow(final=True)
    assert tables.metrics() == oracle.metrics(LINES)


def test_late_events_are_brought_in_and_other_windows_of_the_day_stay(tables: Tables) -> None:
    tables.follow()
    late = [line(1000, size=1, after_ms=MINUTE), line(1001, size=1, after_ms=11 * MINUTE)]
    tables.publish(late)
    tables.follow()
    assert len(tables.late()) == 2
    tables.back_fill(1, 2)
    wanted = oracle.metrics(LINES + late[:1])
    assert tables.metrics() == {row for row in wanted if row[0] + row[1] * 1000 <= START + 17 * MINUTE}


def test_the_table_of_events_gives_what_the_journal_gives(tables: Tables) -> None:
    land.run(tables.spark, Ask("land", journal=tables.ask.journal, out=tables.ask.out, once=True))
    tables.back_fill(0, 20, source="events", journal="/nowhere")
    assert tables.metrics() == oracle.metrics(LINES)


def test_a_back_fill_of_one_queue_leaves_the_others(tables: Tables) -> None:
    tables.back_fill(0, 20, queue=("queue-1",))
    assert tables.metrics() == oracle.metrics(one for one in LINES if one["queue"] == "queue-1")
    tables.back_fill(0, 20, queue=("queue-0", "queue-2"))
    assert tables.metrics() == oracle.metrics(LINES)


def test_windows_that_a_job_is_still_counting_are_left_to_it(tables: Tables) -> None:
    tables.follow()
    with pytest.raises(TableError, match=r"after 2026-11-16T00:17 are not closed .* latest --to is 2026-11-16T00:15"):
        tables.back_fill(10, 20)
    with pytest.raises(TableError, match="name its --checkpoint"):
        tables.back_fill(0, 5, checkpoint="/nowhere")


def test_a_range_that_the_journal_has_only_half_of_is_refused(tables: Tables) -> None:
    tables.back_fill(0, 20)
    sorted(tables.journal.folder.rglob("*.jsonl.gz"))[0].unlink()
    before = tables.metrics()
    with pytest.raises(JournalError, match="has lost what node 4f1c2a9be07d did before"):
        tables.back_fill(0, 10)
    assert tables.metrics() == before


def test_a_range_beyond_the_journals_end_says_so(tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    tables.back_fill(0, 25)
    assert "journal ends at 2026-11-16T00:19, before that" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"end_ms": None}, "--from and --to go together"),
        ({"end_ms": 0}, "is not before --to 1970-01-01T00:00"),
        ({"final": True}, "do not go with --once or --final"),
        ({"source": "events"}, "has no events: `penstock pipeline land` fills it"),
        ({"journal": "/nowhere"}, "there is no journal in /nowhere"),
    ],
)
def test_a_wrong_range_is_refused_in_one_line(changes: dict[str, Any], said: str, tables: Tables) -> None:
    with pytest.raises((TableError, JournalError), match=said):
        tables.back_fill(0, 20, **changes)


def test_what_the_numbers_are_without_is_said(tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    last = LINES[-1]["seq"]
    tables.journal.publish_text("torn\n", line(last + 6, after_ms=20 * MINUTE))
    tables.publish([line(last + 7, size=1, after_ms=21 * MINUTE)])
    tables.back_fill(0, 20)
    said = capsys.readouterr().err
    assert "1 lines of the journal cannot be read; 5 events are missing from the journal" in said
    assert tables.metrics() == oracle.metrics(LINES)

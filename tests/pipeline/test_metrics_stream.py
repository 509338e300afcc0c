"""The job `metrics` over a journal, however it is cut: windows close once, wait as long as was said, and are right."""

from typing import Any

import pytest

from penstock.pipeline.schemas import TALLIES
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import open_table
from pipeline import metrics_oracle as oracle
from pipeline.journals import START, Line, line
from pipeline.metrics_run import Tables
from pipeline.metrics_traffic import traffic

MINUTE = 60_000


def closed(lines: list[Line], before_minute: int) -> list[Line]:
    """What is in windows of any length that are closed up to this minute."""
    return [one for one in lines if one["ts_ms"] < START + before_minute * MINUTE]


def in_time(rows: set[oracle.Row], before_minute: int) -> set[oracle.Row]:
    return {row for row in rows if row[0] + row[1] * 1000 <= START + before_minute * MINUTE}


@pytest.mark.parametrize("cuts", [(), (150, 151, 400)], ids=["one segment", "four segments"])
def test_however_the_journal_is_cut_the_closed_windows_are_those_of_a_plain_count(cuts: Any, tables: Tables) -> None:
    lines = traffic(seed=1, events=600, minutes=14)
    tables.publish(lines, cuts)
    tables.follow(segments_at_once=1)
    assert tables.metrics() == in_time(oracle.metrics(lines), 11)
    assert tables.latency() == in_time(oracle.latency(lines), 11)
    tables.follow(final=True)
    assert tables.metrics() == oracle.metrics(lines)
    assert tables.latency() == oracle.latency(lines)
    assert tables.late() == []


def test_a_window_waits_for_events_that_are_late_by_less_than_was_said(tables: Tables) -> None:
    tables.publish([line(1, size=1, after_ms=30_000), line(2, size=1, after_ms=7 * MINUTE - 1)])
    tables.follow(lateness=120)
    tables.publish([line(3, size=1, after_ms=5 * MINUTE - 1), line(4, size=1, after_ms=8 * MINUTE)])
    tables.follow(lateness=120)
    sums = {row[:2]: row[6] for row in tables.metrics() if row[4] == "NumberOfMessagesSent"}
    assert sums[START, 300] == 2
    assert tables.late() == []


def test_events_that_come_too_late_are_counted_apart_and_change_no_window(tables: Tables) -> None:
    tables.publish([line(1, size=1), line(2, size=1, after_ms=8 * MINUTE)])
    tables.follow()
    before = tables.metrics()
    assert len(before) == 4
    gauge = {"visible": 1, "in_flight": 0, "delayed": 0}
    tables.publish([line(3, size=1, after_ms=5), line(4, "GAUGE", 9, **gauge), line(5, size=1, after_ms=9 * MINUTE)])
    tables.follow()
    assert tables.metrics() == before
    assert tables.late() == [(START, "orders", "sent", 1), (START, "orders", "visible", 1)]


def test_late_events_are_in_the_progress_and_the_command_that_brings_them_in_is_told_and_does(
    tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    tables.publish([line(1, size=1), line(2, size=1, after_ms=8 * MINUTE)])
    tables.follow()
    assert '"late": 0' in capsys.readouterr().err
    tables.publish([line(3, size=1, after_ms=5), line(4, size=1, after_ms=9 * MINUTE)])
    tables.follow()
    said = capsys.readouterr().err
    assert '"late": 1' in said
    assert "1 events came too late for their windows: --from 2026-11-16T00:00 --to 2026-11-16T00:01" in said
    tables.back_fill(0, 1)
    sums = {row[:2]: row[6] for row in tables.metrics() if row[4] == "NumberOfMessagesSent"}
    assert sums[START, 60] == sums[START, 300] == 2


def test_the_state_is_what_windows_that_are_open_need_and_nothing_else(tables: Tables) -> None:
    tables.publish(traffic(seed=2, events=300, minutes=30))
    tables.follow()
    state = open_table(tables.spark, f"{tables.ask.checkpoint_place}/_state", TALLIES).read()
    assert {row.minute_ms for row in state.select("minute_ms").collect()} == {
        START + at * MINUTE for at in range(25, 30)
    }
    tables.follow(final=True)
    assert open_table(tables.spark, f"{tables.ask.checkpoint_place}/_state", TALLIES).read().count() == 0


def test_once_says_which_windows_are_open(tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    tables.publish([line(1, size=1), line(2, size=1, after_ms=6 * MINUTE)])
    tables.follow()
    assert "2 windows of five minutes are open, from 2026-11-16T00:00:00+00:00 on" in capsys.readouterr().err


def test_options_that_do_not_go_together_are_refused(tables: Tables) -> None:
    with pytest.raises(TableError, match="--final goes with --once"):
        tables.follow(once=False, final=True)
    with pytest.raises(TableError, match="--source goes with --from and --to"):
        tables.follow(source="events")


def test_after_the_end_the_job_goes_on_with_new_windows(tables: Tables) -> None:
    lines = traffic(seed=3, events=200, minutes=20)
    first, second = closed(lines, 10), lines[len(closed(lines, 10)) :]
    tables.publish(first)
    tables.follow(final=True)
    tables.publish(second)
    tables.follow(final=True)
    assert tables.metrics() == oracle.metrics(lines)
    assert tables.latency() == oracle.latency(lines)

"""The job `metrics`, killed at any step and started again, has every window once."""

from typing import Any

import pytest

from penstock.pipeline.counting.closing import Closing
from penstock.pipeline.tables import ParquetTable
from pipeline import metrics_oracle as oracle
from pipeline.journals import line
from pipeline.metrics_run import Tables
from pipeline.metrics_traffic import traffic

MINUTE = 60_000
STEPS = {
    "before the plan": (Closing, "plan", 1),
    "before the first table": (ParquetTable, "append", 1),
    "in the second table's commit": (ParquetTable, "_commit", 2),
    "before the state": (ParquetTable, "replace", 1),
    "in the state's commit": (ParquetTable, "_commit", 3),
}


class Killed(Exception):
    """The job ends here."""


def kill(patch: pytest.MonkeyPatch, where: type, name: str, times: int) -> None:
    """From this call on, every one of the kind ends the job."""
    really, calls = getattr(where, name), iter(range(1, 1000))

    def call(*arguments: Any) -> Any:
        if next(calls) >= times:
            raise Killed
        return really(*arguments)

    patch.setattr(where, name, call)


@pytest.mark.parametrize("step", STEPS)
def test_a_job_that_is_killed_between_steps_and_started_again_has_everything_once(
    step: str, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = traffic(seed=4, events=200, minutes=14)
    tables.publish(lines)
    kill(monkeypatch, *STEPS[step])
    with pytest.raises(Killed):
        tables.follow()
    monkeypatch.undo()
    tables.follow(lateness=500, final=True)
    assert tables.metrics() == oracle.metrics(lines)
    assert tables.latency() == oracle.latency(lines)


@pytest.mark.parametrize("times", [1, 2, 3], ids=["first table", "second table", "state"])
def test_an_end_that_was_killed_is_brought_to_its_end_first(
    times: int, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = traffic(seed=5, events=100, minutes=1)
    tables.publish(lines)
    tables.follow()
    kill(monkeypatch, ParquetTable, "_commit", times)
    with pytest.raises(Killed):
        tables.follow(final=True)
    monkeypatch.undo()
    later = [line(1000, size=1, after_ms=5 * MINUTE), line(1001, size=1, after_ms=20 * MINUTE)]
    tables.publish(later)
    tables.follow(final=True)
    assert tables.metrics() == oracle.metrics(lines + later)
    assert tables.latency() == oracle.latency(lines)

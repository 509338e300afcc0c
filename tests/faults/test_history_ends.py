"""More judging of the judge, and of the recorder: ends of messages, batches, names, and how events are paired."""

from pathlib import Path
from typing import Any

import pytest

from .client import Refused, Unknown
from .history import Recorder
from .invariants_of_order import INVARIANTS
from .tale import Tale


@pytest.fixture
def tale() -> Tale:
    return Tale()


def test_a_delivery_past_its_retention_is_noticed(tale: Tale) -> None:
    tale.tell("queue", 0, queue="q", retention=60)
    tale.send(0, "a")
    tale.receive(60.2, "a")
    tale.delete(61, "a")
    tale.fails("I13")


def test_a_purged_message_that_is_delivered_is_noticed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.tell("purge", 1, queue="q")
    tale.receive(2, "a")
    tale.delete(3, "a")
    tale.fails("I14")


def test_a_message_sent_during_a_purge_may_live_or_die(tale: Tale) -> None:
    tale.send(0.95, "a")
    tale.send(0.95, "b")
    tale.tell("purge", 1, queue="q")
    tale.receive(2, "a")
    tale.delete(3, "a")
    tale.fails()


@pytest.mark.parametrize("results", [0, 2])
def test_a_batch_with_a_result_too_few_or_too_many_is_noticed(tale: Tale, results: int) -> None:
    tale.whole(0, "a")
    tale.tell("send", 5, {"results": [{"error": "x"}] * results}, queue="q", entries=[{"body": "b"}])
    tale.fails("I15")


def test_a_handle_given_twice_is_noticed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.receive(1, "a")
    tale.receive(12, "a", count=2, handle="a/q/1")
    tale.delete(13, "a")
    assert "I19" in tale.faults


def test_an_id_given_twice_is_noticed(tale: Tale) -> None:
    tale.send(0, "a", id="X")
    tale.send(1, "b", id="X")
    tale.tell("purge", 2, queue="q")
    tale.fails("I19")


def test_every_invariant_that_a_history_can_show_is_checked() -> None:
    named = {
        word for name in INVARIANTS for word in name.replace(",", "").split() if word[0] == "I" and word[1:].isdigit()
    }
    assert named == {f"I{number}" for number in range(1, 20)} - {"I16", "I17", "I18"}


def test_the_recorder_pairs_what_began_with_how_it_ended(tmp_path: Path) -> None:
    times = iter(range(100))
    recorder = Recorder(tmp_path / "history", lambda: float(next(times)))

    def fails(error: Exception) -> dict[str, Any]:
        raise error

    assert recorder.attempt("send", {"queue": "q"}, lambda: {"results": []}) == {"results": []}
    assert recorder.attempt("send", {}, lambda: fails(Refused(400, "no"))) is None
    assert recorder.attempt("send", {}, lambda: fails(Unknown("gone"))) is None
    with pytest.raises(ZeroDivisionError):
        recorder.attempt("send", {}, lambda: fails(ZeroDivisionError()))
    found = [(operation.outcome, operation.start, operation.end) for operation in recorder.operations()]
    recorder.close()
    assert found == [("ok", 0, 1), ("fail", 2, 3), ("info", 4, 5), ("info", 6, 6)]

"""More judging of the judge, and of the recorder: ends of messages, batches, names, and how events are paired."""

from pathlib import Path
from typing import Any

import pytest

from .client import Refused, Unknown
from .history import FORGOTTEN_SECONDS, Recorder, history_of
from .invariants import INVARIANTS
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


def test_a_waiter_that_slept_beside_a_message_is_noticed(tale: Tale) -> None:
    tale.tell("receive", 0, {"messages": []}, lasts=10, queue="q", visibility=10, wait=10)
    tale.send(2, "a")
    tale.receive(11, "a")
    tale.delete(12, "a")
    tale.fails("I16")


def test_a_waiter_to_which_another_was_preferred_has_nothing_to_complain_of(tale: Tale) -> None:
    tale.tell("receive", 0, {"messages": []}, lasts=10, queue="q", visibility=10, wait=10)
    tale.whole(2, "a")
    tale.fails()


@pytest.mark.parametrize(("sent", "faults"), [(2, ["I16"]), (0.05, [])])
def test_a_delivery_to_one_who_had_left_is_noticed(tale: Tale, sent: float, faults: list[str]) -> None:
    tale.tell("receive", 0, outcome="info", queue="q", visibility=10, wait=10, left=True)
    tale.send(sent, "a")
    tale.receive(20, "a", count=2)
    tale.delete(21, "a", count=2)
    tale.fails(*faults)


def test_a_message_read_by_another_account_is_noticed(tale: Tale) -> None:
    tale.tell("send", 0, {"results": [{"id": "A"}]}, queue="q", entries=[{"body": "a"}], account="ours")
    messages = [{"id": "A", "body": "a", "handle": "a/q/1", "count": 1}]
    tale.tell("receive", 1, {"messages": messages}, queue="q", visibility=10, account="theirs")
    tale.delete(2, "a")
    tale.fails("I17")


def test_a_file_that_is_not_in_order_after_a_kill_is_noticed(tale: Tale) -> None:
    tale.tell("audit", 0, {"faults": []})
    tale.fails()
    tale.tell("audit", 1, {"faults": ["a counter is wrong"]})
    tale.fails("I18")


@pytest.mark.parametrize(("outcome", "faults"), [("fail", []), ("ok", ["I20"])])
def test_a_start_that_had_to_be_refused_is_noticed(tale: Tale, outcome: str, faults: list[str]) -> None:
    tale.tell("start", 0, outcome=outcome, unsafe="nothing is synced")
    tale.tell("start", 1)
    tale.fails(*faults)


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


def test_every_invariant_of_the_specification_is_checked() -> None:
    assert sorted(INVARIANTS, key=lambda number: int(number[1:])) == [f"I{number}" for number in range(1, 21)]


def fails(error: Exception) -> dict[str, Any]:
    raise error


def test_the_recorder_pairs_what_began_with_how_it_ended(tmp_path: Path) -> None:
    times = iter(range(100))
    recorder = Recorder(tmp_path / "one.jsonl", lambda: float(next(times)))
    assert recorder.attempt("send", {"queue": "q"}, lambda: {"results": []}) == {"results": []}
    assert recorder.attempt("send", {}, lambda: fails(Refused(400, "no"))) is None
    assert recorder.attempt("send", {}, lambda: fails(Unknown("gone"))) is None
    with pytest.raises(ZeroDivisionError):
        recorder.attempt("send", {}, lambda: fails(ZeroDivisionError()))
    recorder.close()
    found = [(operation.outcome, operation.start, operation.end) for operation in history_of(tmp_path)]
    assert found == [("ok", 0, 1), ("fail", 2, 3), ("info", 4, 5), ("info", 6, 6)]


def test_the_histories_of_processes_are_one_history_by_time(tmp_path: Path) -> None:
    times = iter(range(100))
    recorders = [Recorder(tmp_path / f"{name}.jsonl", lambda: float(next(times))) for name in "ba"]
    for op in ("first", "second"):
        for recorder in recorders:
            recorder.note(op, {"who": recorder.path.stem}, {})
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write('{"p": "a", "n": 2, "op": "cut sho')
    assert [(o.op, o.request["who"]) for o in history_of(tmp_path)] == [
        ("first", "b"), ("first", "a"), ("second", "b"), ("second", "a"),
    ]  # fmt: skip
    for recorder in recorders:
        recorder.close()


def test_what_was_under_way_when_its_process_was_killed_may_have_happened_soon_after(tmp_path: Path) -> None:
    times = iter((0, 100, 101))
    recorder = Recorder(tmp_path / "a.jsonl", lambda: float(next(times)))
    with pytest.raises(ZeroDivisionError):
        recorder.attempt("send", {}, lambda: fails(ZeroDivisionError()))
    recorder.note("later", {}, {})
    recorder.close()
    killed = history_of(tmp_path)[0]
    assert (killed.outcome, killed.end) == ("info", FORGOTTEN_SECONDS)

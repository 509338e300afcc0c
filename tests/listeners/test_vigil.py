"""The loop stays awake while requests follow one another closely, for a moment after each, and never otherwise."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.listeners import vigil
from penstock.listeners.vigil import DISK_SECONDS, FEW, MOMENT_SECONDS, SEVERAL, Vigil

CLOSE = MOMENT_SECONDS / 2


class Loop:
    """A loop whose turns, and whose time, are taken by hand."""

    def __init__(self) -> None:
        self.now, self._soon = 100.0, list[Callable[[], None]]()
        self.kept_awake: list[float] = []
        self.vigil = Vigil(self._soon.append, lambda: self.now, self.kept_awake.append)

    def request(self, after: float, with_others: int = 0) -> None:
        self.now += after
        self.vigil.requests_came(1 + with_others)
        self.vigil.requests_served()

    def several(self) -> None:
        """The first is alone, and so many follow it closely."""
        self.request(after=10)
        for _ in range(SEVERAL):
            self.request(after=CLOSE)

    def awake_after(self, seconds: float) -> bool:
        """Whether it would look again instead of sleeping. No turn may leave more behind than one such look."""
        self.now += seconds
        soon, self._soon[:] = list(self._soon), ()
        for callback in soon:
            callback()
        assert len(self._soon) <= 1
        return bool(self._soon)


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    monkeypatch.setattr(vigil, "processors", lambda: 2)
    return Loop()


def test_after_a_request_alone_the_loop_sleeps(loop: Loop) -> None:
    loop.request(after=10)
    assert not loop.awake_after(0)


def test_a_few_that_follow_closely_let_it_sleep(loop: Loop) -> None:
    loop.request(after=10)
    for _ in range(SEVERAL - 1):
        loop.request(after=CLOSE)
        assert not loop.awake_after(0)


def test_while_many_follow_closely_it_stays_awake_for_a_moment_after_each(loop: Loop) -> None:
    loop.several()
    for _ in range(3):
        assert loop.awake_after(CLOSE / 2)
        assert loop.awake_after(CLOSE / 4)
        loop.request(after=CLOSE / 4)
    assert not loop.awake_after(MOMENT_SECONDS + CLOSE)


def test_its_processor_is_kept_awake_for_the_disk_while_a_few_clients_follow_closely(loop: Loop) -> None:
    loop.request(after=10)
    assert loop.kept_awake == []
    loop.several()
    assert loop.kept_awake == [DISK_SECONDS]
    loop.request(after=CLOSE)
    assert loop.kept_awake == [DISK_SECONDS] * 2
    loop.request(after=CLOSE, with_others=FEW)
    loop.request(after=10)
    assert loop.kept_awake == [DISK_SECONDS] * 2


def test_requests_that_come_more_seldom_let_it_sleep(loop: Loop) -> None:
    for _ in range(SEVERAL * 2):
        loop.request(after=MOMENT_SECONDS * 2)
        assert not loop.awake_after(0)


def test_a_pause_ends_it_and_several_begin_it_anew(loop: Loop) -> None:
    loop.several()
    assert not loop.awake_after(MOMENT_SECONDS * 2)
    loop.request(after=10)
    assert not loop.awake_after(0)
    loop.several()
    assert loop.awake_after(0)


@pytest.mark.parametrize(
    ("runs_on", "quota", "stays_awake"),
    [
        ({0}, None, False),
        ({0, 1}, None, True),
        ({0, 1}, "max 100000\n", True),
        ({0, 1}, "150000 100000\n", True),
        ({0, 1}, "50000 100000\n", False),
        ({3}, "400000 100000\n", False),
    ],
)
def test_the_only_processor_or_a_part_of_one_is_not_spent_on_waiting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runs_on: set[int], quota: str | None, stays_awake: bool
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: runs_on)
    monkeypatch.setattr(vigil, "QUOTA", tmp_path / "cpu.max")
    if quota is not None:
        (tmp_path / "cpu.max").write_text(quota)
    loop = Loop()
    loop.several()
    assert loop.awake_after(0) is stays_awake

"""The loop stays awake while requests follow one another closely, for a moment after each, and never otherwise."""

import os
from collections.abc import Callable

import pytest

from penstock.listeners.vigil import MOMENT_SECONDS, SEVERAL, Vigil

CLOSE = MOMENT_SECONDS / 2


class Loop:
    """A loop whose turns, and whose time, are taken by hand."""

    def __init__(self) -> None:
        self.now, self._soon = 100.0, list[Callable[[], None]]()
        self.vigil = Vigil(self._soon.append, lambda: self.now)

    def request(self, after: float) -> None:
        self.now += after
        self.vigil.requests_came()
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
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
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


def test_the_only_processor_is_left_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    loop = Loop()
    loop.several()
    assert not loop.awake_after(0)

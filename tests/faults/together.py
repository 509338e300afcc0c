"""Doing many things at once, and waiting until something is so."""

import threading
import time
from collections.abc import Callable, Sequence

from .client import Refused, Unknown


def at_once(calls: Sequence[Callable[[], object]]) -> list[object]:
    """What each call returned or raised, all started together."""
    answers: list[object] = [None] * len(calls)
    barrier = threading.Barrier(len(calls))

    def run(number: int) -> None:
        barrier.wait()
        try:
            answers[number] = calls[number]()
        except (Unknown, Refused) as error:
            answers[number] = error

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a call does not end"
    return answers


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)

"""B1, every store against the model: long random lives of a few queues, compared after every step.

`PENSTOCK_HYPOTHESIS=thorough` looks harder, `--hypothesis-seed=…` repeats a run. A failure prints the shortest life
found that shows it, or with `brief` the first.
"""

import asyncio
import itertools
import os
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from penstock.core.clock import ManualClock
from penstock.core.errors import QueueGone
from penstock.core.message import Message, Sent
from penstock.core.store import Outcome, Receive, Store
from tally import count

from .model import Model, Row, Settings
from .stores import STORES, new_folder
from .world import depth_of, key, new, redrive_policy

T = TypeVar("T")

FAMILIES = {
    "standard": {
        "orders": Settings(fifo=False, dead="dead", max_receives=2),
        "dead": Settings(fifo=False),
    },
    "fifo": {
        "orders.fifo": Settings(fifo=True, dead="dead.fifo", max_receives=2),
        "dead.fifo": Settings(fifo=True, scope_is_group=True),
    },
}
FAMILIES["brisk"] = FAMILIES["standard"]
BRISK: dict[str, Callable[..., bool]] = {
    "send": lambda place, drafts, one_by_one: not any(draft["delay_seconds"] for draft in drafts),
    "receive": lambda place, limit, visibility: visibility >= 30,
    "receive_one_each": lambda place, callers, visibility: visibility >= 30,
    "hide": lambda recent, seconds: seconds >= 30,
    "wait": lambda seconds: seconds <= 1,
    "wait_for_an_edge": lambda which, off_by: False,
}
"""What is done in a brisk life: nothing becomes visible again, so that messages are handed out as they come."""
BULKY = 2500
"""Too long to lie with the rest of a message in SQLite."""
GARBAGE = [b"", b"garbage", b"\xff" * 12, b"\xff" * 16, b"\xff" * 200]

places = st.sampled_from([0, 0, 0, 1])
"""Which queue of the family: mostly the first, sometimes its dead-letter queue."""
drafts = st.fixed_dictionaries(
    {
        "body": st.sampled_from([*range(1, 20), BULKY]).map("x".__mul__),
        "group": st.sampled_from("aab"),
        "deduplication_id": st.sampled_from([None, None, None, "x", "y"]),
        "delay_seconds": st.sampled_from([None, None, None, 0, 5, 60]),
    }
)
prompt = drafts.map(lambda draft: draft | {"delay_seconds": None})
recent = st.integers(0, 7)
"""Which claim, counted from the latest."""
upheavals = st.sampled_from(
    [("purge", 0), ("delete", 0), ("visibility", 7)]
    + [("retention", seconds) for seconds in (60, 3600, 345_600, 345_600)]
    + [("delay", seconds) for seconds in (0, 0, 0, 5, 60, 900)]
)
OFTEN = {"send": 4, "receive": 5, "receive_one_each": 2, "delete": 3, "hide": 2, "wait_for_an_edge": 3}
STEPS = {
    "send": (places, st.one_of(st.lists(each, min_size=1, max_size=5) for each in (drafts, prompt)), st.booleans()),
    "receive": (places, st.sampled_from([1, 1, 2, 3, 10]), st.sampled_from([0, 1, 5, 30, 30, 43_200])),
    "receive_one_each": (places, st.sampled_from([2, 3, 40]), st.sampled_from([1, 30])),
    "delete": (st.lists(recent, min_size=1, max_size=3),),
    "hide": (recent, st.sampled_from([0, 0, 1, 30, 43_199, 43_200])),
    "claim_what_is_not_there": (recent, st.sampled_from(GARBAGE)),
    "wait": (st.sampled_from([0.001, 1, 5, 30, 300, 3600]),),
    "wait_for_an_edge": (st.sampled_from([0, 0, 0, 1, 2, 3]), st.sampled_from([0, 0, -1, 1])),
    "shake": (places, upheavals),
    "sweep": (),
    "restart": (),
}
steps = st.one_of(
    [st.tuples(st.just(name), *arguments) for name, arguments in STEPS.items() for _ in range(OFTEN.get(name, 1))]
)


class Claim(NamedTuple):
    """A claim as the store gave it, and as the model knows it."""

    queue: str
    token: bytes
    known_as: tuple[int, int]


class Life(RuleBasedStateMachine):
    """One rule that does any step: with a rule for each, Hypothesis would leave most of them out of most lives."""

    make: Callable[[Path], Store]

    @initialize(family=st.sampled_from(sorted(FAMILIES)))
    def begin(self, family: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = new_folder()
        self.clock = ManualClock()
        self.model = Model(self.clock.now())
        self.fifo, self.brisk, self.settings = family == "fifo", family == "brisk", FAMILIES[family]
        self.ids: dict[str, int] = {}
        self.sequences: dict[str, int] = {}
        self.last_sequence = 0
        self.claims: list[Claim] = []
        self.numbers = itertools.count(1)
        self.store = type(self).make(self.folder)
        self.run(self.store.open())
        for name in self.settings:
            self.make_queue(name)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            count(cycles=1)
            self.run(self.store.close())
            self.loop.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    @rule(step=steps)
    def live(self, step: tuple[Any, ...]) -> None:
        name, *arguments = step
        if self.brisk and name in BRISK and not BRISK[name](*arguments):
            return
        getattr(self, name)(*arguments)

    @property
    def now(self) -> int:
        return self.clock.now()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(coroutine)

    def at_once(self, calls: Iterable[Awaitable[T]]) -> list[T]:
        """Calls that arrive together, in this order."""

        async def gathered() -> list[T]:
            return await asyncio.gather(*calls)

        return self.run(gathered())

    def there(self, name: str) -> bool:
        """Whether the queue exists; if not, the store must say so."""
        if name not in self.model.queues:
            with pytest.raises(QueueGone):
                self.run(self.store.counts(self.ids[name], self.now))
        return name in self.model.queues

    # Queues

    def attributes(self, name: str) -> dict[str, str]:
        queue = self.model.queues[name]
        attributes = {"MessageRetentionPeriod": str(queue.retention), "DelaySeconds": str(queue.delay)}
        if queue.fifo:
            attributes["FifoQueue"] = "true"
        if queue.scope_is_group:
            attributes["DeduplicationScope"] = "messageGroup"
        if queue.dead:
            attributes["RedrivePolicy"] = redrive_policy(queue.dead, queue.max_receives)
        return attributes

    def make_queue(self, name: str) -> None:
        self.model.create(name, replace(self.settings[name]))
        queue = self.run(self.store.create_queue(key(name), self.attributes(name), {}, self.now))
        assert queue.id not in self.ids.values(), "the id of a queue was used again"
        self.ids[name] = queue.id

    def name(self, place: int) -> str:
        """The queue, which is made again if an upheaval took it away, but not always at once."""
        return list(self.settings)[place]

    def shake(self, place: int, upheaval: tuple[str, int]) -> None:
        name, (kind, seconds) = self.name(place), upheaval
        if not self.there(name):
            self.make_queue(name)
            return
        if kind == "purge":
            self.model.purge(name)
            self.run(self.store.purge_queue(self.ids[name], self.now))
            return
        if kind == "delete":
            self.model.remove(name)
            self.run(self.store.delete_queue(self.ids[name], self.now))
            return
        if kind == "retention":
            self.model.set_retention(name, seconds)
        if kind == "delay":
            self.model.set_delay(name, seconds)
        extra = {"VisibilityTimeout": str(seconds)} if kind == "visibility" else {}
        self.run(self.store.alter_queue(self.ids[name], {**self.attributes(name), **extra}, {}, self.now))

    # Messages

    def send(self, place: int, drafts: list[dict[str, Any]], one_by_one: bool) -> None:
        name = self.name(place)
        if not self.there(name):
            self.make_queue(name)
        messages = [new(id=str(UUID(int=next(self.numbers))), **draft) for draft in drafts]
        for message in messages:
            if self.fifo:
                message.deduplication_id = message.deduplication_id or message.id
            else:
                message.group = message.deduplication_id = None
        batches = [[message] for message in messages] if one_by_one else [messages]
        told = [
            sent
            for batch in self.at_once(self.store.send(self.ids[name], batch, self.now) for batch in batches)
            for sent in batch
        ]
        assert len(told) == len(messages)
        for m, sent in zip(messages, told, strict=True):
            assert (sent.id, sent.duplicate) == self.model.send(name, m)
            self.check_sequence(sent)

    def check_sequence(self, sent: Sent) -> None:
        if not self.fifo:
            assert sent.sequence is None
        elif sent.duplicate:
            assert sent.sequence == self.sequences[sent.id]
        else:
            assert sent.sequence is not None
            assert sent.sequence > self.last_sequence
            self.last_sequence = self.sequences[sent.id] = sent.sequence

    def receive(self, place: int, limit: int, visibility: int) -> None:
        name = self.name(place)
        if not self.there(name):
            return
        before = self.ids_in(name)
        messages = self.run(self.store.receive(self.ids[name], Receive(limit, visibility), self.now))
        self.check_received(name, limit, visibility, messages, before - self.ids_in(name))

    def receive_one_each(self, place: int, callers: int, visibility: int) -> None:
        """Not where messages would die: it cannot be told which of the callers one died of."""
        name = self.name(place)
        if self.there(name) and not self.model.has_doomed(name):
            ask = Receive(1, visibility)
            given = self.at_once(self.store.receive(self.ids[name], ask, self.now) for _ in range(callers))
            for messages in given:
                self.check_received(name, 1, visibility, messages, set())

    def check_received(
        self, name: str, limit: int, visibility: int, messages: Sequence[Message], died: set[str]
    ) -> None:
        rows = self.model.receive(name, limit, visibility, ([m.id for m in messages], died))
        assert [m.id for m in messages] == [r.id for r in rows]
        for message, row in zip(messages, rows, strict=True):
            self.check_delivery(message, row)
            self.claims.append(Claim(name, message.claim, (row.arrival, row.deliveries)))

    def ids_in(self, name: str) -> set[str]:
        return {m.id for m in self.run(self.store.peek(self.ids[name], 10_000, b"", self.now))}

    def check_delivery(self, message: Message, row: Row) -> None:
        assert message.receive_count == row.deliveries
        assert message.first_received == row.first_received
        assert (message.sent, message.group) == (row.sent, row.group)
        assert message.deduplication_id == row.deduplication_id
        assert message.source_arn == (key(row.source).arn if row.source else None)

    def claim(self, recent: int) -> Claim | None:
        return self.claims[-1 - recent % len(self.claims)] if self.claims else None

    def delete(self, recents: list[int]) -> None:
        claims = [claim for recent in recents if (claim := self.claim(recent)) and self.there(claim.queue)]
        told = self.at_once(self.store.delete(self.ids[claim.queue], [claim.token], self.now) for claim in claims)
        for claim, [outcome] in zip(claims, told, strict=True):
            assert outcome is self.model.delete(claim.queue, claim.known_as)

    def hide(self, recent: int, seconds: int) -> None:
        claim = self.claim(recent)
        if claim and self.there(claim.queue):
            change = (claim.token, seconds)
            [outcome] = self.run(self.store.change_visibility(self.ids[claim.queue], [change], self.now))
            assert outcome is self.model.hide(claim.queue, claim.known_as, seconds)

    def claim_what_is_not_there(self, recent: int, garbage: bytes) -> None:
        claim = self.claim(recent)
        for name in self.model.queues:
            for token in (garbage, claim.token if claim and claim.queue != name else b""):
                assert self.run(self.store.delete(self.ids[name], [token], self.now)) == [Outcome.GONE]
                assert self.run(self.store.change_visibility(self.ids[name], [(token, 0)], self.now)) == [Outcome.GONE]

    # Time

    def wait(self, seconds: float) -> None:
        self.model.wait_until(self.clock.advance(seconds))

    def wait_for_an_edge(self, which: int, off_by: int) -> None:
        edges = self.model.edges()
        if edges:
            moment = max(self.now, edges[which % len(edges)] + off_by)
            self.model.wait_until(self.clock.advance((moment - self.now) / 1000))

    def sweep(self) -> None:
        for _ in range(1000):
            if self.run(self.store.sweep(self.now)) > self.now:
                return
        raise AssertionError("a sweep never comes to an end")

    def restart(self) -> None:
        if self.store.capabilities.durable:
            self.run(self.store.close())
            self.store = type(self).make(self.folder)
            self.run(self.store.open())

    @invariant()
    def everything_is_where_the_model_says(self) -> None:
        for name in getattr(self, "model", Model(0)).queues:
            assert self.run(depth_of(self.store, self.ids[name], self.now)) == self.model.counts(name), name
            seen = self.run(self.store.peek(self.ids[name], 10_000, b"", self.now))
            assert Counter((m.id, m.receive_count) for m in seen) == self.model.seen(name), name


@pytest.mark.parametrize("name", sorted(STORES))
def test_a_store_answers_as_the_model_does(name: str) -> None:
    looks = os.environ.get("PENSTOCK_HYPOTHESIS", "")
    thorough = looks == "thorough"
    STORES[name](Path())  # if it cannot be made, that is said before a life begins
    run_state_machine_as_test(
        type(f"{name.title()}Life", (Life,), {"make": staticmethod(STORES[name])}),
        settings=settings(
            max_examples=20_000 if thorough else 500,
            stateful_step_count=100 if thorough else 50,
            phases=[Phase.generate] if looks == "brief" else [Phase.explicit, Phase.generate, Phase.shrink],
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )

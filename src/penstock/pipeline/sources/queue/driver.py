"""The driver's side of a stream: which batch is next, what it may hold, and what becomes of it afterwards.

Spark asks for the next offset only after it has committed the batch before. So that question, and not only `commit`,
settles a batch: Spark calls `commit` for the last batch no sooner than there is another one. Its messages are deleted
while the next is received, except where that would keep the next from being what it should.

A plan is on disk before Spark hears of its batch. A batch without a plan is therefore one whose staging was lost, and
that is an error: reading something else in its place would lose the rows that a sink may have half of.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from penstock.pipeline.sources.queue import calls, staged
from penstock.pipeline.sources.queue.keeper import Keeper
from penstock.pipeline.sources.queue.options import Settings
from penstock.pipeline.sources.queue.settling import Settler
from penstock.pipeline.sources.queue.staging import Plan, Staging, StagingError

WORTH_A_TASK = 500
"""Fewer messages than that are not given to another task."""
MOST = 100_000
"""What is in a batch at most, whatever a trigger asks for: a standard queue has no more than 120,000 in flight."""
IDLE_SECONDS = 1.0
"""How often an empty queue is asked for its depth: Spark would do it a hundred times a second."""

LAST_SECONDS = 5.0
"""How long a server that does not answer keeps a query from ending."""


@dataclass
class _Target:
    """What `AvailableNow` goes for: what was in the queue when the query began."""

    began_ms: int
    depth: int
    taken: int = 0
    reached: bool = False

    def count(self, rows: int, newest_ms: int) -> None:
        self.taken += rows
        self.reached = rows == 0 or (self.taken >= self.depth and newest_ms > self.began_ms)


class Driver:
    def __init__(
        self,
        settings: Settings,
        staging: Staging,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings, self._staging, self._clock, self._sleep = settings, staging, clock, sleep
        staging.claim(settings.queue_url)
        self._client = settings.client()
        self._keeper = Keeper(settings, staging, clock)
        self._keeper.start()
        self._settler = Settler(settings, staging, self._keeper, clock)
        self._target: _Target | None = None
        self._asked = 0.0
        self._committed = 0
        """The last batch that Spark is known to have committed, whether or not its messages could be deleted."""

    def aim(self) -> None:
        self._target = _Target(int(self._clock() * 1000), self._depth())

    def latest(self, start: int, most: int | None) -> int:
        self.settle(start)
        following = start + 1
        for orphan in self._staging.batches():
            if orphan > following:
                self._abandon(orphan)
        if self._staging.plan(following):
            return following
        depth = 0 if self._target and self._target.reached else self._depth()
        if depth == 0:
            self._settler.wait()
            return start
        total = min(depth, most or MOST, MOST)
        self._make_room(start, total)
        self._staging.write_plan(following, self._plan(total))
        return following

    def _make_room(self, start: int, total: int) -> None:
        """Both batches must be within what a queue lets be in flight; and a group of a FIFO queue goes on only when
        what was received of it is deleted."""
        plan = self._staging.plan(start)
        if self._settings.queue_url.endswith(".fifo") or sum(plan.shares if plan else ()) + total > MOST:
            self._settler.wait()

    def _plan(self, total: int) -> Plan:
        number = max(1, min(self._settings.partitions, -(-total // WORTH_A_TASK)))
        shares = tuple(total // number + (index < total % number) for index in range(number))
        return Plan(shares, int(self._clock() * 1000))

    def _depth(self) -> int:
        """Not more often than once in IDLE_SECONDS while there is nothing."""
        self._sleep(max(0.0, min(IDLE_SECONDS, self._asked + IDLE_SECONDS - self._clock())))
        found = calls.depth(self._client, self._settings.queue_url)
        self._asked = 0.0 if found else self._clock()
        return found

    def shares(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """(batch, index, share) for each task."""
        planned = []
        for batch in range(start + 1, end + 1):
            plan = self._staging.plan(batch)
            if plan is None:
                raise StagingError(
                    f"the staging of batch {batch} is gone from {self._staging.root}, and with it what the batch was: "
                    "its messages are in the queue again unless they were deleted; start with a new checkpoint"
                )
            planned += [(batch, index, share) for index, share in enumerate(plan.shares)]
        return planned

    def settle(self, end: int) -> None:
        """Have the messages of the batches deleted that Spark has committed."""
        if end <= self._settler.begun:
            return
        self._committed = end
        self._settler.wait()
        for batch in self._settler.unsettled(end):
            self._count(batch)
        self._settler.begin(end)

    def _count(self, batch: int) -> None:
        plan = self._staging.plan(batch)
        if self._target and plan and plan.made_ms >= self._target.began_ms:
            found = [staged.counted(path) for path in self._staging.files(batch)]
            self._target.count(sum(rows for rows, _ in found), max((newest for _, newest in found), default=0))

    def _abandon(self, batch: int) -> None:
        """A batch of another checkpoint: this query will never come to it."""
        if not self._staging.marked(batch, "settled"):
            self._give_back(batch)
        self._staging.discard(batch)

    def stop(self) -> None:
        """Messages of a batch that is not committed go back at once; its rows stay for when it is planned again."""
        self._settler.stop(LAST_SECONDS)
        self._keeper.stop()
        self._client.patience_seconds = LAST_SECONDS
        try:
            for batch in self._staging.batches():
                done = batch <= self._committed or self._staging.marked(batch, "settled")
                if not done and self._staging.files(batch):
                    self._give_back(batch)
        except Exception:
            return  # the query has ended, well or not; messages come back when their windows end
        finally:
            self._client.close()
            self._staging.release()

    def _give_back(self, batch: int) -> None:
        self._staging.mark(batch, "given-back")
        receipts = [one.receipt for path in self._staging.files(batch) for one in staged.held(path)]
        calls.hide(self._client, self._settings.queue_url, receipts, 0)

"""What a stream relies on, without Spark: plans, files that appear once, messages known when they come again."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.pipeline.sources.queue import calls, staged
from penstock.pipeline.sources.queue import driver as driving
from penstock.pipeline.sources.queue import staging as stagings
from penstock.pipeline.sources.queue.driver import Driver
from penstock.pipeline.sources.queue.options import Settings
from penstock.pipeline.sources.queue.staging import Plan, Staging, StagingError
from pipeline.queue.conftest import TestQueue

Begin = Callable[..., Driver]


class Clock:
    """A driver's clock that a test can put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return driving.time.time() + self.ahead


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def settings(queue: TestQueue, staging: Path) -> Settings:
    return queue.settings(stagingLocation=staging, waitTimeSeconds=0)


@pytest.fixture
def begin(settings: Settings, clock: Clock) -> Iterator[Begin]:
    """A driver, as after a start; those that are left running are stopped."""
    running: list[Driver] = []

    def start(**more: object) -> Driver:
        given = Settings(**{**vars(settings), **more})
        running.append(Driver(given, Staging(given.staging), clock, sleep=lambda seconds: None))
        return running[-1]

    yield start
    for one in running:
        one.stop()


def tasks(driver: Driver, settings: Settings, start: int, end: int) -> list[staged.Task]:
    return [staged.Task(settings, Staging(settings.staging), *share) for share in driver.shares(start, end)]


def bodies(found: list[staged.Task]) -> list[str]:
    return [
        body for task in found for batch in staged.rows(task.file(), ["body"]) for body in batch.column(0).to_pylist()
    ]


def kill(driver: Driver) -> None:
    """As kill -9 would leave it: nothing given back, the lock free."""
    driver._settler.stop(60)
    driver._keeper.stop()
    driver._client.close()
    driver._staging.release()


def test_an_empty_queue_has_no_next_batch(begin: Begin) -> None:
    assert begin().latest(0, None) == 0


def test_a_batch_takes_no_more_than_its_limit(begin: Begin, queue: TestQueue, settings: Settings) -> None:
    queue.send(*map(str, range(30)))
    driver = begin()
    assert driver.latest(0, 12) == 1
    assert len(bodies(tasks(driver, settings, 0, 1))) == 12


def test_a_batch_planned_again_returns_the_same_rows(begin: Begin, queue: TestQueue, settings: Settings) -> None:
    queue.send(*map(str, range(30)))
    driver = begin()
    driver.latest(0, 20)
    first = bodies(tasks(driver, settings, 0, 1))
    kill(driver)
    assert bodies(tasks(begin(partitions=1), settings, 0, 1)) == first


def test_a_batch_keeps_its_shares_when_the_number_of_partitions_changes(begin: Begin, queue: TestQueue) -> None:
    queue.send(*map(str, range(1)))
    driver = begin()
    driver._staging.write_plan(1, Plan((3, 3, 2), 0))
    kill(driver)
    assert [share for _, _, share in begin(partitions=1).shares(0, 1)] == [3, 3, 2]


def test_messages_are_deleted_once_spark_asks_for_what_follows(
    begin: Begin, queue: TestQueue, settings: Settings
) -> None:
    queue.send(*map(str, range(30)))
    driver = begin()
    driver.latest(0, None)
    bodies(tasks(driver, settings, 0, 1))
    assert queue.counts() == (0, 30)
    assert driver.latest(1, None) == 1
    assert queue.counts() == (0, 0)


def test_the_rows_of_the_last_batch_stay_until_another_is_settled(
    begin: Begin, queue: TestQueue, settings: Settings
) -> None:
    queue.send("one")
    driver = begin()
    driver.latest(0, None)
    assert bodies(tasks(driver, settings, 0, 1)) == ["one"]
    queue.send("two")
    assert driver.latest(1, None) == 2
    assert bodies(tasks(driver, settings, 0, 2)) == ["one", "two"]
    driver.latest(2, None)
    assert driver._staging.batches() == [2]


def test_a_stopped_query_gives_back_what_it_has_not_committed(
    begin: Begin, queue: TestQueue, settings: Settings
) -> None:
    queue.send(*map(str, range(30)))
    driver = begin()
    driver.latest(0, None)
    bodies(tasks(driver, settings, 0, 1))
    driver.stop()
    assert queue.counts() == (30, 0)


def test_what_was_given_back_is_replayed_then_deleted_unseen_when_it_comes_by_again(
    begin: Begin, queue: TestQueue, settings: Settings
) -> None:
    queue.send("one", "two")
    driver = begin()
    driver.latest(0, None)
    first = bodies(tasks(driver, settings, 0, 1))
    driver.stop()
    superseding = queue.receive(VisibilityTimeout=0)
    assert len(superseding) == 2
    again = begin()
    assert bodies(tasks(again, settings, 0, 1)) == first
    assert again.latest(1, None) == 2, "both are in the queue still: the old receipts were superseded"
    assert bodies(tasks(again, settings, 1, 2)) == []
    assert again.latest(2, None) == 2
    assert queue.counts() == (0, 0)
    assert again._staging.unsure() == {}


def test_a_message_of_a_batch_that_is_not_settled_yet_is_not_a_row_of_the_next(
    begin: Begin, queue: TestQueue, settings: Settings
) -> None:
    queue.send("one", "two")
    driver = begin()
    driver.latest(0, 1)
    (first,) = tasks(driver, settings, 0, 1)
    received = bodies([first])
    with settings.client() as client:
        calls.hide(client, queue.url, [one.receipt for one in staged.held(first.file())], 0)
    driver._staging.write_plan(2, Plan((2,), int(driving.time.time() * 1000)))
    assert sorted(received + bodies(tasks(driver, settings, 1, 2))) == ["one", "two"]
    assert driver.latest(2, None) == 2
    assert queue.counts() == (0, 0)


def test_a_query_that_stops_as_a_batch_is_settled_gives_back_only_what_comes_after(
    begin: Begin, queue: TestQueue, settings: Settings
) -> None:
    queue.send(*map(str, range(30)))
    driver = begin()
    driver.latest(0, 20)
    bodies(tasks(driver, settings, 0, 1))
    assert driver.latest(1, None) == 2
    bodies(tasks(driver, settings, 1, 2))
    driver.stop()
    assert queue.counts() == (10, 0)


def test_a_message_whose_window_ended_is_not_a_row_of_two_tasks_of_a_batch(
    begin: Begin, queue: TestQueue, settings: Settings
) -> None:
    queue.send("one", "two")
    driver = begin()
    driver._staging.write_plan(1, Plan((2, 2), int(driving.time.time() * 1000)))
    first, second = tasks(driver, settings, 0, 1)
    assert sorted(bodies([first])) == ["one", "two"]
    driver.stop()
    assert bodies([second]) == []
    assert queue.counts() == (0, 2)
    begin().latest(1, None)
    assert queue.counts() == (0, 0)


def test_a_twin_that_comes_second_gives_back_what_it_took(begin: Begin, queue: TestQueue, settings: Settings) -> None:
    queue.send(*map(str, range(20)))
    driver = begin()
    driver.latest(0, 10)
    (one,) = tasks(driver, settings, 0, 1)
    (twin,) = tasks(driver, settings, 0, 1)

    def meanwhile() -> float:
        """The other publishes while this one is still receiving."""
        if not one.staging.file(1, 0).exists():
            one.file()
        return 0.0

    twin.clock = meanwhile
    assert bodies([twin]) == bodies([one])
    assert queue.counts() == (10, 10)


def test_windows_are_extended_while_a_batch_runs(
    begin: Begin, queue: TestQueue, settings: Settings, clock: Clock
) -> None:
    queue.send("one")
    driver = begin()
    driver.latest(0, None)
    (task,) = tasks(driver, settings, 0, 1)
    path = task.file()
    for _ in range(5):
        clock.ahead += settings.visibility_seconds / 2
        driver._keeper.extend()
        assert driver._keeper.sure(1, path)
    clock.ahead += settings.visibility_seconds * 1.1
    assert not driver._keeper.sure(1, path)
    driver._keeper.extend()
    assert not driver._keeper.sure(1, path), "once a window has ended, nothing makes it sure again"


def test_ids_are_kept_where_a_delete_came_too_late_to_be_sure_of(
    begin: Begin, queue: TestQueue, settings: Settings, clock: Clock
) -> None:
    queue.send("one")
    driver = begin()
    driver.latest(0, None)
    bodies(tasks(driver, settings, 0, 1))
    clock.ahead += settings.visibility_seconds + 1
    driver.latest(1, None)
    assert len(driver._staging.unsure()) == 1


def test_ids_are_forgotten_when_no_message_can_be_that_old(staging: Path) -> None:
    staging.mkdir()
    store = Staging(staging)
    store.note_unsure(["old"], [], now_ms=0)
    store.note_unsure(["new"], [], now_ms=stagings.FORGET_MS + 1)
    assert store.unsure().keys() == {"new"}


def test_a_staging_of_another_queue_is_refused_by_name(begin: Begin, queue: TestQueue) -> None:
    begin().stop()
    with pytest.raises(StagingError, match=rf"is of another queue, {queue.url}: give each query its own"):
        begin(queue_url=queue.url + "-other")


def test_a_staging_in_use_is_refused(begin: Begin, staging: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stagings, "TAKEOVER_SECONDS", 0)
    begin()
    with pytest.raises(StagingError, match="is in use by another running query"):
        begin()


def test_a_batch_whose_staging_is_gone_is_an_error_and_not_other_rows(begin: Begin) -> None:
    with pytest.raises(StagingError, match="the staging of batch 7 is gone"):
        begin().shares(6, 7)


def test_batches_of_another_checkpoint_go_back_to_the_queue(begin: Begin, queue: TestQueue, settings: Settings) -> None:
    queue.send("one")
    driver = begin()
    driver._staging.write_plan(5, Plan((1,), 0))
    bodies(tasks(driver, settings, 4, 5))
    assert driver.latest(0, None) == 1
    assert driver._staging.batches() == [1]
    assert bodies(tasks(driver, settings, 0, 1)) == ["one"]


def test_available_now_ends_with_what_was_there_at_the_start(
    begin: Begin, queue: TestQueue, settings: Settings, clock: Clock
) -> None:
    queue.send(*map(str, range(10)))
    clock.ahead = -1  # so that what is sent next is later than the start, whatever a millisecond does
    driver = begin()
    driver.aim()
    batch = 0
    while (following := driver.latest(batch, 5)) > batch:
        queue.send("meanwhile", "meanwhile", "meanwhile")
        bodies(tasks(driver, settings, batch, following))
        batch = following
        assert batch < 10
    assert batch <= 3


def test_an_empty_queue_is_not_asked_a_hundred_times_a_second(settings: Settings) -> None:
    slept: list[float] = []
    driver = Driver(settings, Staging(settings.staging), lambda: 1000.0, slept.append)
    for _ in range(3):
        driver.latest(0, None)
    driver.stop()
    assert slept == [0.0, 1.0, 1.0]


def test_nobody_else_receives_a_message_while_its_batch_runs_longer_than_a_window(
    begin: Begin, queue: TestQueue, settings: Settings
) -> None:
    queue.send("one")
    brief = Settings(**{**vars(settings), "visibility_seconds": 4})
    driver = begin(visibility_seconds=4)
    driver.latest(0, None)
    assert bodies(tasks(driver, brief, 0, 1)) == ["one"]
    for _ in range(3):
        assert queue.receive(WaitTimeSeconds=2) == []
    driver.latest(1, None)
    assert queue.counts() == (0, 0)
    assert driver._staging.unsure() == {}

"""What the log promises whoever writes to it: lines last, files roll, old ones go, and a full disk loses nothing."""

import asyncio
import os
from pathlib import Path

import pytest

from penstock.audit.files import Files
from penstock.audit.search import find
from penstock.audit.verification import verify
from penstock.core.audit import Ask, Kind
from penstock.core.clock import ManualClock
from penstock.core.errors import Unavailable

from .conftest import Begin, CountingDisk, Fatal, FullDisk, SickDisk, an_hour, denied, entry, files, kept, written

EVER = 10**15
DAY = 86_400


async def test_who_waits_is_answered_when_the_line_is_on_disk(begin: Begin, clock: ManualClock) -> None:
    log = begin()
    log.write(entry(clock, resource="UserName=anna"))
    assert kept(log) == []
    await log.lasting()
    assert [one.entry.resource for one in kept(log)] == ["UserName=anna"]


async def test_those_who_wait_together_share_one_fsync(begin: Begin, clock: ManualClock) -> None:
    disk = CountingDisk()
    log = begin(disk=disk)

    async def change() -> None:
        log.write(entry(clock))
        await log.lasting()

    await asyncio.gather(*(change() for _ in range(50)))
    assert len(kept(log)) == 50
    assert disk.syncs <= 2


async def test_a_file_is_its_owner_s_alone(begin: Begin, clock: ManualClock, tmp_path: Path) -> None:
    log = begin()
    await written(log, entry(clock))
    assert [path.stat().st_mode & 0o777 for path in files(tmp_path)] == [0o600]


async def test_a_file_that_is_full_or_of_yesterday_is_followed_by_another(
    begin: Begin, clock: ManualClock, tmp_path: Path
) -> None:
    log = begin(file_bytes=1)
    await written(log, entry(clock))
    await written(log, entry(clock))
    assert [path.name for path in files(tmp_path)] == [f"{1:020}.jsonl", f"{2:020}.jsonl"]
    await log.stop()
    log = begin()
    await written(log, entry(clock))
    clock.advance(DAY)
    await written(log, entry(clock))
    assert len(files(tmp_path)) == 4


async def test_old_files_go_and_the_log_says_so(begin: Begin, clock: ManualClock, tmp_path: Path) -> None:
    log = begin(keep_days=2, file_bytes=1)
    for _ in range(4):
        await written(log, entry(clock))
        os.utime(files(tmp_path)[-1], (clock.now() / 1000, clock.now() / 1000))
        clock.advance(DAY)
    await log.forget(clock.now())
    assert [one.entry.seq for one in kept(log)] == [3, 4, 5]
    assert (kept(log)[-1].entry.kind, kept(log)[-1].entry.resource) == (Kind.FORGOTTEN, "2")
    assert verify(Files(tmp_path)).problems == []
    files(tmp_path)[0].unlink()
    assert verify(Files(tmp_path)).problems != []


async def test_the_last_file_stays_however_old_it_is(begin: Begin, clock: ManualClock, tmp_path: Path) -> None:
    log = begin(keep_days=1)
    await written(log, entry(clock))
    os.utime(files(tmp_path)[0], (0, 0))
    await log.forget(clock.now())
    assert [one.entry.seq for one in kept(log)] == [1]


async def test_on_a_full_disk_nobody_is_told_it_lasts_and_with_room_nothing_is_lost(
    begin: Begin, clock: ManualClock, tmp_path: Path
) -> None:
    disk = FullDisk()
    log = begin(disk=disk)
    with pytest.raises(Unavailable):
        await written(log, entry(clock, resource="UserName=anna"))
    assert log.trouble() is not None
    disk.full = False
    await written(log, entry(clock, resource="UserName=bert"))
    assert [one.entry.resource for one in kept(log)] == ["UserName=anna", "UserName=bert"]
    assert (verify(Files(tmp_path)).problems, log.trouble()) == ([], None)


async def test_while_the_disk_is_full_refused_calls_are_only_counted_beyond_a_bound(
    begin: Begin, clock: ManualClock
) -> None:
    disk = FullDisk()
    log = begin(disk=disk)
    for _ in range(20_000):
        clock.advance(1)
        if log.admits(one := denied(clock)):
            log.write(one)
    with pytest.raises(Unavailable):
        await log.lasting()
    assert sum(map(len, log._waiting)) < 1_100_000
    disk.full = False
    await log.lasting()
    await log.stop()
    assert sum(one.entry.count for one in kept(log)) == 20_000


async def test_a_disk_that_fails_stops_the_server(begin: Begin, clock: ManualClock) -> None:
    with pytest.raises(Fatal):
        await written(begin(disk=SickDisk()), entry(clock))


async def test_entries_are_found_by_time_account_action_caller_and_result(begin: Begin, clock: ManualClock) -> None:
    log, began = begin(), clock.now()
    anna = "arn:aws:iam::111122223333:user/anna"
    await written(log, entry(clock, account="111122223333", principal=anna, service="iam"))
    clock.advance(60)
    await written(log, entry(clock, action="AddPermission", resource="arn:aws:sqs:us-east-1:111122223333:orders"))
    await written(log, entry(clock, action="DeleteAccount", resource="AccountId=111122223333", result="failed"))

    async def found(**given: object) -> list[int]:
        ask = Ask(**{"start": 0, "end": EVER} | given)  # type: ignore[arg-type]
        return [one.entry.seq for one in (await log.find(ask)).entries]

    assert await found() == [1, 2, 3]
    assert await found(start=began + 1) == [2, 3]
    assert await found(end=began + 1) == [1]
    assert await found(account="111122223333") == [1, 2, 3]
    assert await found(account="1111") == []
    assert await found(action="iam:createuser") == await found(action="CreateUser") == [1]
    assert await found(principal="anna") == await found(principal=anna) == [1]
    assert await found(result="failed") == [3]


async def test_pages_together_have_everything_once_over_files(begin: Begin, clock: ManualClock) -> None:
    log = begin(file_bytes=700)
    for _ in range(10):
        await written(log, entry(clock), entry(clock))
        clock.advance(1)
    pages, after = [], 0
    while after is not None:
        found = await log.find(Ask(0, EVER, after=after, most=3))
        pages.append([one.entry.seq for one in found.entries])
        after = found.next
    assert [seq for page in pages for seq in page] == list(range(1, 21))
    assert max(map(len, pages)) == 3


async def test_an_answer_looks_at_a_bounded_part_and_says_where_to_go_on(begin: Begin, clock: ManualClock) -> None:
    log = begin()
    await written(log, *(entry(clock) for _ in range(20)), entry(clock, action="Wanted"))
    first = find(log.files, Ask(0, EVER, action="Wanted"), most_bytes=1000)
    assert (first.entries, first.next) == ([], 5)
    last = find(log.files, Ask(0, EVER, action="Wanted", after=18), most_bytes=10_000)
    assert [one.entry.seq for one in last.entries] == [21]


async def test_the_loop_sleeps_while_nothing_happens(begin: Begin, clock: ManualClock) -> None:
    log, now = begin(), clock.now()
    await an_hour(log, clock)
    assert clock.now() - now == 3_600_000
    assert kept(log) == []

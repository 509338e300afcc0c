"""Bookkeeping over events, and the report of what does not add up."""

import gzip
from pathlib import Path

from penstock.core.journal import Event, Segment
from penstock.core.queue import QueueKey
from penstock.journal.balance import Balance
from penstock.journal.keeping import without_journal
from penstock.journal.readers import Readers
from penstock.journal.retention import DAY_MS, Retention
from penstock.journal.segments import Segments
from penstock.journal.verification import Verification

from .desk import ORDERS, Desk

DEAD = QueueKey("us-east-1", "000000000000", "dead")


def problems(*events: Event) -> tuple[list[str], dict[QueueKey, int]]:
    balance = Balance()
    found = [problem for event in events for problem in balance.add(event)]
    return found, balance.held


def event(kind: str, key: QueueKey = ORDERS, **fields: object) -> Event:
    return Event("n", 7, 0, kind, *key, **fields)  # type: ignore[arg-type]


def test_messages_come_and_go_and_change_queues() -> None:
    found, held = problems(
        event("QUEUE_CREATED", count=0),
        event("QUEUE_CREATED", DEAD, count=0),
        *[event("SENT")] * 7,
        event("RECEIVED"),
        event("DELETED"),
        event("EXPIRED"),
        event("DAMAGED"),
        event("DEAD_LETTERED", endpoint=DEAD.arn),
        event("DEAD_LETTERED", endpoint=DEAD.arn),
        event("MOVED", DEAD, endpoint=ORDERS.arn),
        event("GAUGE", count=3),
    )
    assert found == []
    assert held == {ORDERS: 3, DEAD: 1}


def test_every_stated_number_is_compared() -> None:
    for kind in ("GAUGE", "PURGED", "QUEUE_DELETED", "QUEUE_CHANGED"):
        found, _ = problems(event("QUEUE_CREATED", count=0), event("SENT"), event(kind, count=2))
        assert found == [f"event 7 ({kind}): {ORDERS.arn} holds 2, but the events before it make 1"]


def test_a_queue_met_in_the_middle_of_its_life_counts_from_its_first_gauge() -> None:
    assert problems(event("SENT"), event("DELETED")) == ([], {})
    assert problems(event("SENT"), event("GAUGE", count=5), event("SENT")) == ([], {ORDERS: 6})


def test_a_baseline_is_believed_and_a_queue_that_is_off_is_not_counted() -> None:
    found, held = problems(
        event("QUEUE_CREATED", count=0),
        event("QUEUE_CHANGED", count=0, reason="off"),
        event("DEAD_LETTERED", DEAD, endpoint=ORDERS.arn),
        event("QUEUE_CHANGED", count=9, reason="baseline"),
        event("GAUGE", count=4, reason="baseline"),
        event("SENT"),
    )
    assert (found, held) == ([], {ORDERS: 5})


def test_what_cannot_be_is_said() -> None:
    found, _ = problems(event("QUEUE_CREATED", count=0), event("DELETED"))
    assert found == [f"event 7 (DELETED): {ORDERS.arn} would hold -1 messages"]
    found, _ = problems(event("QUEUE_CREATED", count=0), event("QUEUE_CREATED", count=0))
    assert found == [f"event 7 (QUEUE_CREATED): {ORDERS.arn} was there already"]
    assert problems(event("MOVED", endpoint="nowhere"))[0] == ["event 7 (MOVED): 'nowhere' is not a queue"]


# Whole journals


async def whole(folder: Path) -> Desk:
    desk = Desk(folder)
    await desk.begin()
    for name in "abc":
        await desk.send(name)
        await desk.tick(61)
    await desk.send("d")
    return desk


async def report(desk: Desk) -> list[str]:
    verification = Verification(desk.journal.files)
    await verification.store(desk.store)
    assert verification.report.nodes == 1
    return verification.report.problems


async def test_a_journal_and_its_store_agree(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    verification = Verification(desk.journal.files)
    await verification.store(desk.store)
    assert verification.report.problems == []
    assert (verification.report.events, verification.report.queues) == (len(desk.lines), 1)


async def test_events_that_are_only_in_the_outbox_count(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    desk.journal.writer.behind = True
    await desk.send("only in the store")
    assert await report(desk) == []


class ListedBefore(Segments):
    """Of a server that goes on after the files were listed."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.directory)
        self._listed = [super().all(desk.journal.node)]

    def all(self, node: str) -> list[Segment]:
        return self._listed.pop() if self._listed else super().all(node)


async def test_a_segment_that_is_published_meanwhile_is_found_by_its_new_name(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    listed = ListedBefore(desk)
    await desk.tick(61)
    verification = Verification(listed)
    await verification.store(desk.store)
    assert verification.report.problems == []
    assert verification.report.events == len(desk.lines)


async def test_what_retention_takes_meanwhile_is_no_gap(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    listed = ListedBefore(desk)
    first, second, *_ = desk.journal.files.closed(desk.journal.node)
    for segment in (first, second):
        desk.journal.files.remove(segment)
    verification = Verification(listed)
    await verification.store(desk.store)
    assert verification.report.problems == []
    assert verification.report.events == len(desk.lines) - second.last


async def test_what_is_taken_from_the_middle_meanwhile_is_missed(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    listed = ListedBefore(desk)
    second = desk.journal.files.closed(desk.journal.node)[1]
    desk.journal.files.remove(second)
    verification = Verification(listed)
    verification.files(desk.journal.node)
    assert verification.report.problems[0].endswith(f"{second.path.name}: it was deleted while it was being read")


async def test_when_every_file_is_gone_all_are_missed(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    await desk.journal.stop()
    for path in desk.find("*"):
        path.unlink()
    (problem,) = await report(desk)
    assert problem.endswith(f"its journal ends at event 0, and the store has made {len(desk.lines)}")


async def test_when_every_file_is_gone_and_others_wait_in_the_store_those_before_them_are_missed(
    tmp_path: Path,
) -> None:
    desk = await whole(tmp_path)
    await desk.journal.stop()
    for path in desk.find("*"):
        path.unlink()
    await desk.send("only in the store")
    before = len(desk.lines) - 1
    assert (await report(desk))[0].endswith(f"events 1 to {before} are in no file and not in the store")


async def test_files_that_retention_took_are_not_missed_and_those_after_them_are(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    desk.clock.advance(61)
    await desk.keeper.run_once(desk.clock.now())
    await desk.journal.stop()
    later = max(segment.modified for segment in desk.journal.files.all(desk.journal.node)) + 2 * DAY_MS
    Retention(desk.journal.files, Readers(tmp_path), keep_days=1, keep_bytes=0).enforce(later)
    assert desk.files == []
    assert await report(desk) == []
    last = len(desk.lines)
    await desk.begin()
    await desk.send("later")
    await desk.journal.stop()
    assert await report(desk) == []
    for path in desk.find("*"):
        path.unlink()
    assert (await report(desk))[0].endswith(f"ends at event {last}, and the store has made {len(desk.lines)}")


async def test_a_node_that_began_late_and_did_nothing_yet_misses_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    first = await desk.begin()
    await desk.send("a")
    await desk.store.delete_queue(1, desk.clock.now())
    await first.stop()
    await without_journal(first, desk.store)
    second = await desk.begin()
    assert (second.node != first.node, desk.files) == (True, [])
    assert await report(desk) == []


async def test_a_segment_that_is_gone_is_missed(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    second = desk.journal.files.closed(desk.journal.node)[1]
    second.path.unlink()
    assert f"events {second.first} to {second.last} are missing" in (await report(desk))[0]


async def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    path = desk.journal.files.closed(desk.journal.node)[0].path
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    found = await report(desk)
    assert path.name in found[0]
    assert any("damaged" in problem or "no event" in problem for problem in found)


async def test_lines_that_were_changed_are_found(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    path = desk.journal.files.closed(desk.journal.node)[1].path
    lines = gzip.decompress(path.read_bytes())
    for old, new, said in (
        (b'"SENT"', b'"GONE"', "holds"),
        (b'{"node"', b'{"mode"', "is no event"),
        (b'"seq":4', b'"seq":9', "calls itself 9"),
        (lines.splitlines(keepends=True)[-1], b"", "it ends at event"),
        (lines[-9:], b"", "is cut short"),
    ):
        path.write_bytes(gzip.compress(lines.replace(old, new)))
        assert any(said in problem for problem in await report(desk)), (old, await report(desk))
    path.write_bytes(gzip.compress(lines))
    assert await report(desk) == []


async def test_a_store_with_other_messages_is_told_from_its_journal(tmp_path: Path) -> None:
    desk = await whole(tmp_path)
    [contents] = desk.store._contents.values()
    contents.messages.popitem()
    assert await report(desk) == [f"{ORDERS.arn}: the store holds 3 messages, and the journal makes it 4"]

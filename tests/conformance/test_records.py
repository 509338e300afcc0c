"""Records: what is not a queue, with one version for all of it."""

import pytest

from penstock.core.directory import Record, RecordKey
from penstock.core.store import RecordsChanged

from .world import World

ANNA, BERT = RecordKey("user", "1", "anna"), RecordKey("user", "1", "bert")


async def test_there_are_none_at_first(world: World) -> None:
    assert await world.store.records() == (0, [])
    assert await world.store.records_version() == 0


async def test_what_was_saved_is_there_in_its_newest_state(world: World) -> None:
    first = await world.store.change_records(0, [Record(ANNA, b"1"), Record(BERT, b"1")], [])
    second = await world.store.change_records(first, [Record(ANNA, b"2")], [])
    assert first < second == await world.store.records_version()
    version, records = await world.store.records()
    assert version == second
    assert sorted(records) == [Record(ANNA, b"2"), Record(BERT, b"1")]


async def test_one_change_saves_and_removes(world: World) -> None:
    version = await world.store.change_records(0, [Record(ANNA, b"1")], [])
    await world.store.change_records(version, [Record(BERT, b"2")], [ANNA, RecordKey("user", "1", "nobody")])
    assert [*(await world.store.records())[1]] == [Record(BERT, b"2")]


@pytest.mark.parametrize("version", [0, 2])
async def test_a_change_decided_by_another_state_changes_nothing(world: World, version: int) -> None:
    now = await world.store.change_records(0, [Record(ANNA, b"1")], [])
    assert now == 1
    with pytest.raises(RecordsChanged):
        await world.store.change_records(version, [Record(BERT, b"2")], [ANNA])
    assert await world.store.records() == (now, [Record(ANNA, b"1")])


async def test_records_outlive_a_restart(world: World, reopen) -> None:
    version = await world.store.change_records(0, [Record(ANNA, b"1")], [])
    await reopen()
    assert await world.store.records() == (version, [Record(ANNA, b"1")])

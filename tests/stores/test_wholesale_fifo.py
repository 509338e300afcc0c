"""Parties of FIFO queues, carried out by native code."""

from functools import partial

import apsw
import pytest

from penstock.core.errors import Unavailable

from .shop import Shop, alike, sqlite_store

_alike = partial(alike, ContentBasedDeduplication="true")


async def test_messages_come_are_handed_out_and_go() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"), ("b", "h"), ("c", "g"), ('d\n"é', 'i"\\'))
        assert await shop.receive(5) == ["a", "b", 'd\n"é', None, None]
        shop.world.advance(1)
        assert await shop.delete(shop.handles[1], shop.handles[0]) == [{}, {}]
        assert await shop.receive(2) == ["c", None]
        assert await shop.delete(shop.handles[0], *shop.handles[2:]) == [{}, {}, {}]
        assert shop.world.store._catalogue.live(shop.line.id).groups == 0  # type: ignore[attr-defined]

    assert await _alike(scenario) == [True] * 5


async def test_a_batch_is_one_of_many() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send([("a", "g"), ("b", "g")], [("c", "h")])
        assert await shop.receive(2) == ["a", "c"]
        assert await shop.delete([shop.handles[0], shop.handles[1]]) == [{"Successful": [{"Id": "0"}, {"Id": "1"}]}]
        assert await shop.receive(1) == ["b"]

    assert await _alike(scenario) == [True] * 4


@pytest.mark.parametrize("scope", ["queue", "messageGroup"])
async def test_a_duplicate_is_told_of_the_first(scope: str) -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g", "1"), ("b", "g", "2"))
        await shop.send(("c", "g", "3"), ("other", "g", "1"), ("d", "g", "4"))
        await shop.send(("e", "h", "1"))
        await shop.send(("same", "i"), ("same", "i"))
        shop.world.advance(301)
        await shop.send(("again", "g", "1"))

    of_a_group = scope == "messageGroup"
    assert await _alike(scenario, DeduplicationScope=scope) == [True, False, of_a_group, False, True]


async def test_a_message_that_comes_back_keeps_its_place_and_its_old_claim_is_refused() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"), ("b", "g"))
        assert await shop.receive(1, seconds=10) == ["a"]
        shop.world.advance(10)
        assert await shop.delete(shop.handles[0]) == [None]
        assert await shop.receive(2, seconds=10) == ["a", None]
        assert await shop.delete(shop.handles[0], shop.handles[1]) == [None, {}]
        assert await shop.receive(1) == ["b"]

    assert await _alike(scenario) == [True] * 6


async def test_one_that_was_received_too_often_is_buried_by_python() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"), ("b", "h"))
        for _ in range(3):
            assert await shop.receive(2, seconds=10) == ["a", "b"]
            shop.world.advance(10)
        assert await shop.receive(2) == [None, None]

    assert await _alike(scenario) == [True] * 4 + [False]


async def test_a_bulky_one_is_stored_and_deleted_natively_and_handed_out_by_python() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"), ("b" * 5000, "h"))
        assert await shop.receive(1) == ["a"]
        assert await shop.receive(2) == ["b" * 5000, None]
        await shop.delete(*shop.handles)

    assert await _alike(scenario) == [True, True, False, True]


async def test_a_damaged_one_is_set_aside_by_python() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"))
        await shop.send(("b", "h"), ("c", "h"))
        sqlite_store(shop.world).database.execute("UPDATE message SET checksum=0 WHERE number=2")
        assert await shop.receive(2) == ["a", "c"]

    assert await _alike(scenario) == [True, True, False]


async def test_delays_and_receivers_who_want_more_than_one_are_left_to_python() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"))
        assert await shop.receive(1) == [None]
        shop.world.advance(5)
        assert await shop.receive(1, most=10) == ["a"]

    assert await _alike(scenario, DelaySeconds=5) == [False, False, False]


async def test_what_sqlite_refuses_midway_is_undone_and_told_as_everywhere() -> None:
    async def scenario(shop: Shop) -> None:
        database = sqlite_store(shop.world).database
        await shop.send(("a", "g"))
        database.execute(
            "CREATE TEMP TRIGGER refuse BEFORE INSERT ON message WHEN NEW.number > 2"
            " BEGIN SELECT RAISE(ABORT, 'not this one'); END"
        )
        with pytest.raises((apsw.ConstraintError, Unavailable), match=r"not this one|undone"):
            await shop.send(("b", "h"), ("c", "i"))
        database.execute("DROP TRIGGER refuse")
        await shop.send(("b", "h"), ("c", "i"))
        assert await shop.receive(3) == ["a", "b", "c"]
        assert await shop.delete(*shop.handles) == [{}, {}, {}]

    assert await _alike(scenario) == [True] * 4


async def test_a_party_of_a_round_knows_the_messages_of_the_one_before_it() -> None:
    """What was sent a moment ago is no duplicate of anything; what is sent again is, and the first is told of."""

    async def scenario(shop: Shop) -> None:
        for _ in range(2):
            await shop.send(("a", "g", "1"), ("b", "h", "2"))
            await shop.send(("c", "g", "3"))
        assert await shop.receive(3) == ["a", "b", None]
        assert await shop.receive(1) == [None]
        await shop.delete(*shop.handles)
        assert await shop.receive(2) == ["c", None]

    assert await _alike(scenario) == [True, True, False, False, True, False, True, True]

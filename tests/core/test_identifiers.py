"""Identifiers made many at once are as random, and as well formed, as one at a time."""

from uuid import RFC_4122, UUID

from penstock.core.identifiers import DRAWN_AT_ONCE, random_uuid

DRAWN = [random_uuid() for _ in range(3 * DRAWN_AT_ONCE)]


def test_identifiers_are_random_uuids_in_the_usual_form() -> None:
    read = [UUID(drawn) for drawn in DRAWN]
    assert [str(uuid) for uuid in read] == DRAWN
    assert {(uuid.version, uuid.variant) for uuid in read} == {(4, RFC_4122)}


def test_no_identifier_is_given_twice() -> None:
    assert len(set(DRAWN)) == len(DRAWN)


def test_every_bit_of_an_identifier_is_drawn_but_for_those_that_say_its_version() -> None:
    ever, always = 0, (1 << 128) - 1
    for drawn in DRAWN:
        ever, always = ever | UUID(drawn).int, always & UUID(drawn).int
    assert UUID(int=always) == UUID("00000000-0000-4000-8000-000000000000")
    assert UUID(int=ever) == UUID("ffffffff-ffff-4fff-bfff-ffffffffffff")

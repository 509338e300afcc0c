"""However many calls are refused, the log has a bounded number of lines, and they add up."""

from penstock.audit.log import Log
from penstock.core.audit import Entry, Kind
from penstock.core.clock import ManualClock
from penstock.core.thinning import KEYS_HELD, Thinning

from .conftest import Begin, an_hour, denied, entry, kept, written


async def flood(log: Log, clock: ManualClock, seconds: int, peers: list[str], each: int) -> None:
    for _ in range(seconds):
        await written(log, *(denied(clock, peer) for peer in peers for _ in range(each)))
        clock.advance(1)


def lines_of(log: Log, peer: str) -> list[Entry]:
    return [one.entry for one in kept(log) if one.entry.peer == peer]


async def test_of_one_address_ten_a_second_are_written_and_the_others_counted(begin: Begin, clock: ManualClock) -> None:
    log = begin()
    await flood(log, clock, 3, ["192.0.2.1"], each=500)
    await an_hour(log, clock)
    *single, summary = lines_of(log, "192.0.2.1")
    assert [one.count for one in single] == [1] * 30
    assert (summary.kind, summary.result, summary.count) == (Kind.DENIED, "denied", 3 * 490)


async def test_all_addresses_of_an_ipv6_customer_count_as_one(begin: Begin, clock: ManualClock) -> None:
    log, customer = begin(), [f"2001:db8:1:2::{n:x}" for n in range(1, 200)]
    await flood(log, clock, 1, [*customer, "2001:db8:1:3::1"], each=1)
    await log.stop()
    assert len(lines_of(log, "2001:db8:1:3::1")) == 1
    assert [one.count for one in lines_of(log, "2001:db8:1:2::/64")] == [199 - 10]


async def test_another_address_is_not_drowned_by_a_loud_one(begin: Begin, clock: ManualClock) -> None:
    log = begin()
    await flood(log, clock, 1, ["192.0.2.1"], each=1000)
    await written(log, denied(clock, "192.0.2.2"))
    assert len(lines_of(log, "192.0.2.2")) == 1


async def test_a_thousand_addresses_write_fifty_lines_a_second_and_add_up(begin: Begin, clock: ManualClock) -> None:
    log, peers = begin(), [f"10.0.{n // 250}.{n % 250}" for n in range(1000)]
    await flood(log, clock, 2, peers, each=2)
    assert len(kept(log)) == 100
    await an_hour(log, clock)
    assert len(kept(log)) == 100 + KEYS_HELD + 1
    assert sum(one.entry.count for one in kept(log)) == 4000
    assert len(lines_of(log, "")) == 1


def test_a_day_s_flood_is_a_day_s_bound(clock: ManualClock) -> None:
    thinning = Thinning(1000, 10, 50, most_a_day=100)
    admitted = 0
    for _ in range(60):
        admitted += sum(thinning.admits(f"192.0.2.{n}", clock.now()) for n in range(10))
        clock.advance(1)
    assert admitted == 100
    clock.advance(86_400)
    assert thinning.admits("192.0.2.1", clock.now())


async def test_changes_are_never_thinned(begin: Begin, clock: ManualClock) -> None:
    log = begin()
    await written(log, *(entry(clock, peer="192.0.2.1") for _ in range(500)))
    assert len(kept(log)) == 500


async def test_the_same_look_is_a_line_a_minute_with_how_often(begin: Begin, clock: ManualClock) -> None:
    log = begin()
    look = {"kind": Kind.READ, "action": "ReadJournal", "principal": "arn:aws:iam::000000000000:root"}
    for _ in range(30):
        await written(log, entry(clock, **look), entry(clock, **look, resource="Node=other"))
    await an_hour(log, clock)
    found = [(one.entry.resource, one.entry.count, one.entry.principal) for one in kept(log)]
    assert sorted(found) == sorted((of, n, look["principal"]) for of in ("", "Node=other") for n in (1, 29))


async def test_what_was_counted_is_told_when_the_server_stops(begin: Begin, clock: ManualClock) -> None:
    log = begin()
    await flood(log, clock, 1, ["192.0.2.1"], each=50)
    await log.stop()
    assert sum(one.entry.count for one in kept(log)) == 50

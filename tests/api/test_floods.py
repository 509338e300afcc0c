"""However many requests are refused, journal and log have a bounded number of lines of them, and they add up."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from penstock.api.call import Call
from penstock.api.metrics import Metrics
from penstock.api.record import Recorder
from penstock.core.errors import Unavailable
from penstock.core.journal import DENIED, FULL, Event
from penstock.core.thinning import KEYS_HELD
from penstock.loops.refusals import RefusalTeller
from penstock.stores.memory import MemoryStore
from sqs.harness import ACCOUNT, HOST, OTHER_ACCOUNT, ROOT, STRANGER, World

TARGET = f"http://{HOST}/{ACCOUNT}/orders"
ASK = f"/?Action=SendMessage&MessageBody=m&QueueUrl={TARGET}"
A_SECOND, IN_ALL = 10, 50


class Notes:
    """As much of a journal as refusals need."""

    level = FULL

    def __init__(self) -> None:
        self.events: list[Event] = []

    def note(self, event: Event) -> None:
        self.events.append(event)


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def world(notes: Notes) -> World:
    return World(MemoryStore(), journal=notes, root_account=ACCOUNT)


async def denied(world: World, times: int) -> None:
    client = world.client("json", STRANGER)
    for _ in range(times):
        reply = await client.call("SendMessage", QueueUrl=TARGET, MessageBody="m")
        assert reply.error_code == "AccessDenied"


async def anonymous(world: World, *peers: str) -> None:
    for peer in peers:
        world.peer = peer
        assert b"AccessDenied" in (await world.http("GET", ASK, {"Host": HOST})).body


def logged(recorder: Recorder, *calls: Call) -> list[dict[str, Any]]:
    with capture_logs() as lines:
        for call in calls:
            recorder.record(call, 0.001)
    return [dict(line) for line in lines]


def told(recorder: Recorder) -> list[tuple[str, str, int]]:
    with capture_logs() as lines:
        recorder.tell()
    assert {line["event"] for line in lines} <= {"requests not logged"}
    return [(line["log_level"], line["caller"], line["count"]) for line in lines]


async def test_of_an_account_ten_refusals_a_second_are_events_and_the_others_a_count(
    world: World, notes: Notes
) -> None:
    teller = RefusalTeller(world.site, Recorder(Metrics()))
    for _ in range(2):
        await denied(world, 60)
        world.advance(1)
    assert [(one.principal, one.reason, one.queue, one.count) for one in notes.events] == [
        (f"arn:aws:iam::{OTHER_ACCOUNT}:root", "SendMessage", "orders", None)
    ] * (2 * A_SECOND)
    now = world.clock.now()
    assert await teller.run_once(now) == now + 60_000
    summary = notes.events[-1]
    assert (summary.event, summary.account, summary.principal) == (DENIED, OTHER_ACCOUNT, OTHER_ACCOUNT)
    assert (summary.queue, summary.reason, summary.count) == (None, None, 120 - 2 * A_SECOND)
    before = len(notes.events)
    await teller.run_once(now + 60_000)
    assert len(notes.events) == before


async def test_of_those_who_do_not_say_who_they_are_addresses_are_counted(world: World, notes: Notes) -> None:
    await anonymous(world, *["192.0.2.1"] * 30, "192.0.2.2", *(f"2001:db8::{n:x}" for n in range(1, 16)))
    assert len(notes.events) == A_SECOND + 1 + A_SECOND
    RefusalTeller(world.site, Recorder(Metrics())).tell(world.clock.now())
    found = {one.principal: (one.account, one.count) for one in notes.events[-2:]}
    assert found == {"192.0.2.1": (ACCOUNT, 20), "2001:db8::/64": (ACCOUNT, 5)}


async def test_many_addresses_make_no_more_events_than_all_may_and_they_add_up(world: World, notes: Notes) -> None:
    await anonymous(world, *(f"10.0.0.{n}" for n in range(100)))
    assert len(notes.events) == IN_ALL
    RefusalTeller(world.site, Recorder(Metrics())).tell(world.clock.now())
    assert len(notes.events) == IN_ALL + KEYS_HELD + 1
    assert sum(one.count or 1 for one in notes.events) == 100
    assert notes.events[-1].principal is None


async def test_of_refused_requests_as_many_are_logged_and_the_others_told_later(world: World) -> None:
    recorder = Recorder(Metrics())
    await denied(world, 40)
    lines = logged(recorder, *world.calls)
    assert [(line["event"], line["log_level"], line["result"]) for line in lines] == [
        ("request", "info", "AccessDenied")
    ] * A_SECOND
    assert told(recorder) == [("info", OTHER_ACCOUNT, 40 - A_SECOND)]
    assert told(recorder) == []


async def test_a_flood_hides_neither_another_caller_nor_a_failure_of_ours(world: World) -> None:
    recorder = Recorder(Metrics())
    await denied(world, 40)
    flood = list(world.calls)
    await world.client("json", ROOT).call("SendMessage", QueueUrl=TARGET, MessageBody="m")
    other = world.calls[-1]
    failure = flood.pop()
    failure.status, failure.result = 500, "InternalFailure"
    lines = logged(recorder, *flood, other, failure)[A_SECOND:]
    assert [(line["account"], line["log_level"], line["result"]) for line in lines] == [
        (ACCOUNT, "info", "QueueDoesNotExist"),
        (OTHER_ACCOUNT, "error", "InternalFailure"),
    ]


@pytest.mark.parametrize(
    ("error", "event", "status"), [(Unavailable("the disk is full"), "unavailable", 503), (OSError("?"), "failed", 500)]
)
async def test_of_failures_of_ours_the_causes_of_as_many_are_logged(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception, event: str, status: int
) -> None:
    async def fail(*given: Any) -> None:
        raise error

    monkeypatch.setattr(world.store, "find_queue", fail)
    client = world.client("json", ROOT)
    with capture_logs() as lines:
        for second in range(2):
            for _ in range(30):
                assert (await client.call("SendMessage", QueueUrl=TARGET, MessageBody="m")).status == status
            assert [line["event"] for line in lines] == [event] * A_SECOND * (second + 1)
            world.advance(1)


async def test_whatever_is_answered_is_neither_logged_nor_counted(world: World, notes: Notes) -> None:
    client, recorder = world.client("json", ROOT), Recorder(Metrics())
    for number in range(30):
        assert (await client.call("CreateQueue", QueueName=f"queue-{number}")).status == 200
    assert logged(recorder, *world.calls) == []
    assert (told(recorder), notes.events, world.site.denials.held) == ([], [], {})

"""PutQueueMetrics: what it keeps, and what it refuses with nothing kept."""

from typing import Any

import pytest

from penstock.core.metrics import NAMES, Statistics
from penstock.core.queue import QueueKey

from .clients import JsonClient, Reply
from .harness import ACCOUNT, OTHER_ACCOUNT, OTHER_REGION, REGION, STRANGER, World, done

TARGET = {"X-Amz-Target": "Penstock.PutQueueMetrics"}
ONE = {"SampleCount": 2, "Sum": 7, "Minimum": 3, "Maximum": 4}
END = 2**62


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"root_account": ACCOUNT}


@pytest.fixture
def root(world: World) -> JsonClient:
    return world.client("json")


def window(**given: Any) -> dict[str, Any]:
    whole = {"Account": ACCOUNT, "QueueName": "orders", "Period": 60, "StartTime": 120_000}
    return {name: value for name, value in ({**whole, "Metrics": {NAMES[0]: ONE}} | given).items() if value is not None}


async def put(client: JsonClient, *windows: Any) -> Reply:
    return await client.call("PutQueueMetrics", headers=TARGET, Windows=list(windows))


async def kept(world: World, period: int = 60, **key: str) -> dict[int, Any]:
    queue = QueueKey(key.get("region", REGION), key.get("account", ACCOUNT), key.get("name", "orders"))
    return dict(await world.store.windows(queue, period, 0, END))


async def test_windows_of_any_account_and_region_are_kept(world: World, root: JsonClient) -> None:
    windows = [
        window(),
        window(Account=OTHER_ACCOUNT, Metrics=dict.fromkeys(NAMES, ONE)),
        window(Region=OTHER_REGION, QueueName="a.fifo", Period=300, StartTime=600_000),
    ]
    assert done(await put(root, *windows)) == {"Kept": 3}
    assert await kept(world) == {120_000: {NAMES[0]: Statistics(2, 7, 3, 4)}}
    assert (await kept(world, account=OTHER_ACCOUNT))[120_000].keys() == set(NAMES)
    assert list(await kept(world, 300, region=OTHER_REGION, name="a.fifo")) == [600_000]


async def test_a_window_put_again_takes_the_place_of_the_first(world: World, root: JsonClient) -> None:
    done(await put(root, window()))
    more = {"SampleCount": 1, "Sum": 9, "Minimum": 9, "Maximum": 9}
    done(await put(root, window(Metrics={NAMES[1]: more})))
    done(await put(root, window(Metrics={NAMES[1]: more})))
    assert await kept(world) == {120_000: {NAMES[1]: Statistics(1, 9, 9, 9)}}


INVALID, MISSING = "InvalidParameterValue", "MissingParameter"


@pytest.mark.parametrize(
    ("wrong", "code", "said"),
    [
        ({"Account": "12"}, INVALID, "Windows.2.Account"),
        ({"Account": None}, MISSING, "Account"),
        ({"QueueName": "no such/name"}, INVALID, "alphanumeric"),
        ({"Region": "EU west"}, INVALID, "Windows.2.Region"),
        ({"Period": 120}, INVALID, "Must be 60 or 300"),
        ({"StartTime": 60_001}, INVALID, "multiple of the period"),
        ({"StartTime": -60_000}, INVALID, "multiple of the period"),
        ({"Period": 300, "StartTime": 60_000}, INVALID, "multiple of the period"),
        ({"Metrics": {}}, MISSING, "Windows.2.Metrics"),
        ({"Metrics": {"NumberOfThings": ONE}}, INVALID, "NumberOfThings"),
        ({"Metrics": {NAMES[0]: {**ONE, "Sum": None}}}, MISSING, f"Windows.2.Metrics.{NAMES[0]}.Sum"),
        ({"Metrics": {NAMES[0]: {**ONE, "SampleCount": 0}}}, INVALID, f"Windows.2.Metrics.{NAMES[0]}"),
        ({"Metrics": {NAMES[0]: {**ONE, "Minimum": -1}}}, INVALID, "No samples"),
        ({"Metrics": {NAMES[0]: {**ONE, "Sum": 9}}}, INVALID, "No samples"),
        ({"Metrics": {NAMES[0]: {**ONE, "Sum": 5}}}, INVALID, "No samples"),
        ({"Metrics": {NAMES[0]: {**ONE, "Sum": 7.5}}}, "MalformedInput", "Integer"),
    ],
    ids=str,
)
async def test_a_wrong_window_is_named_and_none_is_kept(
    world: World, root: JsonClient, wrong: dict[str, Any], code: str, said: str
) -> None:
    if metrics := wrong.get("Metrics"):
        wrong = {"Metrics": {name: {k: v for k, v in each.items() if v is not None} for name, each in metrics.items()}}
    error = await put(root, window(), window(**wrong))
    assert error.error_code == code
    assert said in error.message
    assert await kept(world) == {}


@pytest.mark.parametrize("number", [0, 501])
async def test_a_request_has_one_to_five_hundred_windows(world: World, root: JsonClient, number: int) -> None:
    error = await put(root, *(window(StartTime=60_000 * at) for at in range(number)))
    assert error.error_code == INVALID
    assert await kept(world) == {}


async def test_five_hundred_windows_are_taken_at_once(world: World, root: JsonClient) -> None:
    done(await put(root, *(window(StartTime=60_000 * at) for at in range(500))))
    assert len(await kept(world)) == 500


async def test_another_account_may_not_put_its_own(world: World) -> None:
    error = await put(world.client("json", STRANGER), window(Account=OTHER_ACCOUNT))
    assert error.error_code == "AccessDenied"
    assert await kept(world, account=OTHER_ACCOUNT) == {}

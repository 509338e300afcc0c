"""Windows of an account that is gone take no room, once the sweeper was there."""

from conformance.world import ACCOUNT, key
from penstock.core.metrics import Statistics
from penstock.core.series import Window
from penstock.stores.sqlite.series import ROWS_AT_ONCE

from .conftest import Open, store_of

SENT = {"NumberOfMessagesSent": Statistics(1, 1, 1, 1)}


async def test_no_row_of_a_forgotten_account_is_left_however_many_there_were(opened: Open) -> None:
    world = await opened(None)
    await world.store.put_windows(
        [Window(key(f"q{at % 3}"), 60, world.now + 60_000 * at, SENT) for at in range(2 * ROWS_AT_ONCE + 1)]
    )
    await world.store.put_windows([Window(key("q0", account="000000000002"), 60, world.now, SENT)])
    await world.store.forget_account(ACCOUNT)
    await world.sweep()
    rows = store_of(world).database.execute
    assert [rows(f"SELECT count(*) FROM {table}").get for table in ("series", "measured")] == [1, 1]

"""A row has as many bytes after its first delivery as before it: pages are not split by that."""

import pytest

from .conftest import Open, store_of

PAYLOAD = "SELECT sum(payload), count(*) FROM dbstat WHERE name='message' AND pagetype='leaf'"


@pytest.mark.parametrize("delay", [0, 60])
@pytest.mark.parametrize(("name", "group"), [("orders", None), ("orders", "tenant"), ("orders.fifo", "group")])
async def test_rows_do_not_grow_when_messages_are_handed_out(
    opened: Open, name: str, group: str | None, delay: int
) -> None:
    world = await opened(None)
    line = await world.queue(name, DelaySeconds=delay)
    for number in range(100):
        await line.send(f"{number:256}", group=group and f"{group}-{number}", deduplication_id=str(number))
    payload, pages = store_of(world).database.execute(PAYLOAD).get
    world.advance(delay)
    for _ in range(10):
        assert len(await line.receive(10, 30)) == 10
    of_state = 100 if delay else 0  # "delayed" is a number that takes a byte
    assert store_of(world).database.execute(PAYLOAD).get == (payload - of_state, pages)

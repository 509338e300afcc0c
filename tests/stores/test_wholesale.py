"""Parties leave the same whether native code or Python carries them out, whatever they do, in whatever order."""

import random

import pytest

from .shop import Shop, alike


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("name", ["q", "q.fifo"])
@pytest.mark.parametrize("seed", range(4))
async def test_whatever_happens(seed: int, name: str, encrypted: bool) -> None:
    async def scenario(shop: Shop) -> None:
        chance, number = random.Random(seed), 0
        for _ in range(250):
            match chance.randrange(7):
                case 0 | 1:
                    entries = []
                    for _ in range(chance.randrange(1, 5)):
                        number += 1
                        again = chance.random() < 0.05
                        of_fifo = f"group-{chance.randrange(6)}", str(chance.randrange(number) if again else number)
                        entries.append((f"body {number}", *(of_fifo if name == "q.fifo" else ())))
                    await shop.send(*([entries] if chance.random() < 0.3 else entries))
                case 2 | 3:
                    await shop.receive(chance.randrange(1, 6), chance.choice([0, 2, 5, 60]))
                case 4 | 5 if shop.handles:
                    some = [chance.choice(shop.handles[-12:]) for _ in range(chance.randrange(1, 5))]
                    await shop.delete(*([some] if chance.random() < 0.3 else some))
                case _:
                    shop.world.advance(chance.choice([0.1, 1, 3, 30]))

    natively = await alike(scenario, name, encrypted=encrypted, MessageRetentionPeriod=600)
    assert natively.count(True) > 100

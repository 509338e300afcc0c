"""This run: the seed that repeats it, and how large it is: for the gate, for the night, or brief."""

import os
import random

SEED = int(os.environ.get("PENSTOCK_SEED") or random.SystemRandom().randrange(10**9))
SIZE = os.environ.get("PENSTOCK_FAULTS", "gate")
BRIEF = 5
"""A brief run is a fifth of one for the gate: enough where a bug is known to be there."""


def size(gate: int, night: int) -> int:
    return {"gate": gate, "thorough": night, "brief": max(1, gate // BRIEF)}[SIZE]


def chance(name: str) -> random.Random:
    """A source of randomness for one test: the same for the same seed, whatever other tests do."""
    return random.Random(f"{SEED} {name}")

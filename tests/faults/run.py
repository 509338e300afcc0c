"""This run: the seed that repeats it, and whether it is one for the gate or for the night."""

import os
import random

SEED = int(os.environ.get("PENSTOCK_SEED") or random.SystemRandom().randrange(10**9))
THOROUGH = os.environ.get("PENSTOCK_FAULTS") == "thorough"


def size(gate: int, night: int) -> int:
    return night if THOROUGH else gate


def chance(name: str) -> random.Random:
    """A source of randomness for one test: the same for the same seed, whatever other tests do."""
    return random.Random(f"{SEED} {name}")

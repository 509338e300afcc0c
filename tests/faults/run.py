"""This run: the seed that repeats it, and how large it is: for the gate, for the night, or brief.

The gate asks the same questions each time, so that it fails for what a change did; `battery.py` asks new ones for ever.
"""

import os
import random

SIZE = os.environ.get("PENSTOCK_FAULTS", "gate")
SEED = int(os.environ.get("PENSTOCK_SEED") or (1 if SIZE == "gate" else random.SystemRandom().randrange(10**9)))
BRIEF = 5
"""A brief run is a fifth of one for the gate: enough where a bug is known to be there."""


def size(gate: int, night: int) -> int:
    return {"gate": gate, "thorough": night, "brief": max(1, gate // BRIEF)}[SIZE]


def chance(name: str) -> random.Random:
    """A source of randomness for one test: the same for the same seed, whatever other tests do."""
    return random.Random(f"{SEED} {name}")

"""How many lines of a kind are written: so many for each key and in all within a window of time, so many a day. The
others are counted, so that a later line can say how many there were.

A flood of refused calls from one address must fill neither the disk nor the day of whoever reads the log. What was done
is never thinned: who asks here asks about refusals, and about looks.
"""

DAY_MS = 86_400_000
KEYS_HELD = 20
"""As many keys are counted one by one; all others together, under `OTHERS`."""
OTHERS = ""
REFUSED = (1_000, 10, 50, 100_000)
"""Of calls that were refused or failed: ten a second for a caller, fifty for all, a hundred thousand a day."""


class Thinning:
    def __init__(self, window_ms: int, most_of_a_key: int, most_in_all: int, most_a_day: int) -> None:
        self._window_ms, self._of_a_key, self._in_all, self._a_day = window_ms, most_of_a_key, most_in_all, most_a_day
        self._window, self._day, self._today = -1, -1, 0
        self._admitted: dict[str, int] = {}
        self._total = 0
        self.held: dict[str, int] = {}
        """Key → how many were not admitted since `take_held`."""

    def admits(self, key: str, now: int) -> bool:
        if now // self._window_ms != self._window:
            self._window, self._total = now // self._window_ms, 0
            self._admitted.clear()
        if now // DAY_MS != self._day:
            self._day, self._today = now // DAY_MS, 0
        of_key = self._admitted.get(key, 0)
        if of_key >= self._of_a_key or self._total >= self._in_all or self._today >= self._a_day:
            self.hold(key)
            return False
        self._admitted[key] = of_key + 1
        self._total += 1
        self._today += 1
        return True

    def hold(self, key: str) -> None:
        name = key if key in self.held or len(self.held) < KEYS_HELD else OTHERS
        self.held[name] = self.held.get(name, 0) + 1

    def take_held(self) -> dict[str, int]:
        held, self.held = self.held, {}
        return held

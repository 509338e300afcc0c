"""How often something may happen: a bucket for each key that fills by one each time and leaks at a steady rate."""

KEYS_REMEMBERED = 10_000


class Pace:
    """At most `per_second` times a second for each key, on average and at once; 0 is as often as one likes."""

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._levels: dict[str, tuple[float, int]] = {}
        self.any = False
        """Whether anything was ever counted."""

    def exceeded(self, key: str, now: int) -> bool:
        return bool(self._per_second) and key in self._levels and self._level(key, now) > self._per_second - 1

    def count(self, key: str, now: int) -> None:
        if not self._per_second:
            return
        self.any = True
        if len(self._levels) >= KEYS_REMEMBERED and key not in self._levels:
            self._levels = {k: v for k, v in self._levels.items() if self._level(k, now) > 0}
        if len(self._levels) < KEYS_REMEMBERED or key in self._levels:
            self._levels[key] = self._level(key, now) + 1, now

    def _level(self, key: str, now: int) -> float:
        level, at = self._levels.get(key, (0.0, now))
        return max(0.0, level - (now - at) / 1000 * self._per_second)

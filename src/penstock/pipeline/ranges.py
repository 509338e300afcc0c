"""Which numbers of a node have been read: ranges, in order, that do not touch."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

Range = tuple[int, int]
"""The first and the last."""


def joined(ranges: Iterable[Range]) -> list[Range]:
    found: list[Range] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def gaps(ranges: Iterable[Range]) -> list[Range]:
    """What lies between; nothing is missing before the first."""
    whole = joined(ranges)
    return [(before[1] + 1, after[0] - 1) for before, after in pairwise(whole)]


def reached(ranges: Sequence[Range]) -> int:
    """Up to where nothing is missing."""
    return ranges[0][1] if ranges else 0


def total(ranges: Iterable[Range]) -> int:
    return sum(last - first + 1 for first, last in ranges)

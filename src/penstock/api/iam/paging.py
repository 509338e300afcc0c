"""A part of a list at a time, in the order of a key.

A marker is the key of the last item that was shown, so a page costs one look at each item and no memory, and is right
whatever comes and goes between two pages.
"""

import base64
import binascii
from collections.abc import Callable, Iterable
from heapq import nsmallest
from typing import Any, Generic, NamedTuple, TypeVar

from penstock.api.iam.refusals import not_valid

SHOWN_AT_ONCE, MOST_SHOWN = 100, 1000

T = TypeVar("T")


class Page(NamedTuple, Generic[T]):
    items: list[T]
    marker: str | None

    @property
    def rest(self) -> dict[str, Any]:
        """What a reply says of what it does not show."""
        return {"IsTruncated": self.marker is not None, "Marker": self.marker}


def page(request: Any, items: Iterable[T], key: Callable[[T], str]) -> Page[T]:
    """Keys are not empty, and no two are the same."""
    most, after = request.MaxItems or SHOWN_AT_ONCE, _read(request.Marker) if request.Marker else ""
    found = nsmallest(most + 1, (item for item in items if key(item) > after), key=key)
    shown = found[:most]
    return Page(shown, _marker(key(shown[-1])) if len(found) > most else None)


def stretch(request: Any, count: int, most: int = MOST_SHOWN) -> Page[int]:
    """The positions that are shown of a list that is short, or the same in every call: the marker is the next one."""
    after = _read(request.Marker) if request.Marker else "0"
    if not (after.isascii() and after.isdigit()):
        raise not_valid("Invalid Marker.")
    start = int(after)
    end = start + min(request.MaxItems or SHOWN_AT_ONCE, most)
    return Page(list(range(start, min(end, count))), _marker(str(end)) if end < count else None)


def _marker(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode()


def _read(marker: str) -> str:
    try:
        return base64.b64decode(marker, b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise not_valid("Invalid Marker.") from None

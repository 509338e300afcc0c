"""The next head of a connection, known by its likeness to one before it.

A client that keeps its connection sends heads that differ in the values of a few headers (`VARYING`) and in nothing
else. A `Likeness` is such a head with holes: fixed pieces, and between them values of fixed widths. Bytes that are
equal in every piece, and whose values are letters, digits and hyphens, which mean nothing to HTTP, are the same head
with other values; so what llhttp and `RequestReader` found of the first holds for them, and only the length of the
body has to be looked at. Whatever does not fit is read the long way. Nothing is refused here.

A likeness is made when the handler asks for it, and it asks for those who have shown who they are: strangers take no
memory. A connection knows what came on it alone, so nobody can tell from the time a request takes what others send.
But what connections know alike is kept once.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from struct import Struct
from typing import Any
from weakref import WeakValueDictionary

from penstock.aws.http import SIGNATURE_DIGITS, VARYING, Headers, HttpRequest

MOST_SIZES, MOST_OF_A_SIZE = 16, 3
"""What is known of one connection."""
HOLE = re.compile(
    rb"\r\n(?:(%b):[ \t]*([0-9a-z-]+)|(authorization):[ \t]*([^\r\n]*Signature=[0-9a-f]{%d}))(?=[ \t]*\r\n)"
    % (b"|".join(sorted(VARYING - {b"authorization"})), SIGNATURE_DIGITS),
    re.IGNORECASE,
)
NEEDED = frozenset((b"authorization", b"content-length", b"x-amz-date"))


class Likeness:
    """Of a request that was read. `lesson` is what the handler wants to be told with the next like it; `useful` says
    whether that can be known, and the request itself is like it."""

    def __init__(self, head: bytes, request: HttpRequest, lesson: Any) -> None:
        self.head, self.target, self.lesson = head, request.target, lesson
        self.holes: list[tuple[str, int, int]] = []
        """Where the values are that vary; of the authorization, the signature."""
        self.form: Any = None
        """For whoever recognises such heads by other means."""
        names, fixed, varying, values, at = [], "", "", "", 0
        for hole in HOLE.finditer(head):
            value, end = hole.span(2) if hole[1] else hole.span(4)
            start = value if hole[1] else end - SIGNATURE_DIGITS
            names.append((hole[1] or hole[3]).lower())
            self.holes.append((names[-1].decode(), start, end))
            fixed += f"{start - at}s{end - start}x"
            varying += f"{start - at}x{end - start}s"
            values += f"{value - at}x{end - value}s"
            at = end
        self._names, self.headers = names, request.headers
        self._fixed = Struct(f"{fixed}{len(head) - at}s").unpack_from
        self._varying, self._values = Struct(varying).unpack_from, Struct(values).unpack_from
        self._pieces = self._fixed(head)
        self.key = fixed, self._pieces
        self.useful = NEEDED.issubset(names) and self.headers_of(head) == request.headers

    def headers_of(self, data: bytes | bytearray) -> Headers | None:
        """If `data` begins with such a head, of which is known that it is as long as ours: its headers."""
        if self._fixed(data) != self._pieces or not b"".join(self._varying(data)).replace(b"-", b"").isalnum():
            return None
        headers = self.headers.copy()
        headers.update(zip(self._names, self._values(data), strict=True))
        return headers


Shared = WeakValueDictionary[tuple[str, tuple[bytes, ...]], Likeness]
"""Those of all connections that have one handler, for as long as one of them has it."""


class Likenesses:
    """Those of one connection, by the length of the head. They are made at the second head of a length that is read the
    long way, the fourth, the eighth …: where heads alternate without end, hardly any time goes into it."""

    def __init__(self, shared: Shared) -> None:
        self.by_size: dict[int, list[Likeness]] = {}
        self._met: dict[int, int] = {}
        self._shared = shared

    def all(self) -> Iterator[Likeness]:
        return chain.from_iterable(self.by_size.values())

    def meet(self, head: bytes, request: HttpRequest) -> None:
        """A head was read the long way: offer to remember it, if it is time to."""
        if len(self._met) == MOST_SIZES:
            self._met, self.by_size = {}, {}
        met = self._met[len(head)] = self._met.get(len(head), 0) + 1
        if met > 1 and not met & (met - 1):
            request.remember = partial(self._remember, head)

    def _remember(self, head: bytes, request: HttpRequest, lesson: Any) -> None:
        likeness = Likeness(head, request, lesson)
        if likeness.useful:
            alike = self.by_size.setdefault(len(head), [])
            alike[MOST_OF_A_SIZE - 1 :] = []
            alike.insert(0, self._shared.setdefault(likeness.key, likeness))

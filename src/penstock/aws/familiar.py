"""A signature like one that was found good before: checked anew, without reading again what cannot have changed.

A `Familiar` is made of a request whose signature holds. It is then asked about requests whose heads are the same but
for the values of `VARYING`, each of letters, digits and hyphens (what `HttpRequest.lesson` promises). For those the
claim but for its date and its digits, which headers are signed, and the canonical request but for a few values follow
from the first: `aws.claim` and `aws.signature` would find the same. The date, its day, the body's hash and the
signature are checked for each.

It only ever says yes. Whatever it cannot confirm is judged by `aws.signature` from the beginning, so every refusal and
its words come from there, and nothing is accepted here that would not be accepted there. It knows neither whose a key
is nor whether it may still be used: the secret is looked up for each request, and comes as an argument.
"""

import hmac
import re
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING

from penstock.aws.canonical import canonical_request
from penstock.aws.claim import ALGORITHM, TERMINATOR, Signature, epoch_seconds
from penstock.aws.http import SIGNATURE_DIGITS, VARYING, HttpRequest
from penstock.core.errors import ServiceError

if TYPE_CHECKING:
    from hashlib import _Hash

DATE, DECLARED_HASH, AUTHORIZATION = b"x-amz-date", b"x-amz-content-sha256", b"authorization"
_PLACES = {name: b"\0%b\0" % name for name in VARYING}
"""Stand in a canonical request for the values that vary. No header holds a zero."""
_PLACE = re.compile(rb"\0([^\0]+)\0")

SKEW_SECONDS = 15 * 60
SigningKey = Callable[[str, str, str, str], "tuple[_Hash, _Hash]"]


class Familiar:
    """`claim` is that of the first request. All that depends on the date and the secret is worked out once for each
    pair of them: within one second a client's requests have the same."""

    __slots__ = ("_begun", "_date", "_inner", "_opening", "_outer", "_rest", "_secret", "_signing_key", "_since",
                 "_until", "_written", "claim")  # fmt: skip

    def __init__(self, claim: Signature, request: HttpRequest, signing_key: SigningKey) -> None:
        self.claim, self._signing_key = claim, signing_key
        self._date, self._secret, self._since, self._until = b"", "", 0, 0
        marked = {name: _PLACES.get(name, value) for name, value in request.headers.items()}
        written = canonical_request(request.method, request.target, marked, claim.signed_headers, "")
        places = [written.find(place) for name, place in _PLACES.items() if name != DATE]
        first = min((place for place in places if place >= 0), default=len(written))
        self._written = written[:first], written[first:]
        self._opening, self._rest = map(_form, self._written)

    def parts(self) -> tuple[list[bytes | str], list[bytes | str]]:
        """The canonical request up to the hash of the body, before and from the first value but the date: bytes, and
        names of headers whose values stand there."""
        opening, rest = (
            [part.decode() if place % 2 else part for place, part in enumerate(_PLACE.split(half))]
            for half in self._written
        )
        return opening, rest

    def confirms(self, request: HttpRequest, secret: str, now: int) -> bool:
        """Whether `secret` signed exactly this request, at a time near `now` (epoch ms)."""
        headers = request.headers
        date = headers[DATE]
        if (date != self._date or secret != self._secret) and not self._begin(date, secret):
            return False
        payload_hash = sha256(request.body).hexdigest().encode()
        if not self._since <= now < self._until or headers.get(DECLARED_HASH, payload_hash) != payload_hash:
            return False
        canonical, inner, outer = self._begun.copy(), self._inner.copy(), self._outer.copy()
        canonical.update(self._rest % headers + payload_hash)
        inner.update(canonical.hexdigest().encode())
        outer.update(inner.digest())
        return hmac.compare_digest(outer.hexdigest().encode(), headers[AUTHORIZATION][-SIGNATURE_DIGITS:])

    def _begin(self, date: bytes, secret: str) -> bool:
        """The three hashes, each as far as the date takes them; False, and nothing changed, if it does not fit."""
        claim, timestamp = self.claim, date.decode()
        try:
            signed_at = epoch_seconds(timestamp)
        except ServiceError:
            return False
        if timestamp[:8] != claim.date:
            return False
        inner, outer = self._signing_key(secret, claim.date, claim.region, claim.service)
        inner, begun = inner.copy(), sha256(self._opening % {DATE: date})
        scope = f"{claim.date}/{claim.region}/{claim.service}/{TERMINATOR}"
        inner.update(f"{ALGORITHM}\n{timestamp}\n{scope}\n".encode())
        self._date, self._secret = date, secret
        self._since, self._until = (signed_at - SKEW_SECONDS) * 1000, (signed_at + SKEW_SECONDS + 1) * 1000
        self._inner, self._outer, self._begun = inner, outer, begun
        return True


def _form(canonical: bytes) -> bytes:
    """With the values to be filled in from headers."""
    canonical = canonical.replace(b"%", b"%%")
    for name, place in _PLACES.items():
        canonical = canonical.replace(place, b"%%(%b)b" % name)
    return canonical

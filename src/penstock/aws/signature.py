"""Signature Version 4: is this request from whom it says, as it was sent, and now?

`read` (from `aws.claim`) gives what the request claims; `Verifier.verify` decides whether that holds. It knows neither
where secrets are kept nor what a body means: the body is hashed as it came.

The order of work is key, clock, scope, coverage, recomputation, constant-time comparison. An unknown key is checked
against a dummy secret, so it takes the path and the time of a wrong signature.

What the protocol allows elsewhere and a queue has no need of is refused, as each is a way to change a signed request:
payloads outside the signature (`UNSIGNED-PAYLOAD`, `STREAMING-…`) and `x-amz-*` headers outside it. A `content-type`
outside it is let through, because signers of plain GETs leave it out: the body and `x-amz-target` are signed, so a
changed content type can spoil a call but not make another one of it. Replays within the window are not looked for:
SDKs sign to the second, so two honest equal requests carry one signature. TLS is the answer to replays.
"""

import hmac
import secrets
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from penstock.aws.canonical import canonical_request
from penstock.aws.claim import (
    ALGORITHM,
    MISMATCH,
    TERMINATOR,
    Signature,
    epoch_seconds,
    iso,
    mismatch,
    read,
    signing_key,
)
from penstock.aws.familiar import SKEW_SECONDS, Familiar
from penstock.aws.http import HttpRequest
from penstock.core.errors import ServiceError
from penstock.core.session import TEMPORARY_KEY

if TYPE_CHECKING:
    from hashlib import _Hash

__all__ = ["Signature", "Verifier", "read"]

GLOBAL_SERVICES, GLOBAL_REGION = frozenset({"iam", "sts"}), "us-east-1"  # signed for there, wherever the server is
_DUMMY_SECRET = secrets.token_hex(20)
_NO_MATCH = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details."
)


class Verifier:
    """Believes signatures made for `services` in `regions` (None: in any).

    `aliases` are names under which clients know this server when a proxy in between rewrites Host: a signature over
    one of them is as good. (Forwarding headers are not consulted: anyone can write them.) With `debug`, a refusal shows
    what should have been signed, as Amazon's do: no secret key is in it, but all that was signed is, tokens included.
    """

    def __init__(
        self,
        services: frozenset[str],
        regions: frozenset[str] | None,
        debug: bool = False,
        aliases: tuple[bytes, ...] = (),
    ) -> None:
        self._services = services
        self._regions = regions
        self._debug = debug
        self._aliases = aliases
        # Saves four HMACs and more a request. An entry is found by its secret, so one that was rotated is out at once.
        # Where any region will do, a stranger who makes up regions can push out entries: others then pay, no more.
        self._signing_key = lru_cache(maxsize=1024)(_signing_key)

    def verify(self, signature: Signature, request: HttpRequest, secret: str | None, now: int) -> None:
        """Return if `secret` signed exactly this request, at a time near `now` (epoch ms); raise if not. `secret` is
        None for an access key that nobody has."""
        # The place of temporary keys: a token goes with them and with no others. Whoever looks up the secret, by access
        # key and token, decides that the token is authentic and made for that key.
        if (signature.token is not None) != signature.access_key.startswith(TEMPORARY_KEY):
            secret = None
        uncovered = _uncovered(signature.signed_headers, tuple(request.headers))
        refusal = (
            _out_of_time(signature, now // 1000)
            or self._out_of_scope(signature)
            or (ServiceError(*uncovered) if uncovered else None)
            or self._unequal(signature, request, _DUMMY_SECRET if secret is None else secret)
        )
        if secret is None:
            raise ServiceError("InvalidClientTokenId", "The security token included in the request is invalid.")
        if refusal is not None:
            raise refusal

    def familiar(self, signature: Signature, request: HttpRequest, secret: str, now: int) -> Familiar | None:
        """What confirms the next signature like this one, which was found good; None if it does not confirm this."""
        if signature.presigned or b"x-amz-date" not in request.headers:
            return None
        familiar = Familiar(signature, request, self._signing_key)
        return familiar if familiar.confirms(request, secret, now) else None

    def _out_of_scope(self, signature: Signature) -> ServiceError | None:
        problems = ""
        everywhere = signature.service in GLOBAL_SERVICES and signature.region == GLOBAL_REGION
        if not (everywhere or self._regions is None or signature.region in self._regions):
            problems += f"Credential should be scoped to a valid region, not '{signature.region}'. "
        if signature.service not in self._services:
            services = "' or '".join(sorted(self._services))
            problems += f"Credential should be scoped to correct service: '{services}'. "
        day = signature.timestamp[:8]
        if signature.date != day:
            problems += (
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
                f"'{signature.date}' != '{day}', from '{signature.timestamp}'."
            )
        return mismatch(problems) if problems else None

    def _unequal(self, signature: Signature, request: HttpRequest, secret: str) -> ServiceError | None:
        payload_hash = sha256(request.body).hexdigest()
        declared_hash = request.headers.get(b"x-amz-content-sha256")
        if declared_hash is not None and declared_hash != payload_hash.encode():
            return mismatch("The provided 'x-amz-content-sha256' header does not match what was computed.")
        inner, outer = self._signing_key(secret, signature.date, signature.region, signature.service)
        for host in (*self._aliases, None):
            headers = request.headers if host is None else {**request.headers, b"host": host}
            canonical = canonical_request(
                request.method, request.target, headers, signature.signed_headers, payload_hash
            )
            to_sign = _string_to_sign(signature, canonical)
            once, twice = inner.copy(), outer.copy()
            once.update(to_sign.encode())
            twice.update(once.digest())
            if hmac.compare_digest(twice.hexdigest().encode(), signature.signature):
                return None
        return mismatch(_NO_MATCH + (_should_have_been(canonical, to_sign) if self._debug else ""))


def _signing_key(secret: str, date: str, region: str, service: str) -> "tuple[_Hash, _Hash]":
    """The two hashes of an HMAC, each begun with the key: to go on from a copy is twice as fast as `hmac.digest`."""
    padded = signing_key(secret, date, region, service).ljust(64, b"\0")
    return sha256(bytes(byte ^ 0x36 for byte in padded)), sha256(bytes(byte ^ 0x5C for byte in padded))


def _string_to_sign(signature: Signature, canonical: bytes) -> str:
    scope = f"{signature.date}/{signature.region}/{signature.service}/{TERMINATOR}"
    return f"{ALGORITHM}\n{signature.timestamp}\n{scope}\n{sha256(canonical).hexdigest()}"


def _out_of_time(signature: Signature, now: int) -> ServiceError | None:
    signed_at = epoch_seconds(signature.timestamp)
    if signed_at > now + SKEW_SECONDS:
        return mismatch(
            f"Signature not yet current: {signature.timestamp} is still later than {iso(now + SKEW_SECONDS)} "
            f"({iso(now)} + 15 min.)"
        )
    if signature.presigned:
        expired = now > signed_at + signature.expires
        return ServiceError("RequestExpired", "Request has expired.") if expired else None
    if signed_at < now - SKEW_SECONDS:
        return mismatch(
            f"Signature expired: {signature.timestamp} is now earlier than {iso(now - SKEW_SECONDS)} "
            f"({iso(now)} - 15 min.)"
        )
    return None


@lru_cache(maxsize=1024)
def _uncovered(signed: tuple[bytes, ...], headers: tuple[bytes, ...]) -> tuple[str, str] | None:
    """A header that steers the request must be in the signature, and one in the signature must be in the request."""
    if b"host" not in signed:
        return MISMATCH, "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."
    for name in headers:
        if name.startswith(b"x-amz-") and name not in signed:
            unsigned = name.decode("latin-1")
            return "AccessDenied", f"There were headers present in the request which were not signed: {unsigned}"
    for name in signed:
        if name not in headers:
            return MISMATCH, f"The signed header '{name.decode()}' is not in the request."
    return None


def _should_have_been(canonical: bytes, to_sign: str) -> str:
    return (
        f"\n\nThe Canonical String for this request should have been\n'{canonical.decode(errors='replace')}'"
        f"\n\nThe String-to-Sign should have been\n'{to_sign}'\n"
    )

"""Receipt handles: a store's claim, sealed so that nobody can make one up or carry it to another queue.

A handle is base64 of a version byte, the queue's id, the claim and a keyed digest of them all. It holds no state on
the server, so it is as good after a restart as before, and a forged one is refused without touching the store.
"""

import binascii
import hashlib
import hmac
from functools import lru_cache

from penstock.core.errors import ServiceError

_VERSION = b"\x01"
_HEAD_BYTES = 9
_DIGEST_BYTES = 16


class Seal:
    """Of one queue: what the digests of its handles have in common is worked out once."""

    __slots__ = ("_head", "_key", "_keyed")

    def __init__(self, key: bytes, queue_id: int) -> None:
        self._key, self._head = key, _VERSION + queue_id.to_bytes(8, "big")
        self._keyed = self._begun(self._head)

    def seal(self, claim: bytes) -> str:
        sealed = self._head + claim + self._digest(claim)
        return binascii.b2a_base64(sealed, newline=False).decode("ascii")

    def unseal(self, handle: str) -> bytes:
        """The claim in a handle of this queue."""
        try:
            raw = binascii.a2b_base64(handle, strict_mode=True)
        except ValueError:
            raw = b""
        claim, digest = raw[_HEAD_BYTES:-_DIGEST_BYTES], raw[-_DIGEST_BYTES:]
        if raw[:_HEAD_BYTES] == self._head and hmac.compare_digest(digest, self._digest(claim)):
            return claim
        raise self._refusal(handle, raw[:-_DIGEST_BYTES], digest)

    def _refusal(self, handle: str, sealed: bytes, digest: bytes) -> ServiceError:
        if sealed[:1] == _VERSION and hmac.compare_digest(digest, self._begun(sealed).digest()):
            text = f'The receipt handle "{handle}" is not valid for this queue.'
        else:
            text = f'The input receipt handle "{handle}" is not a valid receipt handle.'
        return ServiceError("ReceiptHandleIsInvalid", text)

    def _digest(self, claim: bytes) -> bytes:
        digest = self._keyed.copy()
        digest.update(claim)
        return digest.digest()

    def _begun(self, sealed: bytes) -> "hashlib.blake2b":
        return hashlib.blake2b(sealed, key=self._key, digest_size=_DIGEST_BYTES)


seal_of = lru_cache(20_000)(Seal)
"""Which queue's, with which key. Each takes half a kilobyte."""

"""Receipt handles: a store's claim, sealed so that nobody can make one up or carry it to another queue.

A handle is base64 of a version byte, the queue's id, the claim and a keyed digest of them all. It holds no state on
the server, so it is as good after a restart as before, and a forged one is refused without touching the store.
"""

import binascii
import hashlib
import hmac

from penstock.core.errors import ServiceError

_VERSION = b"\x01"
_DIGEST_BYTES = 16


def seal(key: bytes, queue_id: int, claim: bytes) -> str:
    sealed = _VERSION + queue_id.to_bytes(8, "big") + claim
    return binascii.b2a_base64(sealed + _digest(key, sealed), newline=False).decode("ascii")


def unseal(key: bytes, queue_id: int, handle: str) -> bytes:
    """The claim in a handle of this queue."""
    try:
        raw = binascii.a2b_base64(handle, strict_mode=True)
    except ValueError:
        raw = b""
    sealed, digest = raw[:-_DIGEST_BYTES], raw[-_DIGEST_BYTES:]
    if sealed[:1] != _VERSION or not hmac.compare_digest(digest, _digest(key, sealed)):
        raise ServiceError(
            "ReceiptHandleIsInvalid", f'The input receipt handle "{handle}" is not a valid receipt handle.'
        )
    if int.from_bytes(sealed[1:9], "big") != queue_id:
        raise ServiceError("ReceiptHandleIsInvalid", f'The receipt handle "{handle}" is not valid for this queue.')
    return sealed[9:]


def _digest(key: bytes, sealed: bytes) -> bytes:
    return hashlib.blake2b(sealed, key=key, digest_size=_DIGEST_BYTES).digest()

"""Signature Version 4 at a few microseconds a request.

What all requests of one kind share is hashed once: the head, the beginning of the body, the signing key. A request then
costs three short hashes. There is no nonce in a signature and servers accept a date up to fifteen minutes old, so the
date is renewed once a minute only.
"""

import hmac
from hashlib import sha256
from time import gmtime, strftime

from penstock.bench.target import Target

RENEWAL_SECONDS = 60
BLOCK = 64  # bytes in a block of SHA-256: what HMAC pads its key to


class Signer:
    """The part of a signature that no request changes. `renewed` counts the dates, so that templates see a new one."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.renewed = 0
        self._valid_until = 0.0

    def renew(self, epoch: float) -> None:
        if epoch < self._valid_until:
            return
        self._valid_until = epoch + RENEWAL_SECONDS
        self.renewed += 1
        self.timestamp = strftime("%Y%m%dT%H%M%SZ", gmtime(epoch))
        self.scope = f"{self.timestamp[:8]}/{self.target.region}/sqs/aws4_request"
        key = f"AWS4{self.target.secret_key}".encode()
        for part in self.scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        padded = key.ljust(BLOCK, b"\0")
        self.inner = sha256(bytes(byte ^ 0x36 for byte in padded))
        self.inner.update(f"AWS4-HMAC-SHA256\n{self.timestamp}\n{self.scope}\n".encode())
        self.outer = sha256(bytes(byte ^ 0x5C for byte in padded))


class Template:
    """One kind of request: its body is `before`, something that varies, `after`."""

    def __init__(self, signer: Signer, headers: dict[str, str], before: bytes, after: bytes = b"") -> None:
        self.before, self.after = before, after
        self._signer = signer
        self._headers = {"host": signer.target.authority} | headers
        self._renewed = -1
        self._body = sha256(before)
        self._heads: dict[int, bytes] = {}
        self._constant = b""

    def constant(self) -> bytes:
        """The request with nothing varying in it: signed once per date."""
        if self._renewed != self._signer.renewed or not self._constant:
            self._constant = self.request()
        return self._constant

    def request(self, varying: bytes = b"") -> bytes:
        signer = self._signer
        if self._renewed != signer.renewed:
            self._renew()
        rest = varying + self.after
        head = self._heads.get(len(varying)) or self._head(len(varying))
        if not signer.target.sign:
            return head + rest
        body = self._body.copy()
        body.update(rest)
        canonical = self._canonical.copy()
        canonical.update(body.hexdigest().encode())
        inner = signer.inner.copy()
        inner.update(canonical.hexdigest().encode())
        outer = signer.outer.copy()
        outer.update(inner.digest())
        return b"%b%b\r\n\r\n%b%b" % (head, outer.hexdigest().encode(), self.before, rest)

    def _renew(self) -> None:
        signer = self._signer
        self._renewed = signer.renewed
        self._heads.clear()
        if signer.target.sign:
            self._headers["x-amz-date"] = signer.timestamp
            names = sorted(self._headers)
            lines = "".join(f"{name}:{self._headers[name]}\n" for name in names)
            self._names = ";".join(names)
            self._canonical = sha256(f"POST\n/\n\n{lines}\n{self._names}\n".encode())

    def _head(self, varying: int) -> bytes:
        """Everything up to the signature, or up to the varying part where nothing is signed."""
        target = self._signer.target
        length = len(self.before) + varying + len(self.after)
        lines = [f"{name.title()}: {value}" for name, value in self._headers.items()]
        head = "\r\n".join(["POST / HTTP/1.1", *lines, f"Content-Length: {length}"])
        if target.sign:
            credential = f"{target.access_key}/{self._signer.scope}"
            head += f"\r\nAuthorization: AWS4-HMAC-SHA256 Credential={credential}, "
            encoded = f"{head}SignedHeaders={self._names}, Signature=".encode()
        else:
            encoded = f"{head}\r\n\r\n".encode() + self.before
        self._heads[varying] = encoded
        return encoded

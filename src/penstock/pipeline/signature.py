"""Who asks: keys by the AWS provider chain, and Signature Version 4 with them.

The chain is asked where a request is signed, on the driver and on each executor, so that keys which expire are renewed
there; nothing secret travels with a plan unless a program gives its keys itself. What requests of one second share is
made once.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256
from time import gmtime, strftime
from typing import Any, Protocol

NOWHERE = (
    "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY where executors see them, "
    "or anything else of the AWS provider chain, or the options accessKey and secretKey"
)
CONTENT_TYPE = "application/x-amz-json-1.0"


class NoKeys(Exception):
    """There is nobody to ask as; the message says where keys are looked for."""


@dataclass(frozen=True)
class Keys:
    access_key: str
    secret_key: str
    token: str | None = None


class Provider(Protocol):
    def keys(self) -> Keys: ...

    def forget(self) -> None:
        """What was handed out has expired: look again."""


@dataclass(frozen=True)
class Given:
    """Keys that a program has named."""

    given: Keys

    def keys(self) -> Keys:
        return self.given

    def forget(self) -> None:
        pass


class Chain:
    """Environment, shared files, web identity, container, instance: as botocore finds them, and renews them."""

    def __init__(self) -> None:
        self._found: Any = None

    def keys(self) -> Keys:
        import botocore.exceptions
        import botocore.session  # a tenth of a second, and only where the chain is asked

        try:
            self._found = self._found or botocore.session.Session().get_credentials()
            if self._found is None:
                raise NoKeys(NOWHERE)
            frozen = self._found.get_frozen_credentials()
        except botocore.exceptions.BotoCoreError as error:
            raise NoKeys(f"the AWS provider chain has no credentials to give: {error}") from error
        return Keys(frozen.access_key, frozen.secret_key, frozen.token)

    def forget(self) -> None:
        self._found = None


class Signer:
    """The head of a request, signed. One host, one region, one service."""

    def __init__(self, provider: Provider, host: str, region: str) -> None:
        self.provider = provider
        self._host, self._region = host, region
        self._dated: tuple[str, Keys] | None = None

    def head(self, action: str, body: bytes, epoch: float) -> bytes:
        self._renew(strftime("%Y%m%dT%H%M%SZ", gmtime(epoch)), self.provider.keys())
        target = action if "." in action else f"AmazonSQS.{action}"
        lines = f"{self._lines}x-amz-target:{target}\n"
        canonical = f"POST\n/\n\n{lines}\n{self._names}\n{sha256(body).hexdigest()}"
        to_sign = f"{self._preamble}{sha256(canonical.encode()).hexdigest()}"
        signature = hmac.digest(self._key, to_sign.encode(), "sha256").hex()
        return (
            f"POST / HTTP/1.1\r\n{lines.replace(chr(10), chr(13) + chr(10))}"
            f"authorization: {self._authorization}{signature}\r\ncontent-length: {len(body)}\r\n\r\n"
        ).encode()

    def _renew(self, timestamp: str, keys: Keys) -> None:
        if self._dated == (timestamp, keys):
            return
        self._dated = timestamp, keys
        headers = {"content-type": CONTENT_TYPE, "host": self._host, "x-amz-date": timestamp}
        if keys.token:
            headers["x-amz-security-token"] = keys.token
        self._lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
        self._names = ";".join([*headers, "x-amz-target"])
        scope = f"{timestamp[:8]}/{self._region}/sqs/aws4_request"
        self._key = f"AWS4{keys.secret_key}".encode()
        for part in scope.split("/"):
            self._key = hmac.digest(self._key, part.encode(), "sha256")
        self._preamble = f"AWS4-HMAC-SHA256\n{timestamp}\n{scope}\n"
        credential = f"Credential={keys.access_key}/{scope}"
        self._authorization = f"AWS4-HMAC-SHA256 {credential}, SignedHeaders={self._names}, Signature="

"""The smallest SQS client there is: one connection, no retry, no signature unless one is wanted, and the truth about
what it knows.

A call ends in a reply, in `Refused` (the server said no: nothing was changed) or in `Unknown` (no reply, or one that
says the server failed: it may or may not have been done).
"""

import hmac
import http.client
import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import gmtime, strftime
from typing import Any, Protocol

from server_process import LISTENS, Server
from tally import count

ACCOUNT = "000000000000"
SECONDS = 30


class Place(Protocol):
    """Where a server is at this moment."""

    @property
    def url(self) -> str: ...


@dataclass(frozen=True)
class Announced:
    """The place that a server, of whatever start, has last written into its log: for clients in other processes."""

    log: Path

    @property
    def url(self) -> str:
        if found := LISTENS.search(self.log.read_text()):
            return found[1]
        raise ConnectionError("no server has announced itself")


class Refused(Exception):
    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"{status} {code}")
        self.status, self.code = status, code


class Unknown(Exception):
    """Nobody knows whether the request was carried out."""


class Failed(Unknown):
    """A reply of the 500s."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"{status} {code}")
        self.status, self.code = status, code


class Client:
    """Finds its server again after a restart: it asks for the address whenever it has to connect.

    With authentication off it is whoever it says: the root account, or the one whose number it gives. Native code
    serves only those who sign.
    """

    def __init__(self, server: Place, account: str = ACCOUNT, seconds: float = SECONDS, signs: bool = False) -> None:
        self._server, self.account, self._seconds, self._signs = server, account, seconds, signs
        self._connection: http.client.HTTPConnection | None = None

    def url(self, queue: str) -> str:
        return f"{self._server.url}/{self.account}/{queue}"

    def call(self, action: str, queue: str = "", **params: Any) -> dict[str, Any]:
        count(requests=1)
        try:
            if queue:
                params["QueueUrl"] = self.url(queue)
        except ConnectionError as error:
            raise Unknown(repr(error)) from error
        status, body = self._exchange("POST", "/", *self._request(action, json.dumps(params).encode()))
        if status >= 400:
            code = json.loads(body)["__type"].partition("#")[2] or json.loads(body)["__type"]
            raise (Failed if status >= 500 else Refused)(status, code)
        reply: dict[str, Any] = json.loads(body) if body else {}
        count(acknowledged=len(reply.get("Successful", "1")) if action.startswith("SendMessage") else 0)
        return reply

    def _request(self, action: str, body: bytes) -> tuple[bytes, dict[str, str]]:
        headers = headers_of(action, self.account)
        try:
            return body, signed(self._server.url, headers, body) if self._signs else headers
        except ConnectionError as error:
            raise Unknown(repr(error)) from error

    def get(self, path: str) -> tuple[int, str]:
        status, body = self._exchange("GET", path)
        return status, body.decode()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, method: str, path: str, *request: Any) -> tuple[int, bytes]:
        try:
            if self._connection is None:
                host = self._server.url.removeprefix("http://")
                self._connection = http.client.HTTPConnection(host, timeout=self._seconds)
            self._connection.request(method, path, *request)
            reply = self._connection.getresponse()
            if reply.length is None:
                raise http.client.HTTPException("the reply's head was cut short")
            return reply.status, reply.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unknown(repr(error)) from error


def headers_of(action: str, account: str = ACCOUNT) -> dict[str, str]:
    headers = {"X-Amz-Target": f"AmazonSQS.{action}", "Content-Type": "application/x-amz-json-1.0"}
    if account != ACCOUNT:
        scope = f"{account}/20260101/us-east-1/sqs/aws4_request"
        headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature={'0' * 64}"
        headers["X-Amz-Date"] = "20260101T000000Z"
    return headers


def signed(url: str, headers: dict[str, str], body: bytes) -> dict[str, str]:
    """By the root account."""
    stamp, (who, secret) = strftime("%Y%m%dT%H%M%SZ", gmtime()), (Server.access_key, Server.secret_key)
    scope = f"{stamp[:8]}/{Server.region}/sqs/aws4_request"
    signing = {name.lower(): value for name, value in headers.items()}
    signing |= {"host": url.removeprefix("http://"), "x-amz-date": stamp}
    names, lines = ";".join(sorted(signing)), "".join(f"{name}:{signing[name]}\n" for name in sorted(signing))
    canonical = f"POST\n/\n\n{lines}\n{names}\n{sha256(body).hexdigest()}"
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    claim = f"AWS4-HMAC-SHA256 Credential={who}/{scope}, SignedHeaders={names}, Signature={signature}"
    return headers | {"X-Amz-Date": stamp, "Authorization": claim}


def arn(queue: str) -> str:
    return f"arn:aws:sqs:us-east-1:{ACCOUNT}:{queue}"


def create(client: Client, queue: str, **attributes: object) -> str:
    """Make a queue, a FIFO queue if its name says so; return its name."""
    texts = {name: str(value) for name, value in attributes.items()}
    if queue.endswith(".fifo"):
        texts["FifoQueue"] = "true"
    client.call("CreateQueue", QueueName=queue, Attributes=texts)
    return queue


def dead_letters(queue: str, most: int) -> str:
    return json.dumps({"deadLetterTargetArn": arn(queue), "maxReceiveCount": most})


def counts(client: Client, queue: str) -> tuple[int, int, int]:
    """How many messages are visible, in flight and delayed."""
    found = client.call("GetQueueAttributes", queue, AttributeNames=["All"])["Attributes"]
    numbers = [int(found[f"ApproximateNumberOfMessages{kind}"]) for kind in ("", "NotVisible", "Delayed")]
    return numbers[0], numbers[1], numbers[2]

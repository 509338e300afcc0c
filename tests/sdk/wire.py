"""A client made by hand, for requests that no SDK sends: signed by botocore, carried by http.client or a socket."""

import json
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from server_process import Server

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def code(self) -> str:
        """The error's code, in whichever form the answer is."""
        if self.body.startswith("{"):
            document = json.loads(self.body)
            return str(document.get("__type", "") or document["Error"]["Code"])
        found = re.search("<Code>(.*?)</Code>", self.body)
        return found[1] if found else ""

    def text(self, element: str) -> str:
        found = re.search(f"<{element}>(.*?)</{element}>", self.body, re.DOTALL)
        assert found, self.body
        return found[1]


class Wire:
    """`key`, `secret`, `token`, `region` and `service` are what requests are signed with; the server's root's unless
    given."""

    def __init__(self, server: Server, **signing: str) -> None:
        self.server, self.host = server, urlsplit(server.url).netloc
        given = {"key": server.access_key, "secret": server.secret_key, "region": server.region, "service": "sqs"}
        given |= signing
        self._credentials = Credentials(given["key"], given["secret"], given.get("token"))
        self._scope = given["service"], given["region"]

    def signed(
        self, method: str, target: str, body: str = "", headers: Mapping[str, str] | None = None, age_seconds: int = 0
    ) -> dict[str, str]:
        """The headers of a request, Authorization among them."""
        request = AWSRequest(method, f"http://{self.host}{target}", {"Host": self.host} | dict(headers or {}), body)
        _at(SigV4Auth(self._credentials, *self._scope), request, age_seconds)
        return dict(request.headers.items())

    def presigned(self, path: str, parameters: Mapping[str, str], expires: int = 60, age_seconds: int = 0) -> str:
        """The target of a GET whose signature is in its query."""
        url = f"http://{self.host}{path}?{urlencode(parameters)}"
        request = AWSRequest("GET", url, {"Host": self.host})
        _at(SigV4QueryAuth(self._credentials, *self._scope, expires=expires), request, age_seconds)
        return str(request.url).removeprefix(f"http://{self.host}")

    def form(self, path: str = "/", accept: str = "", **parameters: str) -> Answer:
        """A signed POST of a Query form."""
        body = urlencode(parameters)
        headers = {"Content-Type": FORM} | ({"Accept": accept} if accept else {})
        return self.ask("POST", path, self.signed("POST", path, body, headers), body)

    def json(self, action: str, **parameters: Any) -> Answer:
        body = json.dumps(parameters)
        return self.ask("POST", "/", self.signed("POST", "/", body, json_headers(action)), body)

    def ask(self, method: str, target: str, headers: Mapping[str, str] | None = None, body: Any = None) -> Answer:
        connection = HTTPConnection(self.host, timeout=10)
        try:
            connection.request(method, target, body, dict(headers or {}))
            return answer(connection)
        finally:
            connection.close()

    def socket(self) -> socket.socket:
        host, port = self.host.split(":")
        return socket.create_connection((host, int(port)), timeout=10)

    def bytes_of(self, action: str, **parameters: Any) -> bytes:
        """A whole signed request, as it goes over the wire."""
        body = json.dumps(parameters)
        headers = self.signed("POST", "/", body, json_headers(action)) | {"Content-Length": str(len(body))}
        return head("POST", "/", headers) + body.encode()


def _at(signer: Any, request: AWSRequest, age_seconds: int) -> None:
    """As botocore signs, but for the time of the signature."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - age_seconds))
    request.context["timestamp"] = stamp
    signer._modify_request_before_signing(request)
    to_sign = signer.string_to_sign(request, signer.canonical_request(request))
    signer._inject_signature_to_request(request, signer.signature(to_sign, request))


def json_headers(action: str) -> dict[str, str]:
    return {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"AmazonSQS.{action}"}


def head(method: str, target: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def answer(connection: HTTPConnection) -> Answer:
    response = connection.getresponse()
    body = response.read().decode()
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def replies(connection: socket.socket, number: int) -> list[tuple[int, bytes]]:
    """Status and body of the next replies on a connection."""
    stream, found = connection.makefile("rb"), []
    with stream:
        for _ in range(number):
            status, length = int(stream.readline().split()[1]), 0
            while (line := stream.readline().strip().lower()) != b"":
                if line.startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            found.append((status, stream.read(length)))
    return found

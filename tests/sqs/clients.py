"""Two clients of SQS, written from the rules of the wire and from nothing of ours: where they and the server disagree,
one of them is wrong.

Both take a call in the shapes of the JSON protocol and give its reply back in them, so that one assertion serves both
protocols. Both check the envelope of every reply they read: request id, content type, the form of an error.
"""

import base64
import json
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

Params = dict[str, Any]
Headers = dict[str, str]
Send = Callable[[str, str, Headers, bytes], Awaitable["Answer"]]
"""Sign and send: method, target, headers, body."""

AS_JSON = {"Accept": "application/json"}
NAMESPACE = "http://queue.amazonaws.com/doc/2012-11-05/"
WITHOUT_OUTPUT = {
    "AddPermission", "ChangeMessageVisibility", "DeleteMessage", "DeleteQueue", "PurgeQueue", "RemovePermission",
    "SetQueueAttributes", "TagQueue", "UntagQueue",
}  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """A reply as it came over the wire."""

    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True)
class Reply(Answer):
    """A reply understood. `error_type` is what only JSON has: the shape with its namespace."""

    result: Params = field(default_factory=dict)
    error_code: str = ""
    error_type: str = ""
    message: str = ""

    @property
    def ok(self) -> bool:
        return self.status == 200


class JsonClient:
    protocol = "json"

    def __init__(self, send: Send) -> None:
        self._send = send

    async def call(self, action: str, /, *, path: str = "/", headers: Headers | None = None, **params: Any) -> Reply:
        return self.read(action, await self.raw(action, json.dumps(params, default=_base64).encode(), path, headers))

    async def raw(self, action: str, body: bytes, path: str = "/", headers: Headers | None = None) -> Answer:
        """Send any bytes as the body of a call."""
        given = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"AmazonSQS.{action}",
            "x-amzn-query-mode": "true",
        }
        return await self._send("POST", path, given | (headers or {}), body)

    def read(self, action: str, answer: Answer) -> Reply:
        check_request_id(answer)
        assert answer.headers["content-type"] == "application/x-amz-json-1.0"
        if answer.status != 200:
            return self._read_error(answer)
        assert "x-amzn-query-error" not in answer.headers
        if action in WITHOUT_OUTPUT:
            assert answer.body == b"", "an operation without output has an empty body"
            return Reply(answer.status, answer.headers, answer.body)
        result = json.loads(answer.body)
        assert isinstance(result, dict)
        _decode_blobs(result)
        return Reply(answer.status, answer.headers, answer.body, result)

    def _read_error(self, answer: Answer) -> Reply:
        body = json.loads(answer.body)
        assert list(body) == ["__type", "message"]
        code, _, fault = answer.headers["x-amzn-query-error"].partition(";")
        assert fault == ("Sender" if answer.status < 500 else "Receiver")
        assert "x-amzn-errortype" not in answer.headers, "the SDK for Java looks there first, and finds no class by it"
        return Reply(answer.status, answer.headers, answer.body, {}, code, body["__type"], body["message"])


class QueryClient:
    protocol = "query"

    def __init__(self, send: Send) -> None:
        self._send = send

    async def call(self, action: str, /, *, path: str = "/", headers: Headers | None = None, **params: Any) -> Reply:
        form = [("Action", action), ("Version", "2012-11-05"), *flattened(action, params)]
        return self.read(action, await self.raw(action, urlencode(form).encode(), path, headers))

    async def raw(self, action: str, body: bytes, path: str = "/", headers: Headers | None = None) -> Answer:
        given = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
        return await self._send("POST", path, given | (headers or {}), body)

    async def get(self, path: str, parameters: Params | str, headers: Headers | None = None) -> Answer:
        query = parameters if isinstance(parameters, str) else urlencode(parameters, quote_via=quote)
        return await self._send("GET", f"{path}?{query}" if query else path, headers or {}, b"")

    def read(self, action: str, answer: Answer) -> Reply:
        check_request_id(answer)
        assert answer.headers["content-type"] == "text/xml"
        assert answer.body.startswith(b'<?xml version="1.0"?>')
        root = ElementTree.fromstring(answer.body)
        if answer.status != 200:
            return self._read_error(answer, root)
        assert root.tag == f"{{{NAMESPACE}}}{action}Response"
        *result, metadata = root
        assert [name(child) for child in metadata] == ["RequestId"]
        assert metadata[0].text == answer.headers["x-amzn-requestid"]
        assert [name(child) for child in result] == ([] if action in WITHOUT_OUTPUT else [f"{action}Result"])
        return Reply(
            answer.status, answer.headers, answer.body, _members(action, result[0]) if result else {}
        )  # fmt: skip

    def _read_error(self, answer: Answer, root: ElementTree.Element) -> Reply:
        assert root.tag == f"{{{NAMESPACE}}}ErrorResponse"
        error, request_id = root
        assert (name(error), name(request_id)) == ("Error", "RequestId")
        assert request_id.text == answer.headers["x-amzn-requestid"]
        assert [name(child) for child in error] == ["Type", "Code", "Message", "Detail"]
        fault, code, message, detail = (child.text or "" for child in error)
        assert fault == ("Sender" if answer.status < 500 else "Receiver")
        assert detail == ""
        return Reply(answer.status, answer.headers, answer.body, {}, code, "", message)


Client = JsonClient | QueryClient
PROTOCOLS: dict[str, type[JsonClient] | type[QueryClient]] = {"json": JsonClient, "query": QueryClient}


def check_request_id(answer: Answer) -> None:
    assert str(uuid.UUID(answer.headers["x-amzn-requestid"])) == answer.headers["x-amzn-requestid"]


# What Query names differently from JSON

_LISTS = {
    "AttributeNames": "AttributeName",
    "MessageSystemAttributeNames": "MessageSystemAttributeName",
    "MessageAttributeNames": "MessageAttributeName",
    "AWSAccountIds": "AWSAccountId",
    "Actions": "ActionName",
    "TagKeys": "TagKey",
    "StringListValues": "StringListValue",
    "BinaryListValues": "BinaryListValue",
}
_MAPS = {
    "Attributes": ("Attribute", "Name"),
    "MessageAttributes": ("MessageAttribute", "Name"),
    "MessageSystemAttributes": ("MessageSystemAttribute", "Name"),
    "Tags": ("Tag", "Key"),
    "tags": ("Tag", "Key"),
}
_NUMBERS = {
    "ApproximateNumberOfMessagesMoved", "ApproximateNumberOfMessagesToMove", "MaxNumberOfMessagesPerSecond",
    "StartedTimestamp",
}  # fmt: skip
_LISTED_URLS = {"ListQueues": "QueueUrls", "ListDeadLetterSourceQueues": "queueUrls"}


def flattened(action: str, params: Params, prefix: str = "") -> Iterator[tuple[str, str]]:
    for member, value in params.items():
        if member == "Entries":
            for number, entry in enumerate(value, 1):
                yield from flattened(action, entry, f"{prefix}{action}RequestEntry.{number}.")
        elif member in _LISTS:
            yield from ((f"{prefix}{_LISTS[member]}.{number}", _text(item)) for number, item in enumerate(value, 1))
        elif member in _MAPS:
            wire, key_name = _MAPS[member]
            for number, (key, item) in enumerate(value.items(), 1):
                yield f"{prefix}{wire}.{number}.{key_name}", key
                if isinstance(item, dict):
                    yield from flattened(action, item, f"{prefix}{wire}.{number}.Value.")
                else:
                    yield f"{prefix}{wire}.{number}.Value", _text(item)
        else:
            yield f"{prefix}{member}", _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return _base64(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def name(element: ElementTree.Element) -> str:
    return element.tag.removeprefix(f"{{{NAMESPACE}}}")


def _members(action: str, element: ElementTree.Element) -> Params:
    found: Params = {}
    for child in element:
        tag, text = name(child), child.text or ""
        if tag in ("Attribute", "Tag"):
            key, value = (part.text or "" for part in child)
            found.setdefault(f"{tag}s", {})[key] = value
        elif tag == "MessageAttribute":
            found.setdefault("MessageAttributes", {})[child[0].text] = _members(action, child[1])
        elif tag == "Message" and len(child):
            found.setdefault("Messages", []).append(_members(action, child))
        elif tag == f"{action}ResultEntry":
            group = "Results" if action == "ListMessageMoveTasks" else "Successful"
            found.setdefault(group, []).append(_members(action, child))
        elif tag == "BatchResultErrorEntry":
            found.setdefault("Failed", []).append(_members(action, child))
        elif tag == "QueueUrl" and action in _LISTED_URLS:
            found.setdefault(_LISTED_URLS[action], []).append(text)
        else:
            assert tag not in found, f"{tag} comes twice"
            assert not len(child), f"{tag} has parts that nobody expects"
            found[tag] = _scalar(tag, text)
    return found


def _scalar(tag: str, text: str) -> Any:
    if tag in _NUMBERS:
        return int(text)
    if tag == "SenderFault":
        return {"true": True, "false": False}[text]
    return base64.b64decode(text, validate=True) if tag == "BinaryValue" else text


def _decode_blobs(result: Params) -> None:
    for message in result.get("Messages", []):
        for value in message.get("MessageAttributes", {}).values():
            if "BinaryValue" in value:
                value["BinaryValue"] = base64.b64decode(value["BinaryValue"], validate=True)

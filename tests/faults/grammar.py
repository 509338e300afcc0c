"""Requests of every operation, from the services' own models: good ones, and good ones gone bad in one place or two.

What goes bad keeps to the grammar of its protocol (a wrong type, a number too large, a key twice, half a surrogate) or
does not (`garbled`: bytes cut, doubled, overwritten). Everything is drawn from one source of randomness.
"""

import base64
import json
import random
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote_from_bytes

from penstock import registry
from penstock.aws.contract import Service
from sqs.clients import flattened

SERVICES: list[Service] = [registry.load(where).SERVICE for where in registry.SERVICES.values()]

RAW = "\x00raw:"
"""Begins a text that is written into JSON as it stands, without quotes: what `json` itself would never write."""

WILD: dict[str, Callable[[random.Random], Any]] = {
    "nothing": lambda rng: None,
    "truth": lambda rng: rng.choice((True, False)),
    "number": lambda rng: rng.choice((0, -1, 1, 2**31, -(2**31) - 1, 2**63, 2**64, 10**30, 0.5, -0.0)),
    "endless number": lambda rng: RAW + "9" * rng.choice((20, 400, 5000)),
    "no number": lambda rng: RAW + rng.choice(("1e400", "-1e400", "NaN", "Infinity", "-Infinity", "01", "+1", "1.")),
    "text": lambda rng: rng.choice(("", " ", "All", "null", "-1", "é", "\u2028", "\U0001f600", "{}", "%", "../..")),
    "control": lambda rng: rng.choice(("\0", "a\0b", "\x08", "\x1b[31m", "\r\nX: y", "\uffff", "\ufffe")),
    "half a pair": lambda rng: RAW + rng.choice((r'"\ud800"', r'"\udc00x"', r'"\ud800\ud800"')),
    "bad escape": lambda rng: RAW + rng.choice((r'"\x41"', r'"\u12"', '"\t"', '"', "'a'")),
    "bad UTF-8": lambda rng: RAW + rng.choice(('"\udcff"', '"a\udcc3("', '"\udced\udca0\udc80"', '"\udcf8\udc88"')),
    "long text": lambda rng: "x" * rng.choice((81, 257, 1025) * 20 + (70_000,) * 15 + (2**20 - 1, 2**20 + 1)),
    "long list": lambda rng: [rng.choice(("a", 1, {}, None))] * rng.choice((11, 11, 11, 300, 300, 12_000)),
    "large map": lambda rng: {f"k{number}": "v" for number in range(rng.choice((11, 11, 51, 51, 3000)))},
    "deep": lambda rng: RAW + deep(rng.choice((33, 33, 33, 1000, 50_000)), rng.choice(("[", '{"a":'))),
    "list": lambda rng: rng.choice(([], [[]], [None], ["a", 1], [{}])),
    "map": lambda rng: rng.choice(({}, {"": ""}, {"a": {}}, {"__type": "x"})),
    "name": lambda rng: rng.choice((f"arn:aws:sqs:us-east-1:{'0' * 12}:q", "arn:aws:sqs:::", "http://", "//x/y", "q")),
}  # fmt: skip


def deep(levels: int, opening: str) -> str:
    return opening * levels + "0" + {"[": "]", '{"a":': "}"}[opening] * levels


class Grammar:
    """`known` are values by the name of a member, for requests that should find something."""

    def __init__(self, rng: random.Random, known: dict[str, list[Any]]) -> None:
        self._rng, self._known = rng, known

    def operation(self) -> tuple[Service, str]:
        service = self._rng.choice(SERVICES)
        return service, self._rng.choice(list(service.operations))

    def request(self, service: Service, operation: str) -> dict[str, Any]:
        shape = service.operations[operation].input_shape
        value: dict[str, Any] = self._value(service, shape, operation) if shape else {}
        return value

    def _value(self, service: Service, shape_name: str, member: str) -> Any:
        if member in self._known and self._rng.random() < 0.95:
            return self._rng.choice(self._known[member])
        rng, shape = self._rng, service.shape(shape_name)
        match shape["type"]:
            case "structure":
                required = shape.get("required", [])
                chosen = {n: m for n, m in shape["members"].items() if n in required or rng.random() < 0.5}
                return {name: self._value(service, member["shape"], name) for name, member in chosen.items()}
            case "list":
                return [self._value(service, shape["member"]["shape"], member) for _ in range(rng.randint(1, 3))]
            case "map":
                keys = (self._value(service, shape["key"]["shape"], f"{member} key") for _ in range(rng.randint(0, 2)))
                return {str(key): self._value(service, shape["value"]["shape"], f"{member} value") for key in keys}
            case "string":
                return rng.choice(shape.get("enum") or ["m", "String", "Number", "1", "a-b", f"id{rng.randrange(20)}"])
            case "integer" | "long":
                return rng.choice((0, 1, 1, 2, 10))
            case "boolean":
                return rng.random() < 0.5
            case "blob":
                return base64.b64encode(rng.randbytes(rng.randint(0, 6))).decode()
            case _:
                return 0

    def wild(self) -> Any:
        return WILD[self._rng.choice(list(WILD))](self._rng)

    def spoiled(self, request: dict[str, Any]) -> dict[str, Any]:
        """With one or two places gone bad. The request itself is used up."""
        for _ in range(self._rng.choice((1, 1, 2))):
            if found := list(places(request)):
                container, key = self._rng.choice(found)
                match self._rng.choice(("value", "value", "value", "drop", "rename")):
                    case "value":
                        container[key] = self.wild()
                    case "drop" if isinstance(container, dict):
                        del container[key]
                    case "rename" if isinstance(container, dict):
                        container[str(self.wild())[:100].replace(RAW, "")] = container.pop(key)
        return request

    def json(self, request: dict[str, Any]) -> bytes:
        text = written(request)
        if self._rng.random() < 0.03 and text.startswith("{") and len(text) > 2:
            text = "{" + text[1:-1] + "," + text[1:]  # every key twice
        return text.encode("utf-8", "surrogateescape")

    def form(self, service: Service, operation: str, request: dict[str, Any]) -> bytes:
        """In the Query protocol, gone bad in its own ways."""
        flat = flattened(operation, request) if service.name == "sqs" else members(request)
        return self._spoiled_form([("Action", operation), ("Version", service.version), *flat])

    def _spoiled_form(self, pairs: list[tuple[str, str]]) -> bytes:
        rng, pairs = self._rng, list(pairs)
        for _ in range(rng.choice((1, 1, 2))):
            place = rng.randrange(len(pairs))
            name, value = pairs[place]
            match rng.choice(("value", "value", "name", "drop", "repeat", "index", "deeper", "flood")):
                case "value":
                    wild = self.wild()
                    pairs[place] = name, wild.removeprefix(RAW) if isinstance(wild, str) else str(wild)[:5000]
                case "name":
                    pairs[place] = rng.choice(("", ".", "..1", "Action", "\0", "é", "Version", "x" * 300)), value
                case "drop":
                    del pairs[place]
                    pairs = pairs or [("a", "b")]
                case "repeat":
                    pairs.append((name, value))
                case "index":
                    index = rng.choice((".0", ".01", ".-1", ".11", ".999999999", f".{10**30}", ".", ".x", ".²"))
                    pairs[place] = name.replace(".1", index) if ".1" in name else name + index, value
                case "deeper":
                    pairs[place] = name + rng.choice((".1", ".Value", ".1.Value.StringValue", ".member.1")) * 3, value
                case "flood":
                    pairs += [(f"{name}.{number}", value) for number in range(rng.choice((11, 11, 11, 11, 1100)))]
        return "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in pairs).encode()

    def garbled(self, data: bytes) -> bytes:
        """Cut, doubled, overwritten or flipped somewhere."""
        rng = self._rng
        for _ in range(rng.choice((1, 1, 2, 4))):
            start = rng.randrange(len(data) + 1)
            end = min(len(data), start + rng.choice((0, 1, 4, 40)))
            match rng.choice(("cut", "double", "overwrite", "flip", "insert")):
                case "cut":
                    data = data[:start] + data[end:]
                case "double":
                    data = data[:end] + data[start:end] + data[end:]
                case "overwrite":
                    data = data[:start] + rng.randbytes(end - start) + data[end:]
                case "flip" if start < len(data):
                    data = data[:start] + bytes([data[start] ^ 1 << rng.randrange(8)]) + data[start + 1 :]
                case "insert":
                    data = data[:start] + rng.choice(TOKENS) + data[start:]
        return data


TOKENS = (
    b"\0", b"\n", b"\r", b"\r\n", b"\r\n\r\n", b"\r\n ", b" : ", b"\xff\xfe", b"%00", b"%", b"+", b"\x7f", b" ",
    b"\r\nContent-Length: 5", b"\r\nContent-Length: +5", b"\r\nTransfer-Encoding: chunked", b"\r\nHost: a",
    b"\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", b"\r\nExpect: 100-continue",
    b"\r\nContent-Encoding: gzip",
    b"\r\nConnection: upgrade\r\nUpgrade: h2c", b"\r\nA: " + b"b" * 9000, b"\r\nA: b" * 70, b"HTTP/1.0", b"HTTP/9.9",
    b"\r\nAuthorization: AWS4-HMAC-SHA256 Credential=a, SignedHeaders=, Signature=",
    b"\r\nAuthorization: AWS4-HMAC-SHA256 Credential=//////, SignedHeaders=host;host, Signature=zz",
    b"\r\nX-Amz-Target: AmazonSQS.", b"\r\nX-Amz-Date: 99999999T999999Z", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
)  # fmt: skip
"""What parsers of HTTP stumble over."""


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container and key within a value."""
    for key in range(len(value)) if isinstance(value, list) else list(value) if isinstance(value, dict) else ():
        yield value, key
        yield from places(value[key])


def members(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """As services other than SQS flatten their requests."""
    if isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from members(item, f"{prefix}.member.{number}")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from members(item, f"{prefix}.{name}" if prefix else name)
    else:
        yield prefix, str(value)


def written(value: Any) -> str:
    if isinstance(value, str) and value.startswith(RAW):
        return value.removeprefix(RAW)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(str(key))}:{written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)


def _quoted(text: str) -> str:
    return quote_from_bytes(text.encode("utf-8", "surrogateescape"), safe="/.")

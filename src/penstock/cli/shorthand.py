"""The AWS CLI's way of writing structures on the command line: `Id=1,MessageBody=hello`, and JSON where that starts.

The shape decides how a value is read, so text needs quotes only where a comma would begin something new:

    pairs   = name "=" value ("," name "=" value)*
    value   = 'text' | "text" | {pairs} | [value, …] | JSON | anything up to the next ",name="

A comma that no `name=` follows belongs to the value: the next item of a list, or simply text.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.aws.contract import Service

_NAME = re.compile(r"\s*([\w.:/+*-]+)=")
_CLOSERS = {"{": "}", "[": "]"}


def read(service: Service, shape_name: str, text: str) -> Any:
    """What `text` means where a value of this shape is wanted. Raises ValueError."""
    shape = service.shape(shape_name)
    match shape["type"]:
        case "structure" | "map":
            return _members(service, shape, text)
        case "list":
            return _items(service, shape["member"]["shape"], text)
        case scalar:
            return _scalar(scalar, _unquoted(text))


def from_json(service: Service, shape_name: str, value: Any) -> Any:
    """A JSON document's value, with blobs decoded; every other mistake is left to whoever checks the call."""
    shape = service.shape(shape_name)
    match shape["type"], value:
        case "structure", dict():
            known = shape["members"]
            return {k: from_json(service, known[k]["shape"], v) if k in known else v for k, v in value.items()}
        case "map", dict():
            return {k: from_json(service, shape["value"]["shape"], v) for k, v in value.items()}
        case "list", list():
            return [from_json(service, shape["member"]["shape"], item) for item in value]
        case "blob", str():
            return _blob(value)
    return value


def json_or(text: str) -> Any:
    """The document, if the text is one; else None, which no caller takes for a value."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _members(service: Service, shape: dict[str, Any], text: str) -> dict[str, Any]:
    if (document := json_or(text)) is not None:
        name = next(name for name, known in service.model["shapes"].items() if known is shape)
        found: dict[str, Any] = from_json(service, name, document)
        return found
    inner = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    result = {}
    for name, value in _pairs(inner):
        of_map = shape["type"] == "map"
        member = shape["value"] if of_map else shape["members"].get(name)
        result[name] = read(service, member["shape"], value) if member else value
    return result


def _items(service: Service, element: str, text: str) -> list[Any]:
    if (document := json_or(text)) is not None:
        return [from_json(service, element, item) for item in document]
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return [read(service, element, item.strip()) for item in _pieces(inner)]


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    name, value = "", ""
    for piece in _pieces(text):
        if begun := _NAME.match(piece):
            if name:
                yield name, value
            name, value = begun[1], piece[begun.end() :]
        elif name:
            value += f",{piece}"
        else:
            raise ValueError(f"expected Name=Value at {piece!r}")
    if name:
        yield name, value


def _pieces(text: str) -> Iterator[str]:
    """The text between commas that are in no quotes and no brackets. Both count only where a value can begin."""
    start, closers, quote, before = 0, list[str](), "", ","
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote and before != "\\" else quote
        elif character in "'\"" and before in "=,[{:":
            quote = character
        elif character in _CLOSERS and (closers or before in "=,"):
            closers.append(_CLOSERS[character])
        elif closers and character == closers[-1]:
            closers.pop()
        elif character == "," and not closers:
            yield text[start:position]
            start = position + 1
        before = before if character.isspace() and not quote else character
    if quote or closers:
        raise ValueError(f"{quote or closers[-1]} is missing at the end of {text!r}")
    yield text[start:]


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _scalar(kind: str, text: str) -> Any:
    match kind:
        case "integer" | "long" if re.fullmatch(r"-?[0-9]+", text):
            return int(text)
        case "boolean" if text.lower() in ("true", "false"):
            return text.lower() == "true"
        case "blob":
            return _blob(text)
        case "string":
            return text
    raise ValueError(f"{text!r} is not a value of type {kind}")


def _blob(text: str) -> bytes:
    if text.startswith("fileb://"):
        return Path(text.removeprefix("fileb://")).expanduser().read_bytes()
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(f"{text!r} is not base64; give base64 or fileb://FILE") from None

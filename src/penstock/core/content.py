"""What a message may contain: characters, attributes, sizes; and the digests that clients check."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Protocol

from penstock.core.errors import ServiceError, invalid_parameter, missing_parameter
from penstock.core.limits import Limits
from penstock.core.message import Attribute, Attributes

_ASCII_ALLOWED = b"\t\n\r" + bytes(range(0x20, 0x80))
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ALLOWED_CHARACTERS = "#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"
_ATTRIBUTE_NAME = re.compile(r"[\w.-]+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)

STRING, NUMBER, BINARY = "String", "Number", "Binary"
TRACE_HEADER = "AWSTraceHeader"


class RawAttribute(Protocol):
    """An attribute as it came over the wire."""

    DataType: str | None
    StringValue: str | None
    BinaryValue: bytes | None
    StringListValues: list[str] | None
    BinaryListValues: list[bytes] | None


def has_illegal_characters(text: str) -> bool:
    if text.isascii():
        return bool(text.encode("ascii").translate(None, _ASCII_ALLOWED))
    return _ILLEGAL.search(text) is not None


def check_body(body: str) -> None:
    if not body:
        raise missing_parameter("MessageBody")
    if has_illegal_characters(body):
        raise ServiceError(
            "InvalidMessageContents", f"Invalid characters found. Valid unicode characters are {_ALLOWED_CHARACTERS}"
        )


def read_attributes(given: Mapping[str, RawAttribute] | None, limits: Limits) -> Attributes:
    if not given:
        return {}
    if len(given) > limits.max_message_attributes:
        raise invalid_parameter(
            f"Number of message attributes [{len(given)}] exceeds the allowed maximum [{limits.max_message_attributes}]."
        )
    attributes = {}
    for name, raw in given.items():
        _check_name(name, limits)
        attributes[name] = _read_value(f"Message (user) attribute '{name}'", raw, limits)
    return attributes


def read_trace(given: Mapping[str, RawAttribute] | None, limits: Limits) -> str | None:
    """The one system attribute a sender may set."""
    trace = None
    for name, raw in (given or {}).items():
        if name != TRACE_HEADER:
            raise invalid_parameter(f"Message system attribute name '{name}' is invalid.")
        attribute = _read_value(f"Message system attribute '{name}'", raw, limits)
        if attribute.data_type != STRING or not isinstance(attribute.value, str):
            raise invalid_parameter(f"Message system attribute '{name}' must be of type '{STRING}'.")
        trace = attribute.value
    return trace


def _check_name(name: str, limits: Limits) -> None:
    longest = limits.max_message_attribute_name_length
    if not name:
        raise invalid_parameter("Message (user) attribute name can not be empty.")
    if len(name) > longest:
        raise invalid_parameter(f"Message (user) attribute name must be shorter than {longest} bytes.")
    if not _ATTRIBUTE_NAME.fullmatch(name) or name.startswith(".") or name.endswith(".") or ".." in name:
        raise invalid_parameter(
            f"Message (user) attribute name '{name}' is invalid: it can contain letters, digits, underscores, hyphens and "
            "periods, must not start or end with a period, and must not have periods in succession."
        )
    if name.lower().startswith(("aws.", "amazon.")):
        raise invalid_parameter(f"Message (user) attribute name '{name}' must not start with 'AWS.' or 'Amazon.'.")


def _read_value(what: str, raw: RawAttribute, limits: Limits) -> Attribute:
    data_type = raw.DataType or ""
    if not data_type:
        raise invalid_parameter(f"{what} must contain a non-empty attribute type.")
    kind, _, _ = data_type.partition(".")
    if kind not in (STRING, NUMBER, BINARY) or len(data_type.encode()) > limits.max_message_attribute_type_length:
        raise invalid_parameter(
            f"{what} has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String."
        )
    if raw.StringListValues or raw.BinaryListValues:
        raise ServiceError(
            "UnsupportedOperation", "Message attribute list values in SendMessage operation are not supported."
        )
    value = raw.BinaryValue if kind == BINARY else raw.StringValue
    if not value:
        raise invalid_parameter(f"{what} must contain a non-empty value of type '{kind}'.")
    if isinstance(value, str):
        if has_illegal_characters(value):
            raise invalid_parameter(
                f"{what} contains characters that are not allowed. Valid unicode characters are {_ALLOWED_CHARACTERS}"
            )
        if kind == NUMBER:
            _check_number(what, value)
    return Attribute(data_type, value)


def _check_number(what: str, value: str) -> None:
    """Up to 38 significant digits, between 10^-128 and 10^126 either side of zero."""
    if not _NUMBER.fullmatch(value):
        raise invalid_parameter(f"Can't cast the value of {what[0].lower() + what[1:]} to a number.")
    mantissa, _, exponent = value.lower().lstrip("+-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return
    magnitude = len(digits) - len(fraction) + int(exponent or 0)
    if len(digits.rstrip("0")) > 38 or magnitude > 127 or magnitude < -127:
        raise invalid_parameter(f"The value of {what[0].lower() + what[1:]} is out of the range of numbers.")


def size_of(body: str, attributes: Attributes) -> int:
    """Bytes that count towards the limit: the body, and each attribute's name, type and value, in UTF-8."""
    size = len(body) if body.isascii() else len(body.encode())
    for name, (data_type, value) in attributes.items():
        size += len(name.encode()) + len(data_type.encode())
        size += len(value.encode()) if isinstance(value, str) else len(value)
    return size


def md5_of_body(body: str) -> str:
    return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()


def md5_of_attributes(attributes: Attributes) -> str:
    """Names sorted; name, type and value each behind its length; text and numbers marked 1, bytes 2."""
    parts: list[bytes] = []
    for name, (data_type, value) in sorted(attributes.items()):
        raw = value.encode() if isinstance(value, str) else value
        parts += _counted(name.encode()), _counted(data_type.encode())
        parts += b"\x01" if isinstance(value, str) else b"\x02", _counted(raw)
    return hashlib.md5(b"".join(parts), usedforsecurity=False).hexdigest()


def md5_of_trace(trace: str) -> str:
    return md5_of_attributes({TRACE_HEADER: Attribute(STRING, trace)})


def _counted(raw: bytes) -> bytes:
    return len(raw).to_bytes(4, "big") + raw


def chosen(attributes: Attributes, wanted: Iterable[str]) -> Attributes:
    """The attributes a receiver asked for by name, by prefix (`Order.*`), or altogether."""
    names = list(wanted)
    if not names or not attributes:
        return {}
    if any(name in ("All", "*", ".*") for name in names):
        return attributes
    prefixes = tuple(name[:-2] for name in names if name.endswith(".*"))
    exact = set(names)
    return {name: value for name, value in attributes.items() if name in exact or name.startswith(prefixes or ("\0",))}

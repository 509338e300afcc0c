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
_ALLOWED_CHARACTERS = "#x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]"
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


def illegal_character(text: str) -> str | None:
    """The first character that no message may contain."""
    if text.isascii() and not text.encode("ascii").translate(None, _ASCII_ALLOWED):
        return None
    found = _ILLEGAL.search(text)
    return found.group() if found else None


def check_body(body: str) -> None:
    if not body:
        raise missing_parameter("MessageBody")
    if (character := illegal_character(body)) is not None:
        raise ServiceError(
            "InvalidMessageContents",
            f"Invalid binary character '#x{ord(character):X}' was found in the message body, "
            f"the set of allowed characters is {_ALLOWED_CHARACTERS}.",
        )


def read_attributes(given: Mapping[str, RawAttribute] | None, limits: Limits) -> Attributes:
    if not given:
        return {}
    number, most = len(given), limits.max_message_attributes
    if number > most:
        raise invalid_parameter(f"Number of message attributes [{number}] exceeds the allowed maximum [{most}].")
    attributes = {}
    for name, raw in given.items():
        _check_name(name, limits)
        attributes[name] = _read_value(f"message (user) attribute '{name}'", raw, limits)
    return attributes


def read_trace(given: Mapping[str, RawAttribute] | None, limits: Limits) -> str | None:
    """The one system attribute a sender may set."""
    trace = None
    for name, raw in (given or {}).items():
        if name != TRACE_HEADER:
            raise invalid_parameter(f"Message system attribute name '{name}' is invalid.")
        attribute = _read_value(f"message system attribute '{name}'", raw, limits)
        if not isinstance(attribute.value, str):
            raise invalid_parameter(f"The type of message system attribute '{name}' must be {STRING}.")
        trace = attribute.value
    return trace


def _check_name(name: str, limits: Limits) -> None:
    longest = limits.max_message_attribute_name_length
    if not name:
        raise invalid_parameter("The request must contain non-empty message (user) attribute names.")
    if len(name) > longest:
        raise invalid_parameter(f"Message (user) attribute name must be shorter than {longest} bytes.")
    if not _ATTRIBUTE_NAME.fullmatch(name):
        raise invalid_parameter(f"Invalid (user) attribute name '{name}'.")
    if name.startswith("."):
        raise invalid_parameter("Message (user) attribute name must not begin with character '.'.")
    if name.endswith("."):
        raise invalid_parameter("Message (user) attribute name must not end with character '.'.")
    if ".." in name:
        raise invalid_parameter("Message (user) attribute name must not have successive '.' characters.")
    if name.lower().startswith(("aws.", "amazon.")):
        raise invalid_parameter(
            "You can't use message attribute names beginning with 'AWS.' or 'Amazon'. "
            "These strings are reserved for internal use."
        )


def _read_value(what: str, raw: RawAttribute, limits: Limits) -> Attribute:
    """`what` names the attribute in errors, as the middle of a sentence."""
    start = what[0].upper() + what[1:]
    if not raw.DataType:
        raise invalid_parameter(f"The {what} must contain a non-empty message attribute type.")
    kind = raw.DataType.partition(".")[0]
    if kind not in (STRING, NUMBER, BINARY):
        raise invalid_parameter(
            f"The type of {what} is invalid. "
            "You must use only the following supported type prefixes: Binary, Number, String."
        )
    longest = limits.max_message_attribute_type_length
    if len(raw.DataType.encode()) > longest:
        raise invalid_parameter(f"Message (user) attribute type must be shorter than {longest} bytes.")
    if raw.StringListValues or raw.BinaryListValues:
        raise ServiceError(
            "UnsupportedOperation", "Message attribute list values in SendMessage operation are not supported."
        )
    value = raw.BinaryValue if kind == BINARY else raw.StringValue
    other = raw.StringValue if kind == BINARY else raw.BinaryValue
    if other:
        field = BINARY if kind == BINARY else STRING
        raise invalid_parameter(f"{start} with type '{kind}' must use field '{field}'.")
    if not value:
        raise invalid_parameter(f"{start} must contain a non-empty value of type '{kind}'.")
    if isinstance(value, str):
        if (character := illegal_character(value)) is not None:
            raise invalid_parameter(
                f"Invalid binary character '#x{ord(character):X}' was found in the {what}, "
                f"the set of allowed characters is {_ALLOWED_CHARACTERS}."
            )
        if kind == NUMBER:
            _check_number(what, value)
    return Attribute(raw.DataType, value)


def _check_number(what: str, value: str) -> None:
    """Up to 38 significant digits, between 10^-128 and 10^126 either side of zero."""
    if not _NUMBER.fullmatch(value):
        raise invalid_parameter(f"Can't cast the value of {what} to a number.")
    mantissa, _, exponent = value.lower().lstrip("+-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return
    magnitude = len(digits) - len(fraction) + int(exponent or 0)
    if len(digits.rstrip("0")) > 38 or not -127 <= magnitude <= 127:
        raise invalid_parameter(f"Can't cast the value of {what} to a number.")


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

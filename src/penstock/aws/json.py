"""AWS JSON 1.0: a request's body to a typed call, and a reply or an error back to bytes.

Decoding is strict: a number is never taken for a string, nor a boolean or a fraction for a whole number, and a key may
stand only once in an object. Unknown members are ignored, as Amazon ignores them.
"""

import json
import re
from typing import Any

import msgspec

from penstock.aws.constraints import check
from penstock.aws.contract import HELD_TO_THE_MODEL, Operation, Service
from penstock.aws.errors import SQS, form
from penstock.aws.http import HttpResponse
from penstock.core.errors import ServiceError, missing_parameter

HEADERS = b"content-type: application/x-amz-json-1.0\r\nx-amzn-requestid: %b\r\n"

_colons_of_keys = re.compile(rb':(?<=[" \t\n\r]:)').findall
"""And maybe others. A pattern that begins with a letter is looked for much faster than one that looks back first."""
_PLAIN = frozenset((str, int, bool, bytes, float))
_encode = msgspec.json.Encoder().encode
_MISSING = re.compile(r"missing required field `(\w+)`(?: - at `\$\.(\w+)\[(\d+)\]`)?")
_MISTYPED = re.compile(r"Expected `([^`]+)`, got `([^`]+)`(?: - at `\$\.?([^`]*)`)?")

SPOKEN_NAMES = {"Actions": "ActionName"}
"""Parameters that Amazon's errors call by another name than the model."""

_WANTED = {"str": "a String", "int": "an Integer", "bool": "a Boolean", "bytes": "a Blob"}
_TOKENS = {"str": "STRING_VALUE", "int": "NUMBER_VALUE", "float": "DECIMAL_VALUE", "bool": "BOOLEAN_VALUE"}
_MISPLACED = {
    "object": "Start of structure or map found where not expected.",
    "array": "Start of list found where not expected",
}


def decode(service: Service, operation: Operation, body: bytes) -> Any:
    try:
        request = operation.decoder.decode(body or b"{}")
    except msgspec.ValidationError as error:
        raise explained(service, operation, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _malformed() from None
    # A key is a name in quotes and then a colon, maybe after blanks. Where the bytes hold no more of them than the keys
    # that must be there, or that were decoded, none was swallowed: a cheap look that is never wrong when it says so.
    keys = len(_colons_of_keys(body))
    if keys > operation.required and keys > operation.fewest_keys(request) and keys > _keys(request):
        _refuse_repeats(body)
    if service.name in HELD_TO_THE_MODEL:
        check(service, operation.input_shape, msgspec.to_builtins(request))
    return request


def encode(result: msgspec.Struct | None, request_id: str) -> HttpResponse:
    body = _encode(result) if result is not None else b""
    return HttpResponse(200, body, HEADERS % request_id.encode())


def encode_error(error: ServiceError, request_id: str, query_mode: bool) -> HttpResponse:
    """`query_mode` is a client's wish for the statuses of the Query protocol; else errors of SQS itself are 400."""
    looks = form(error)
    status = 400 if looks.json_type.startswith(SQS) and not query_mode else looks.status
    headers = HEADERS % request_id.encode() + looks.headers
    return HttpResponse(status, _encode({"__type": looks.json_type, "message": error.message}), headers)


def _malformed(message: str = "The request body is not well-formed JSON.") -> ServiceError:
    return ServiceError("MalformedInput", message)


def explained(service: Service, operation: Operation, reason: str) -> ServiceError:
    """Amazon's words for what msgspec found."""
    if missing := _MISSING.search(reason):
        member, parent, index = missing.groups()
        if parent is None:
            return missing_parameter(SPOKEN_NAMES.get(member, member))
        reference = service.shape(operation.input_shape)["members"][parent]
        return missing_parameter(f"{service.wire_name(parent, reference)}.{int(index) + 1}.{member}")
    if mistyped := _MISTYPED.search(reason):
        expected, got, path = mistyped.groups()
        if got == "null" and path:
            return missing_parameter(path)
        if got in _MISPLACED:
            return _malformed(_MISPLACED[got])
        wanted = expected.split(" | ")[0]
        return _malformed(f"{_TOKENS.get(got, got)} can not be converted to {_WANTED.get(wanted, f'a {wanted}')}")
    return _malformed(reason.split(" - at ")[0])


def _keys(value: Any) -> int:
    """The number of keys in what was decoded, at every level."""
    kind = type(value)
    if kind in _PLAIN:
        return 0
    if kind is list:
        return sum(map(_keys, value))
    if kind is dict:
        return len(value) + sum(map(_keys, value.values()))
    members = [member for member in msgspec.structs.astuple(value) if member is not None]
    return len(members) + sum(_keys(member) for member in members if type(member) not in _PLAIN)


def _refuse_repeats(body: bytes) -> None:
    def checked(pairs: list[tuple[str, object]]) -> None:
        if len({name for name, _ in pairs}) != len(pairs):
            raise _malformed("A key stands more than once in an object.")

    try:
        json.loads(body, object_pairs_hook=checked)
    except (ValueError, RecursionError):
        raise _malformed() from None

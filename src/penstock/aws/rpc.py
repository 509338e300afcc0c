"""Smithy's RPC v2 with CBOR: a request's body to a typed call, and a reply or an error back to bytes.

Newer SDKs speak it with services whose model offers it; of ours that is CloudWatch. It says the same as AWS JSON in
other bytes: the same types, rules and words of errors.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from penstock.aws import cbor
from penstock.aws.constraints import check
from penstock.aws.contract import HELD_TO_THE_MODEL, Operation, Service
from penstock.aws.errors import form
from penstock.aws.http import HttpResponse
from penstock.aws.json import explained
from penstock.core.errors import ServiceError

PROTOCOL = "smithy-rpc-v2-cbor"
"""What a model calls it."""
MARK = b"rpc-v2-cbor"
"""What the header `smithy-protocol` of a request calls it."""
HEADERS = b"content-type: application/cbor\r\nsmithy-protocol: rpc-v2-cbor\r\nx-amzn-requestid: %b\r\n"

_SCALARS: dict[str, Callable[[Any], bytes]] = {
    "string": cbor.text,
    "boolean": lambda value: cbor.TRUE if value else cbor.FALSE,
    "integer": cbor.integer,
    "long": cbor.integer,
    "float": cbor.fraction,
    "double": cbor.fraction,
    "blob": cbor.binary,
    "timestamp": cbor.moment,
}


def path_of(service: Service, operation: str) -> bytes:
    return f"/service/{service.target_prefix}/operation/{operation}".encode()


def decode(service: Service, operation: Operation, body: bytes) -> Any:
    try:
        request = msgspec.convert(cbor.decode(body) if body else {}, operation.input)
    except cbor.Malformed:
        raise ServiceError("MalformedInput", "The request body is not well-formed CBOR.") from None
    except msgspec.ValidationError as error:
        raise explained(service, operation, str(error)) from None
    if service.name in HELD_TO_THE_MODEL:
        check(service, operation.input_shape, msgspec.to_builtins(request))
    return request


def encode(service: Service, operation: Operation, result: Any, request_id: str) -> HttpResponse:
    out: list[bytes] = []
    if operation.output_shape:
        _write(service, operation.output_shape, result, out)
    return HttpResponse(200, b"".join(out), HEADERS % request_id.encode())


def encode_error(error: ServiceError, request_id: str) -> HttpResponse:
    looks = form(error)
    parts = map(cbor.text, ("__type", looks.json_type, "message", error.message))
    body = b"".join((cbor.head(cbor.MAP, 2), *parts))
    return HttpResponse(looks.status, body, HEADERS % request_id.encode() + looks.headers)


def _write(service: Service, shape_name: str, value: Any, out: list[bytes]) -> None:
    shape = service.shape(shape_name)
    match shape["type"]:
        case "structure":
            there = [(name, part) for name in shape["members"] if (part := getattr(value, name)) is not None]
            out.append(cbor.head(cbor.MAP, len(there)))
            for name, part in there:
                out.append(cbor.text(name))
                _write(service, shape["members"][name]["shape"], part, out)
        case "list":
            out.append(cbor.head(cbor.LIST, len(value)))
            for item in value:
                _write(service, shape["member"]["shape"], item, out)
        case "map":
            out.append(cbor.head(cbor.MAP, len(value)))
            for key, item in value.items():
                out.append(cbor.text(key))
                _write(service, shape["value"]["shape"], item, out)
        case scalar:
            out.append(_SCALARS[scalar](value))

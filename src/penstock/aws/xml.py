"""The Query protocol's replies: XML, or the same as JSON for those who ask for it.

What writes a shape is put together once from the service's model, and kept.
"""

import base64
from collections.abc import Callable
from functools import cache
from time import gmtime, strftime
from typing import Any

import msgspec

from penstock.aws.contract import MAP_KEY_NAMES, Model, Operation, Service, load
from penstock.aws.errors import ERRORS, QUERY_MESSAGES, form
from penstock.aws.http import HttpResponse
from penstock.core.errors import ServiceError
from penstock.core.identifiers import random_uuid

XML_HEADERS = b"content-type: text/xml\r\nx-amzn-requestid: %b\r\n"
JSON_HEADERS = b"content-type: application/json\r\nx-amzn-requestid: %b\r\n"

ORDER = {"Message": ("MessageId", "ReceiptHandle", "MD5OfBody", "MD5OfMessageAttributes", "Body", "Attributes")}
"""Where Amazon does not write members in the order of its model: those that come first."""


def encode(service: Service, operation: Operation, result: Any, request_id: str, as_json: bool) -> HttpResponse:
    identity = request_id.encode()
    if as_json:
        wrapped = {"ResponseMetadata": {"RequestId": request_id}}
        if operation.output_shape:
            wrapped = {operation.result_wrapper: _as_query_json(service, operation.output_shape, result)} | wrapped
        return HttpResponse(200, msgspec.json.encode({f"{operation.name}Response": wrapped}), JSON_HEADERS % identity)
    out = [f'<?xml version="1.0"?><{operation.name}Response xmlns="{service.namespace}">']
    if operation.output_shape:
        start = len(out)
        _writer(service, operation.output_shape)(result, out)
        wrapper = operation.result_wrapper
        out[start:] = [f"<{wrapper}>", *out[start:], f"</{wrapper}>"] if len(out) > start else [f"<{wrapper}/>"]
    out.append(f"<ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata></{operation.name}Response>")
    return HttpResponse(200, "".join(out).encode(), XML_HEADERS % identity)


def encode_error(service: Service, error: ServiceError, request_id: str, as_json: bool) -> HttpResponse:
    looks = form(error)
    message = QUERY_MESSAGES.get(error.shape, error.message)
    identity = request_id.encode()
    if as_json:
        about = {"Code": looks.query_code, "Message": message, "Type": looks.fault}
        return HttpResponse(
            looks.status, msgspec.json.encode({"Error": about, "RequestId": request_id}), JSON_HEADERS % identity
        )
    body = (
        f'<?xml version="1.0"?><ErrorResponse xmlns="{service.namespace}"><Error><Type>{looks.fault}</Type>'
        f"<Code>{looks.query_code}</Code><Message>{escape(message)}</Message><Detail/></Error>"
        f"<RequestId>{request_id}</RequestId></ErrorResponse>"
    )
    return HttpResponse(looks.status, body.encode(), XML_HEADERS % identity)


_REFUSALS = {413: "RequestEntityTooLarge", 500: "InternalFailure", 503: "ServiceUnavailable"}


def refuse(status: int, reason: str) -> HttpResponse:
    """For requests that are refused before anyone knows their protocol: XML, with the error's names in headers that the
    clients of the other protocol read first."""
    shape = _REFUSALS.get(status, "MalformedInput")
    response = encode_error(load("sqs"), ServiceError(shape, reason), random_uuid(), as_json=False)
    response.headers += ERRORS[shape].headers_alone
    response.status, response.close = status, True
    return response


_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#xD;"}
    | {chr(code): "\ufffd" for code in (*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000))}
)


def escape(text: str) -> str:
    """Text as XML content. A carriage return must be a reference or parsers turn it into a line feed; what XML
    cannot carry at all (only ever an echo of a refused value) is replaced."""
    return text.translate(_ESCAPES)


Writer = Callable[[Any, list[str]], None]


@cache
def _scalar_text(kind: str) -> Callable[[Any], str]:
    return {
        "boolean": lambda value: "true" if value else "false",
        "blob": lambda value: base64.b64encode(value).decode(),
        "string": escape,
        "timestamp": lambda value: value if isinstance(value, str) else strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(value)),
    }.get(kind, str)


_WRITERS: dict[tuple[str, str], Writer] = {}


def _writer(service: Service, shape_name: str) -> Writer:
    """What writes a structure's members as XML; made once per shape."""
    known = _WRITERS.get((service.name, shape_name))
    if known is None:
        members = service.shape(shape_name)["members"]
        names = dict.fromkeys((*ORDER.get(shape_name, ()), *members))
        writers = [(name, _member_writer(service, name, members[name])) for name in names]

        def known(value: Any, out: list[str]) -> None:
            for name, write in writers:
                part = getattr(value, name)
                if part is not None:
                    write(part, out)

        _WRITERS[service.name, shape_name] = known
    return known


def _member_writer(service: Service, member: str, reference: Model) -> Writer:
    name, shape = service.wire_name(member, reference), service.shape(reference["shape"])
    flattened = reference.get("flattened") or shape.get("flattened")
    if shape["type"] == "list":
        element = _value_writer(service, name if flattened else "member", shape["member"]["shape"])
        return _each(element) if flattened else _enclosed(name, _each(element))
    if shape["type"] == "map":
        key_name, value_name = MAP_KEY_NAMES.get(name, ("Name", "Value")) if flattened else ("key", "value")
        value = _value_writer(service, value_name, shape["value"]["shape"])
        entry = _map_writer(name if flattened else "entry", key_name, value)
        return entry if flattened else _enclosed(name, entry)
    return _value_writer(service, name, reference["shape"])


def _value_writer(service: Service, name: str, shape_name: str) -> Writer:
    kind = service.shape(shape_name)["type"]
    if kind == "structure":
        return _enclosed(name, _writer(service, shape_name))
    text = _scalar_text(kind)

    def write(value: Any, out: list[str]) -> None:
        out.append(f"<{name}>{text(value)}</{name}>")

    return write


def _enclosed(name: str, inner: Writer) -> Writer:
    def write(value: Any, out: list[str]) -> None:
        out.append(f"<{name}>")
        inner(value, out)
        out.append(f"</{name}>")

    return write


def _each(element: Writer) -> Writer:
    def write(values: Any, out: list[str]) -> None:
        for value in values:
            element(value, out)

    return write


def _map_writer(name: str, key_name: str, value_writer: Writer) -> Writer:
    def write(values: Any, out: list[str]) -> None:
        for key, value in values.items():
            out.append(f"<{name}><{key_name}>{escape(key)}</{key_name}>")
            value_writer(value, out)
            out.append(f"</{name}>")

    return write


def _as_query_json(service: Service, shape_name: str, value: Any) -> Any:
    """A reply in the JSON form of the Query protocol: as the XML has it, with maps as lists of pairs."""
    shape = service.shape(shape_name)
    match shape["type"]:
        case "structure":
            if value is None:
                return None
            return {
                _json_name(service, name, reference): _as_query_json(service, reference["shape"], getattr(value, name))
                for name, reference in shape["members"].items()
            }
        case "list":
            return (
                None if value is None else [_as_query_json(service, shape["member"]["shape"], item) for item in value]
            )
        case "map":
            pairs = (value or {}).items()
            return [
                {"Name": key, "Value": _as_query_json(service, shape["value"]["shape"], item)} for key, item in pairs
            ]
        case "blob":
            return base64.b64encode(value).decode() if value is not None else None
        case _:
            return value


def _json_name(service: Service, name: str, reference: Model) -> str:
    """Lists start with a small letter in this form; nothing else does."""
    return name[0].lower() + name[1:] if service.shape(reference["shape"])["type"] == "list" else name

"""The Query protocol: form parameters to a typed call, and a reply or an error as XML (or JSON, for those who ask).

Parameters are read into a tree by their dots (`Attribute.1.Name`), and the tree is read by the shapes of the
service's model into the same types that JSON requests become. Numbers in names only order the entries; they never
size anything.
"""

import base64
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec

from penstock.aws.contract import MAP_KEY_NAMES, Model, Operation, Service
from penstock.aws.errors import QUERY_MESSAGES, form
from penstock.aws.http import HttpResponse
from penstock.core.errors import ServiceError, invalid_parameter, missing_parameter

MOST_FIELDS = 1000
XML_TYPE = (b"content-type", b"text/xml")
JSON_TYPE = (b"content-type", b"application/json")

EMPTY: dict[str, Callable[[], Any]] = {"list": list, "map": dict}

Parameters = dict[str, str]
Tree = dict[str, Any]


def parameters(query: bytes, body: bytes) -> Parameters:
    """All parameters of a request, from its query string and its form.

    A plus sign in the query string is itself, as the signature reads it; in a form it is a space. A name may come only
    once: the signature says nothing of the order in which two came.
    """
    found: Parameters = {}
    for text in (query.replace(b"+", b"%2B"), body):
        try:
            pairs = parse_qsl(
                text.decode("ascii"),
                keep_blank_values=True,
                encoding="utf-8",
                errors="strict",
                max_num_fields=MOST_FIELDS,
            )
        except ValueError:
            raise ServiceError("MalformedInput", "The request parameters are not well-formed.") from None
        for name, value in pairs:
            if name in found:
                raise ServiceError("MalformedInput", f"The parameter {name} is given more than once.")
            found[name] = value
    return found


def decode(service: Service, operation: Operation, given: Parameters) -> Any:
    if not operation.input_shape:
        return operation.input()
    plain = _read_structure(service, operation.input_shape, _tree(given))
    try:
        return msgspec.convert(plain, operation.input, strict=False)
    except msgspec.ValidationError as error:
        raise _explained(service, operation, str(error), plain) from None


def _tree(given: Parameters) -> Tree:
    root: Tree = {}
    for name, value in given.items():
        node = root
        *branches, leaf = name.split(".")
        for branch in branches[:8]:
            child = node.setdefault(branch, {})
            if not isinstance(child, dict):
                break
            node = child
        else:
            if not isinstance(node.get(leaf), dict):
                node[leaf] = value
    return root


def _entries(node: Any) -> list[Any]:
    """The numbered children of a node, in the order of their numbers."""
    if not isinstance(node, dict):
        return []
    numbered = [(int(key), child) for key, child in node.items() if key.isascii() and key.isdigit() and len(key) < 10]
    return [child for _, child in sorted(numbered, key=lambda pair: pair[0])]


def _child(node: Any, name: str) -> Any:
    return node.get(name) if isinstance(node, dict) else None


def _read(service: Service, reference: Model, node: Any, name: str) -> Any:
    shape = service.shape(reference["shape"])
    flattened = reference.get("flattened") or shape.get("flattened")
    match shape["type"]:
        case "structure":
            return _read_structure(service, reference["shape"], node if isinstance(node, dict) else {})
        case "list":
            items = _entries(node if flattened else _child(node, "member"))
            return [_read(service, shape["member"], item, name) for item in items]
        case "map":
            return _read_map(service, shape, _entries(node if flattened else _child(node, "entry")), name)
        case "blob":
            return node.replace(" ", "+") if isinstance(node, str) else node
        case _:
            return node


def _read_structure(service: Service, shape_name: str, node: Tree) -> dict[str, Any]:
    """A required list or map that is absent is an empty one: the protocol cannot tell the two apart."""
    result, shape = {}, service.shape(shape_name)
    for member, reference in shape["members"].items():
        name = service.wire_name(member, reference)
        given = node.get(name, node.get(member))
        if given is not None:
            result[member] = _read(service, reference, given, name)
        elif member in shape.get("required", ()) and service.shape(reference["shape"])["type"] in EMPTY:
            result[member] = EMPTY[service.shape(reference["shape"])["type"]]()
    return result


def _read_map(service: Service, shape: Model, entries: list[Any], name: str) -> dict[str, Any]:
    result = {}
    key_name, value_name = MAP_KEY_NAMES.get(name, ("Name", "Value"))
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or not isinstance(entry.get(key_name), str):
            raise missing_parameter(f"{name}.{number}.{key_name}")
        if entry[key_name] in result:
            raise invalid_parameter(f"{name} {entry[key_name]} is given more than once.")
        result[entry[key_name]] = _read(service, shape["value"], entry.get(value_name, ""), name)
    return result


def _explained(service: Service, operation: Operation, reason: str, plain: dict[str, Any]) -> ServiceError:
    what, _, path = reason.partition(" - at `$")
    path = path.rstrip("`").lstrip(".")
    if "missing required field" in what:
        member = what.split("`")[1]
        if path.endswith("]"):
            parent, _, index = path[:-1].partition("[")
            reference = service.shape(operation.input_shape)["members"][parent]
            return missing_parameter(f"{service.wire_name(parent, reference)}.{int(index) + 1}.{member}")
        return missing_parameter(member)
    value: Any = plain
    for step in path.replace("[", ".").replace("]", "").split("."):
        value = value[int(step)] if isinstance(value, list) else value.get(step) if isinstance(value, dict) else value
    return ServiceError("MalformedInput", f"The value {value!r} of {path} is of the wrong type.")


def path_of(target: bytes) -> bytes:
    return unquote_to_bytes(target.partition(b"?")[0])


# Replies


def encode(service: Service, operation: Operation, result: Any, request_id: str, as_json: bool) -> HttpResponse:
    identity = (b"x-amzn-requestid", request_id.encode())
    if as_json:
        wrapped = {"ResponseMetadata": {"RequestId": request_id}}
        if operation.output_shape:
            wrapped = {operation.result_wrapper: _as_query_json(service, operation.output_shape, result)} | wrapped
        return HttpResponse(200, msgspec.json.encode({f"{operation.name}Response": wrapped}), [JSON_TYPE, identity])
    out = [f'<?xml version="1.0"?><{operation.name}Response xmlns="{service.namespace}">']
    if operation.output_shape:
        start = len(out)
        _writer(service, operation.output_shape)(result, out)
        wrapper = operation.result_wrapper
        out[start:] = [f"<{wrapper}>", *out[start:], f"</{wrapper}>"] if len(out) > start else [f"<{wrapper}/>"]
    out.append(f"<ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata></{operation.name}Response>")
    return HttpResponse(200, "".join(out).encode(), [XML_TYPE, identity])


def encode_error(service: Service, error: ServiceError, request_id: str, as_json: bool) -> HttpResponse:
    looks = form(error)
    message = QUERY_MESSAGES.get(error.shape, error.message)
    identity = (b"x-amzn-requestid", request_id.encode())
    if as_json:
        about = {"Code": looks.query_code, "Message": message, "Type": looks.fault}
        return HttpResponse(
            looks.status, msgspec.json.encode({"Error": about, "RequestId": request_id}), [JSON_TYPE, identity]
        )
    body = (
        f'<?xml version="1.0"?><ErrorResponse xmlns="{service.namespace}"><Error><Type>{looks.fault}</Type>'
        f"<Code>{looks.query_code}</Code><Message>{escape(message)}</Message><Detail/></Error>"
        f"<RequestId>{request_id}</RequestId></ErrorResponse>"
    )
    return HttpResponse(looks.status, body.encode(), [XML_TYPE, identity])


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
    }.get(kind, str)


_WRITERS: dict[tuple[str, str], Writer] = {}


def _writer(service: Service, shape_name: str) -> Writer:
    """What writes a structure's members as XML; made once per shape."""
    known = _WRITERS.get((service.name, shape_name))
    if known is None:
        members = service.shape(shape_name)["members"].items()
        writers = [(name, _member_writer(service, name, reference)) for name, reference in members]

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
            return {
                name: _as_query_json(service, reference["shape"], getattr(value, name, None))
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

"""The Query protocol's requests: form parameters to a typed call. Replies are in `aws.xml`.

Parameters are read into a tree by their dots (`Attribute.1.Name`), and the tree is read by the shapes of the
service's model into the same types that JSON requests become. Numbers in names only order the entries; they never
size anything.
"""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec

from penstock.aws.constraints import check
from penstock.aws.contract import HELD_TO_THE_MODEL, MAP_KEY_NAMES, Model, Operation, Service
from penstock.core.errors import ServiceError, invalid_parameter, missing_parameter

MOST_FIELDS = 1000

_NUMBER = re.compile(r"-?[0-9]{1,18}")
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
    if service.name in HELD_TO_THE_MODEL:
        check(service, operation.input_shape, plain)
    try:
        return msgspec.convert(plain, operation.input)
    except msgspec.ValidationError as error:
        raise _explained(service, operation, str(error)) from None


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
            if flattened and _child(node, "member") is not None:
                raise ServiceError("MalformedInput", "Start of list found where not expected")
            items = _entries(node if flattened else _child(node, "member"))
            return [_read(service, shape["member"], item, name) for item in items]
        case "map":
            return _read_map(service, shape, _entries(node if flattened else _child(node, "entry")), name)
        case kind:
            return _read_scalar(kind, node, name)


def _read_scalar(kind: str, text: Any, name: str) -> Any:
    """Text, or a number or a truth value written the one way each can be."""
    if not isinstance(text, str):
        raise ServiceError("MalformedInput", "Start of list found where not expected")
    if kind in ("integer", "long"):
        if not _NUMBER.fullmatch(text):
            raise ServiceError("MalformedInput", f"The value {text!r} of {name} is not a whole number.")
        return int(text)
    if kind == "boolean":
        if text.lower() not in ("true", "false"):
            raise ServiceError("MalformedInput", f"The value {text!r} of {name} is neither true nor false.")
        return text.lower() == "true"
    return text


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


def _explained(service: Service, operation: Operation, reason: str) -> ServiceError:
    what, _, path = reason.partition(" - at `$")
    path = path.rstrip("`").lstrip(".")
    if "missing required field" in what:
        member = what.split("`")[1]
        if path.endswith("]"):
            parent, _, index = path[:-1].partition("[")
            reference = service.shape(operation.input_shape)["members"][parent]
            return missing_parameter(f"{service.wire_name(parent, reference)}.{int(index) + 1}.{member}")
        return missing_parameter(member)
    return ServiceError("MalformedInput", f"The value of {path} is not as it should be: {what}.")


def path_of(target: bytes) -> bytes:
    return unquote_to_bytes(target.partition(b"?")[0])

"""AWS's own service models, compiled into msgspec types.

A model (botocore ships them; ours lie beside this file in the same format) says which operations a service has and
what their requests and replies look like. Here each structure becomes one msgspec type, so that decoding and checking
a request is one call into C, and nothing about a shape is written by hand. Members are in alphabetical order, as
Amazon writes them.

Members of requests that the model calls required must be there, except below a map, where an operation
checks them itself to name the entry at fault. Members of replies may always be absent.
"""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import botocore
import msgspec

Model = dict[str, Any]

SCALARS: dict[str, Any] = {
    "string": str,
    "integer": Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)],
    "long": Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)],
    "boolean": bool,
    "blob": bytes,
    "float": float,
    "double": float,
    "timestamp": str | float,
}
"""A moment is text by ISO 8601 in the Query protocol, and seconds since the epoch in JSON: both are taken."""

QUERY_NAMES: dict[str, str] = {
    "QueueUrls": "QueueUrl",
    "queueUrls": "QueueUrl",
    "AttributeNames": "AttributeName",
    "MessageSystemAttributeNames": "MessageSystemAttributeName",
    "MessageAttributeNames": "MessageAttributeName",
    "AWSAccountIds": "AWSAccountId",
    "Actions": "ActionName",
    "TagKeys": "TagKey",
    "StringListValues": "StringListValue",
    "BinaryListValues": "BinaryListValue",
    "Attributes": "Attribute",
    "MessageAttributes": "MessageAttribute",
    "MessageSystemAttributes": "MessageSystemAttribute",
    "Tags": "Tag",
    "tags": "Tag",
}
"""Names of flattened SQS members in the Query protocol, which its model no longer carries; a list of structures
that is not here is named after its element. Everything else comes from the model."""

ACCOUNT_OPERATIONS = {"sqs": frozenset({"CreateQueue", "ListQueues"})}
MAP_KEY_NAMES = {"Tag": ("Key", "Value")}

HELD_TO_THE_MODEL = frozenset({"cloudwatch", "iam", "sts"})
"""Services whose requests must keep to the lengths, patterns and values that the model names (`aws.constraints`). SQS
has rules and words of its own instead."""

WAYS, PARTS = ("input", "output"), ("member", "key", "value")


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation. It equals itself alone, so that it is found fast where operations are keys."""

    name: str
    input: type[msgspec.Struct]
    output: type[msgspec.Struct] | None
    input_shape: str
    output_shape: str | None
    result_wrapper: str
    decoder: msgspec.json.Decoder[Any]
    required: int
    """How many members a request must have at least."""
    entries: tuple[tuple[str, int], ...]
    """Its members that are lists of structures, and how many members each of those must have at least."""

    def fewest_keys(self, request: msgspec.Struct) -> int:
        """How many keys the JSON of this request had at least."""
        keys = self.required
        for name, required in self.entries:
            keys += len(getattr(request, name) or ()) * required
        return keys


@dataclass(frozen=True)
class Service:
    """One service: its operations by name, and its types by shape name."""

    name: str
    namespace: str
    version: str
    target_prefix: str
    signing_name: str
    model: Model
    operations: dict[str, Operation]
    types: dict[str, type[msgspec.Struct]]

    @property
    def account_operations(self) -> frozenset[str]:
        """Those about an account as a whole, which cannot be asked of a queue's own URL."""
        return ACCOUNT_OPERATIONS.get(self.name, frozenset())

    def shape(self, name: str) -> Model:
        shape: Model = self.model["shapes"][name]
        return shape

    def wire_name(self, member: str, reference: Model) -> str:
        """What a member is called in the Query protocol."""
        shape = self.shape(reference["shape"])
        named = reference.get("locationName") or shape.get("locationName")
        if named:
            return str(named)
        if not (reference.get("flattened") or shape.get("flattened")):
            return member
        if member in QUERY_NAMES:
            return QUERY_NAMES[member]
        element = shape.get("member", {})
        return str(element.get("locationName") or element.get("shape") or member)


OWN = Path(__file__).with_name("models")
AMAZON = Path(botocore.__path__[0]) / "data"


@cache
def load(name: str, answered: frozenset[str] | None = None) -> Service:
    """Compile the model of an AWS service, or of our own if it lies beside this file (in the folders boto3 expects):
    all of its operations, or those that are `answered`."""
    model = read_model(name)
    if answered is not None:
        model["operations"] = {name: model["operations"][name] for name in sorted(answered)}
        model["shapes"] = dict(_reached(model))
    return compile_model(name, model)


def read_model(name: str) -> Model:
    """The newest version there is. botocore's own loader gives the same, but to import it takes a third of a start."""
    *_, newest = sorted(file for folder in (AMAZON, OWN) for file in (folder / name).glob("*/service-2.json*"))
    text = newest.read_bytes()
    model: Model = msgspec.json.decode(gzip.decompress(text) if newest.suffix == ".gz" else text)
    return model


def _reached(model: Model) -> Iterator[tuple[str, Model]]:
    """The shapes that its operations need, without the prose: a large model is mostly that."""
    seen: set[str] = set()
    rest = [operation[way]["shape"] for operation in model["operations"].values() for way in WAYS if way in operation]
    while rest:
        name = rest.pop()
        if name not in seen:
            seen.add(name)
            shape = model["shapes"][name]
            parts = [*shape.get("members", {}).values(), *(shape[part] for part in PARTS if part in shape)]
            for reference in parts:
                reference.pop("documentation", None)
                rest.append(reference["shape"])
            shape.pop("documentation", None)
            yield name, shape


def compile_model(name: str, model: Model) -> Service:
    types = _Types(model)
    operations = {}
    for operation_name, operation in model["operations"].items():
        input_shape = operation.get("input", {}).get("shape")
        output = operation.get("output", {})
        input_type = types.structure(input_shape, required=True) if input_shape else _NOTHING
        operations[operation_name] = Operation(
            name=operation_name,
            input=input_type,
            output=types.structure(output["shape"]) if output else None,
            input_shape=input_shape or "",
            output_shape=output.get("shape"),
            result_wrapper=output.get("resultWrapper", f"{operation_name}Result"),
            decoder=msgspec.json.Decoder(input_type),
            required=_required(input_type),
            entries=tuple(_entries(input_type)),
        )
    metadata = model["metadata"]
    version = metadata["apiVersion"]
    namespace = metadata.get("xmlNamespace") or f"http://queue.amazonaws.com/doc/{version}/"
    return Service(
        name=name,
        namespace=namespace,
        version=version,
        target_prefix=metadata.get("targetPrefix", ""),
        signing_name=metadata.get("signingName", metadata["endpointPrefix"]),
        model=model,
        operations=operations,
        types=types.compiled,
    )


_NOTHING = msgspec.defstruct("Nothing", [])


def _required(structure: type[msgspec.Struct]) -> int:
    return sum(field.required for field in msgspec.structs.fields(structure))


def _entries(structure: type[msgspec.Struct]) -> Iterator[tuple[str, int]]:
    for field in msgspec.structs.fields(structure):
        for kind in get_args(field.type) if get_origin(field.type) is not list else (field.type,):
            element = get_args(kind)[0] if get_origin(kind) is list else None
            if isinstance(element, type) and issubclass(element, msgspec.Struct):
                yield field.name, _required(element)


class _Types:
    def __init__(self, model: Model) -> None:
        self._shapes = model["shapes"]
        self.compiled: dict[str, type[msgspec.Struct]] = {}

    def structure(self, name: str, required: bool = False) -> type[msgspec.Struct]:
        if name not in self.compiled:
            fields = list(self._fields(self._shapes[name], required))
            self.compiled[name] = msgspec.defstruct(name, fields, kw_only=True, omit_defaults=True, gc=False)
        return self.compiled[name]

    def _fields(self, shape: Model, required: bool) -> Iterator[Any]:
        must = shape.get("required", []) if required else []
        for member, reference in sorted(shape["members"].items()):
            of_type = self._type(reference["shape"], required)
            yield (member, of_type) if member in must else (member, of_type | None, None)

    def _type(self, name: str, required: bool) -> Any:
        shape = self._shapes[name]
        match shape["type"]:
            case "structure":
                return self.structure(name, required)
            case "list":
                return list[self._type(shape["member"]["shape"], required)]  # type: ignore[misc]
            case "map":
                return dict[str, self._type(shape["value"]["shape"], False)]  # type: ignore[misc]
            case scalar:
                return SCALARS[scalar]

"""Type stubs of the compiled shapes, so that editors and mypy know what `penstock.aws.sqs` holds.

python -m penstock.aws.stubs        writes them beside the modules
"""

import sys
from importlib import import_module
from pathlib import Path

import msgspec

from penstock.aws.contract import Service

STUBBED = ("sqs", "sts", "iam", "cloudwatch", "penstock")
_SCALARS = {
    "string": "str",
    "integer": "int",
    "long": "int",
    "boolean": "bool",
    "blob": "bytes",
    "float": "float",
    "double": "float",
    "timestamp": "str | float",
}


def path_of(name: str) -> Path:
    return Path(__file__).with_name(f"{name}.pyi")


def stub(name: str) -> str:
    service: Service = import_module(f"penstock.aws.{name}").SERVICE
    lines = [
        f"# Written by `make stubs` from the service model of {name} ({service.version}). Do not edit.",
        "import msgspec",
        "",
        "from penstock.aws.contract import Service",
        "",
        "SERVICE: Service",
    ]
    for shape, struct in sorted(service.types.items()):
        lines += ["", f"class {shape}(msgspec.Struct, kw_only=True):"]
        required = {field.name for field in msgspec.structs.fields(struct) if field.required}
        members = service.shape(shape)["members"].items()
        for member, reference in members:
            optional = "" if member in required else " | None = None"
            lines.append(f"    {member}: {_annotation(service, reference['shape'])}{optional}")
        if not members:
            lines.append("    pass")
    return "\n".join(lines) + "\n"


def _annotation(service: Service, name: str) -> str:
    shape = service.shape(name)
    match shape["type"]:
        case "structure":
            return name
        case "list":
            return f"list[{_annotation(service, shape['member']['shape'])}]"
        case "map":
            return f"dict[str, {_annotation(service, shape['value']['shape'])}]"
        case scalar:
            return _SCALARS[scalar]


if __name__ == "__main__":
    for service_name in STUBBED:
        path_of(service_name).write_text(stub(service_name))
        sys.stdout.write(f"wrote {path_of(service_name).name}\n")

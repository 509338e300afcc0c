"""The reference documents, written from what the program itself goes by, so that they cannot disagree with it.

python -m penstock.reference [DIRECTORY]        writes them; docs/reference unless told otherwise
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from penstock import registry
from penstock.aws.contract import MAP_KEY_NAMES, Operation, Service
from penstock.aws.errors import ERRORS, QUERY_MESSAGES
from penstock.cli import COMMANDS, parser_of
from penstock.cli.parser import Parser
from penstock.config.table import rows

NOTE = "<!-- Written by `make docs`. Do not edit. -->"
REQUIRED = " (required)"

SETTINGS = """\
# Settings

A setting is given in one of three places; the first that has it wins:

1. a flag of `penstock serve` (`--public-url https://queues.example.org`),
2. an environment variable (`PENSTOCK_PUBLIC_URL=https://queues.example.org`),
3. a key of the settings file (`public_url = "https://queues.example.org"`).

The file is `penstock.toml` in the working directory, or the one that `--config` or `PENSTOCK_CONFIG` names. A name that
does not exist or a value that is wrong stops the start, and all mistakes are named at once. `penstock config` shows
every value and where it came from. Lists are written with commas between, or as arrays in the file.
"""

DECLARED = """\
## Accounts and queues

Only the file can declare these. Queues are created at the start if they are not there, and brought to what the file
says if they are; none is ever deleted. Attributes have Amazon's names; numbers, booleans and tables become the strings
that it wants.

```toml
[[accounts]]
id = "111122223333"
name = "shop"                       # optional, for people
keys = [{ access_key = "SHOP_ACCESS_KEY_1", secret_key = "at least 16 characters" }]

[[queues]]
name = "orders"
account = "111122223333"            # root_account unless given
region = "us-east-1"                # region unless given
tags = { team = "shop" }

[queues.attributes]
VisibilityTimeout = 60
RedrivePolicy = { deadLetterTargetArn = "arn:aws:sqs:us-east-1:111122223333:orders-dead", maxReceiveCount = 5 }

[[queues]]
name = "orders-dead"
account = "111122223333"
```
"""


def table(head: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for cells in (head, ("---",) * len(head), *body):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def settings() -> Iterator[str]:
    yield SETTINGS
    for group, members in groupby(rows().values(), key=lambda row: row.group):
        yield f"## {group}\n"
        yield from table(
            ("setting", "variable", "default", "meaning"),
            ((code(row.name), code(row.variable), code(row.default), row.help) for row in members),
        )
        yield ""
    yield DECLARED


def commands() -> Iterator[str]:
    yield "# Commands\n"
    yield from table(("command", "what it does"), ((f"`penstock {name}`", c.summary) for name, c in COMMANDS.items()))
    for name in COMMANDS:
        parser = parser_of(name)
        yield f"\n## penstock {name}\n\n{parser.description}"
        yield from _command(parser)
        for child in _children(parser):
            yield f"\n### {child.prog}"
            yield from _command(child)


def _command(parser: Parser) -> Iterator[str]:
    yield "\n```sh"
    yield from parser.examples
    yield "```\n"
    actions = [action for action in parser._actions if action.dest != "help" and not isinstance(action.choices, dict)]
    if rows().keys() <= {action.dest for action in actions}:
        yield "Every [setting](settings.md) is an option too.\n"
        actions = [action for action in actions if action.dest not in rows()]
    if actions:
        yield from table(("option", "meaning"), ((code(_spelled(action)), action.help or "") for action in actions))


def _spelled(action: Any) -> str:
    value = "" if action.nargs == 0 else f" {action.metavar}" + (" …" if action.nargs == "+" else "")
    return (", ".join(action.option_strings) + value).strip() or action.metavar


def _children(parser: Parser) -> list[Parser]:
    actions = [action.choices for action in parser._actions if isinstance(action.choices, dict)]
    return [child for choices in actions for child in choices.values()]


def operations() -> Iterator[str]:
    yield "# Operations\n"
    yield "Every operation the server answers, and what its members are called in the two protocols. `N` counts from 1."
    for where in registry.SERVICES.values():
        module = registry.load(where)
        yield f"\n## {module.SERVICE.model['metadata']['serviceFullName']}, version {module.SERVICE.version}"
        for name in sorted(module.OPERATIONS):
            yield from _operation(module.SERVICE, module.SERVICE.operations[name])


def _operation(service: Service, operation: Operation) -> Iterator[str]:
    target = f"JSON `X-Amz-Target: {service.target_prefix}.{operation.name}` · " if service.target_prefix else ""
    yield f"\n### {operation.name}\n\n{target}Query `Action={operation.name}`\n"
    request, reply = operation.input_shape, operation.output_shape
    asked = list(_members(service, request, Names(".", ".N"))) if request else []
    told = list(_members(service, reply, Names("/", ""))) if reply else []
    yield from table(("request", "in Query", "type"), asked) if asked else ["The request has no members."]
    yield ""
    plain = ((name, wire, kind.removesuffix(REQUIRED)) for name, wire, kind in told)
    yield from table(("reply", "in Query's XML", "type"), plain) if told else ["The reply has no members."]


class Names(NamedTuple):
    """How the Query protocol writes a way through structures, and the number of an item; and the way so far."""

    step: str
    number: str
    json: str = ""
    query: str = ""


def _members(service: Service, shape_name: str, names: Names) -> Iterator[tuple[str, str, str]]:
    """Each member, and below it those of its structures."""
    shape = service.shape(shape_name)
    for name, reference in shape["members"].items():
        inner = service.shape(reference["shape"])
        wire = service.wire_name(name, reference)
        here, there, key, below = names.json + name, names.query + wire, "", reference["shape"]
        flattened = reference.get("flattened") or inner.get("flattened")
        if inner["type"] == "list":
            here, there = f"{here}[]", there + ("" if flattened else f"{names.step}member") + names.number
            below = inner["member"]["shape"]
        elif inner["type"] == "map":
            entry = there + ("" if flattened else f"{names.step}entry") + names.number + names.step
            pair = MAP_KEY_NAMES.get(wire, ("Name", "Value")) if flattened else ("key", "value")
            here, there, key = f"{here}.*", entry + pair[1], f"{code(entry + pair[0])}, "
            below = inner["value"]["shape"]
        kind = service.shape(below)["type"]
        yield code(here), key + code(there), kind + (REQUIRED if name in shape.get("required", []) else "")
        if kind == "structure":
            yield from _members(service, below, names._replace(json=f"{here}.", query=there + names.step))


def errors() -> Iterator[str]:
    yield "# Errors\n"
    yield (
        "JSON clients see the type in `__type`; Query clients see the code. The status is that of Query, and of JSON\n"
        "clients that send `x-amzn-query-mode: true`; without it, errors of SQS itself have status 400 in JSON.\n"
    )
    yield from table(
        ("error", "JSON type", "Query code", "status", "whose fault"),
        ((code(n), code(f.json_type), code(f.query_code), str(f.status), f.fault) for n, f in ERRORS.items()),
    )
    yield "\nIn other words in Query:\n"
    yield from table(("error", "message"), ((code(name), text) for name, text in QUERY_MESSAGES.items()))


DOCUMENTS: dict[str, Callable[[], Iterator[str]]] = {
    "settings.md": settings,
    "commands.md": commands,
    "operations.md": operations,
    "errors.md": errors,
}


def written(name: str) -> str:
    return "\n".join([NOTE, *DOCUMENTS[name]()]).rstrip() + "\n"


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name in DOCUMENTS:
        (directory / name).write_text(written(name), encoding="utf-8")
        sys.stdout.write(f"wrote {directory / name}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/reference"))

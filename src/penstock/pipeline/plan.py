"""The redrive plan: which dead letters go back where.

The job `dlq` writes it, a person edits it, `penstock dlq redrive` carries it out.

    {"version": 1, "made_at": "2026-11-16T08:30:00Z", "groups": [{
        "signature": "0b5e…", "about": {"reason": "maxReceiveCount", "type": "order", …},
        "dead_letter_queue": "arn:aws:sqs:…:orders-dead", "destination": "arn:aws:sqs:…:orders",
        "messages": "all" or ["id", …], "count": 12, "chosen": false}]}

Only `chosen` is meant to be edited, `destination` and `messages` may be. `about` is for the person and not read.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

VERSION = 1
ALL = "all"
ARN = re.compile(r"arn:[\w-]+:sqs:[\w-]*:\d{12}:[\w-]{1,80}(\.fifo)?")


class PlanError(Exception):
    """The file is no plan; the message is one line for the person who named it."""


@dataclass(frozen=True)
class Group:
    """Dead letters of one cause."""

    signature: str
    dead_letter_queue: str
    destination: str
    messages: str | Sequence[str]
    """Their ids in the dead-letter queue, or "all" if nothing else is known to be in it."""
    count: int
    chosen: bool
    left_out: int = 0
    """Messages that were too many to be listed: make another plan when these are moved."""
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return self.messages == ALL


@dataclass(frozen=True)
class Plan:
    made_at: str
    groups: Sequence[Group]
    version: int = VERSION

    def text(self) -> str:
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


def parse(text: str) -> Plan:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise PlanError(f"not JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("groups"), list):
        raise PlanError('not a redrive plan: there is no list "groups"')
    if document.get("version") != VERSION:
        raise PlanError(f"a plan of version {document.get('version')!r}; this Penstock knows {VERSION}")
    groups = [_group(entry, f"groups[{number}]") for number, entry in enumerate(document["groups"])]
    return Plan(str(document.get("made_at", "")), groups)


def _group(entry: Any, where: str) -> Group:
    if not isinstance(entry, dict):
        raise PlanError(f"{where} is not an object")
    for name in ("dead_letter_queue", "destination"):
        if not ARN.fullmatch(str(entry.get(name))):
            raise PlanError(f"{where}.{name} is {entry.get(name)!r}, not the ARN of a queue")
    messages: Any = entry.get("messages")
    if messages != ALL and not _ids(messages):
        raise PlanError(f'{where}.messages is neither "{ALL}" nor a list of message ids')
    if not isinstance(entry.get("chosen"), bool):
        raise PlanError(f"{where}.chosen is {entry.get('chosen')!r}, neither true nor false")
    count = entry.get("count", 0) if messages == ALL else len(messages)
    if not isinstance(count, int):
        raise PlanError(f"{where}.count is {count!r}, not a whole number")
    return Group(
        str(entry.get("signature", where)),
        entry["dead_letter_queue"],
        entry["destination"],
        messages,
        count,
        entry["chosen"],
    )


def _ids(messages: Any) -> bool:
    return isinstance(messages, list) and all(isinstance(one, str) for one in messages)

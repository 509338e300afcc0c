"""What only the settings file can say: further accounts with their keys, and queues to be there from the start.

Both are read whole and every mistake is reported; what is returned is what was right.
"""

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.config import values
from penstock.core import attributes
from penstock.core.errors import ServiceError
from penstock.core.limits import Limits
from penstock.core.naming import FIFO_SUFFIX, check_queue_name

Complain = Callable[[str], None]
Table = Mapping[str, Any]


@dataclass(frozen=True)
class Key:
    access_key: str
    secret: str = field(repr=False)


@dataclass(frozen=True)
class Account:
    id: str
    keys: tuple[Key, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class DeclaredQueue:
    """`attributes` have AWS's names and the strings that a client would send."""

    name: str
    account: str
    region: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)


def read_accounts(raw: object, taken: str, complain: Complain) -> tuple[Account, ...]:
    """`taken` is the root's access key, which no account may have as well."""
    ids: set[str] = set()
    access_keys = {taken} - {""}
    found = []
    for table, said in _tables(raw, "accounts", complain):
        _check_keys(table, {"id", "name", "keys"}, said)
        account_id = _text(table, "id", values.account_id, said)
        if account_id and account_id in ids:
            said(f'id "{account_id}": it is there twice; give each account once, with all its keys')
        ids.add(account_id)
        name = _text({"name": ""} | dict(table), "name", values.text, said)
        found.append(Account(account_id, tuple(_keys(table.get("keys", []), access_keys, said)), name))
    return tuple(found)


def _keys(raw: object, taken: set[str], complain: Complain) -> Iterator[Key]:
    for table, said in _tables(raw, "keys", complain):
        _check_keys(table, {"access_key", "secret_key"}, said)
        access_key = _text(table, "access_key", values.access_key, said)
        if access_key and access_key in taken:
            said(f'access_key "{access_key}": it is in use already; give each key to one account')
        taken.add(access_key)
        yield Key(access_key, _text(table, "secret_key", values.secret_key, said, hidden=True))


@dataclass(frozen=True)
class Surroundings:
    """What a declared queue depends on. `accounts` is None when any account may have queues."""

    account: str
    accounts: frozenset[str] | None
    region: str
    regions: frozenset[str] | None
    limits: Limits


def read_queues(raw: object, around: Surroundings, complain: Complain) -> tuple[DeclaredQueue, ...]:
    seen: set[tuple[str, str, str]] = set()
    found = []
    for table, said in _tables(raw, "queues", complain):
        _check_keys(table, {"name", "account", "region", "attributes", "tags"}, said)
        queue = DeclaredQueue(
            name=_text(table, "name", values.text, said),
            account=_text({"account": around.account} | dict(table), "account", values.account_id, said),
            region=_text({"region": around.region} | dict(table), "region", values.region, said),
            attributes=_strings(table, "attributes", said),
            tags=_strings(table, "tags", said),
        )
        _check_place(queue, around, said)
        _check_rules(queue, around.limits, said)
        if (key := (queue.region, queue.account, queue.name)) in seen:
            said(f'name "{queue.name}": it is there twice in {queue.region} and account {queue.account}')
        seen.add(key)
        found.append(queue)
    return tuple(found)


def _check_place(queue: DeclaredQueue, around: Surroundings, complain: Complain) -> None:
    if queue.account and around.accounts is not None and queue.account not in around.accounts:
        complain(f'account "{queue.account}": nobody has a key for it; use root_account or one of [[accounts]]')
    if queue.region and around.regions is not None and queue.region not in around.regions:
        complain(f'region "{queue.region}": it is not served; give one of {", ".join(sorted(around.regions))}')


def _check_rules(queue: DeclaredQueue, limits: Limits, complain: Complain) -> None:
    """Each attribute by itself first, so that all that are wrong are named; then all of them together."""
    given = dict(queue.attributes)
    fifo = queue.name.endswith(FIFO_SUFFIX) or given.get("FifoQueue", "").lower() == "true"
    before = len(given)
    try:
        check_queue_name(queue.name, fifo, limits)
    except ServiceError as error:
        complain(f'name "{queue.name}": {error.message}')
    for name, value in queue.attributes.items():
        try:
            attributes.checked({name: value}, fifo, limits)
        except ServiceError as error:
            del given[name]
            complain(f'{name} "{value}": {error.message.rstrip(".")}{nearest(name, attributes.CHECKS)}')
    try:
        attributes.merged({"FifoQueue": "true"} if fifo else {}, attributes.checked(given, fifo, limits))
    except ServiceError as error:
        if len(given) == before:
            complain(error.message)


def _tables(raw: object, name: str, complain: Complain) -> Iterable[tuple[Table, Complain]]:
    """Each table of an array, with a voice that says which one it speaks of."""
    if not isinstance(raw, list) or not all(isinstance(item, dict) for item in raw):
        complain(f"{name}: give an array of tables")
        return
    for number, table in enumerate(raw, 1):
        called = table.get("name", table.get("id"))
        label = f'"{called}"' if isinstance(called, str) else str(number)
        yield table, lambda problem, label=label: complain(f"{name} {label}: {problem}")  # type: ignore[misc]


def _check_keys(table: Table, names: set[str], complain: Complain) -> None:
    for name in sorted(table.keys() - names):
        complain(f"{name}: there is no such key{nearest(name, names)}")


def _text(table: Table, name: str, parse: values.Parser, complain: Complain, hidden: bool = False) -> str:
    given = table.get(name)
    if given is None:
        complain(f"{name}: it is missing")
        return ""
    value = "" if hidden else f" {json.dumps(given, default=str)}"
    if not isinstance(given, str):
        complain(f"{name}{value}: give text, in quotes")
        return ""
    try:
        return str(parse(given))
    except ValueError as right:
        complain(f"{name}{value}: {right}")
        return ""


def _strings(table: Table, name: str, complain: Complain) -> dict[str, str]:
    """A table whose values become the strings that AWS wants: numbers, booleans, and tables as JSON."""
    given = table.get(name, {})
    if not isinstance(given, dict):
        complain(f"{name}: give a table, as in {{ VisibilityTimeout = 60 }}")
        return {}
    found = {}
    for key, value in given.items():
        if isinstance(value, str):
            found[key] = value
        elif isinstance(value, bool | int | dict | list):
            found[key] = json.dumps(value, separators=(",", ":"), default=str)
        else:
            complain(f'{name}.{key} "{value}": give text, a whole number, true or false, or a table')
    return found


def nearest(name: str, names: Iterable[str]) -> str:
    """A guess at what was meant, as the end of a sentence; nothing if the name is one of them."""
    close = [] if name in (names := list(names)) else difflib.get_close_matches(name, names, 1)
    return f"; did you mean {close[0]}?" if close else ""

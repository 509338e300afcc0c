"""The settings, from wherever they were given: a flag wins over the environment, that over the file, all over defaults.

Nothing else in Penstock reads environment variables or the settings file. What settings there are is in
`config.table`; this file finds their values, says where each came from, and reports all mistakes at once.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from penstock.config.declared import Account, DeclaredQueue, Key, Surroundings, nearest, read_accounts, read_queues
from penstock.config.limits import MEANINGS
from penstock.config.table import PREFIX, Row, Settings, rows
from penstock.config.values import Address
from penstock.core.limits import Limits

__all__ = ["Account", "Address", "ConfigError", "DeclaredQueue", "Key", "Loaded", "Settings", "environment", "load"]

FILE = Path("penstock.toml")
NOT_SETTINGS = {"PENSTOCK_CONFIG"}
FROM_KUBERNETES = re.compile(r"PENSTOCK_(SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_\w+)?)")
"""Put into every container beside a Service called penstock; nobody's mistake."""


class ConfigError(Exception):
    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Loaded:
    """`origin` says where each setting's value came from."""

    settings: Settings
    origin: dict[str, str]


class Given(NamedTuple):
    text: str
    origin: str


def environment() -> Mapping[str, str]:
    return os.environ


def load(flags: Mapping[str, str], environ: Mapping[str, str], file: Path | None = None) -> Loaded:
    """`flags` are by setting's name; `file` is what --config named. Raises ConfigError with every mistake there is."""
    problems: list[str] = []
    path, document = _document(environ, file, problems)
    given = _given(flags, environ, document, str(path), problems)
    values, wrong = _parsed(given, problems)
    limits = Limits(**{name: values.pop(name) for name in list(values) if name in MEANINGS})
    settings = Settings(**values, limits=limits)
    for names, right in _conflicts(settings):
        if not wrong.intersection(names):
            problems.append(_mistake([(rows()[name], given[name]) for name in names], right))
    settings = _with_declared(settings, document, str(path), problems)
    if problems:
        raise ConfigError(problems)
    return Loaded(settings, {name: value.origin for name, value in given.items()})


def database_path(settings: Settings) -> Path | None:
    """Where the embedded store keeps its file; None for other stores."""
    url = urlsplit(settings.store)
    return Path(unquote(url.path[1:])) if url.scheme == "sqlite" else None


def _document(environ: Mapping[str, str], file: Path | None, problems: list[str]) -> tuple[Path, dict[str, Any]]:
    """The settings file: one that was named must be there, the usual one may be."""
    named = file or (Path(environ["PENSTOCK_CONFIG"]) if environ.get("PENSTOCK_CONFIG") else None)
    path = named or FILE
    if named is None and not path.exists():
        return path, {}
    try:
        return path, tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        problems.append(f"{path}: it cannot be read: {error.strerror}")
    except ValueError as error:  # also of tomllib, and of bytes that are not UTF-8
        problems.append(f"{path}: it is not TOML: {error}")
    return path, {}


def _given(
    flags: Mapping[str, str], environ: Mapping[str, str], document: dict[str, Any], file: str, problems: list[str]
) -> dict[str, Given]:
    table = rows()
    problems += _unknown(environ, document, file)
    found = {name: Given(row.default, "default") for name, row in table.items()}
    for name, raw in document.items():
        if name in table:
            try:
                found[name] = Given(_written(raw), file)
            except ValueError as right:
                problems.append(_mistake([(table[name], Given(str(raw), file))], str(right)))
    for name, row in table.items():
        if row.variable in environ:
            found[name] = Given(environ[row.variable], f"environment {row.variable}")
        if name in flags:
            found[name] = Given(flags[name], f"flag {row.flag}")
    return found


def _unknown(environ: Mapping[str, str], document: dict[str, Any], file: str) -> Iterator[str]:
    variables = {row.variable for row in rows().values()} | NOT_SETTINGS
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in variables and not FROM_KUBERNETES.fullmatch(name):
            yield f"{name} (environment): there is no such setting{nearest(name, variables)}"
    keys = {*rows(), "accounts", "queues"}
    for name in document.keys() - keys:
        yield f"{name} ({file}): there is no such setting{nearest(name, keys)}"


def _written(raw: object) -> str:
    """A TOML value as the text that a flag or a variable would have."""
    if isinstance(raw, bool):
        return str(raw).lower()
    if isinstance(raw, str | int):
        return str(raw)
    if isinstance(raw, list) and all(isinstance(item, str) for item in raw):
        return ",".join(raw)
    raise ValueError("give text, a whole number, true or false, or an array of texts")


def _parsed(given: dict[str, Given], problems: list[str]) -> tuple[dict[str, Any], set[str]]:
    """Each value by itself; the default stands in for one that is wrong, so that the others can be looked at."""
    values, wrong = {}, set()
    for name, row in rows().items():
        try:
            values[name] = row.parse(given[name].text)
        except ValueError as right:
            problems.append(_mistake([(row, given[name])], str(right)))
            values[name] = row.parse(row.default)
            wrong.add(name)
    return values, wrong


def _mistake(about: list[tuple[Row, Given]], right: str) -> str:
    said = []
    for row, given in about:
        value = "" if row.secret else f' "{given.text}"'
        said.append(f"{row.name}{value} ({given.origin})")
    return f"{', '.join(said)}: {right}"


def _conflicts(settings: Settings) -> Iterator[tuple[tuple[str, ...], str]]:
    """The settings that do not go together, or that point to nothing; and what would be right."""
    limits = settings.limits
    if settings.regions is not None and settings.region not in settings.regions:
        yield ("region", "regions"), "add the region to regions"
    if settings.auth == "off" and not settings.listen.is_loopback and not settings.allow_open:
        yield (
            ("auth", "listen"),
            "anyone who reaches that address could read and change everything; listen on 127.0.0.1, "
            "or insist with allow_open",
        )
    if settings.auth == "on" and settings.is_plain_to_others and not settings.allow_plaintext:
        yield (
            ("listen",),
            "whoever is on the way could read every message, and repeat requests; set tls_certificate and tls_key, or "
            "trusted_proxies if one of them speaks TLS to clients, or insist with allow_plaintext",
        )
    for pair in (("root_access_key", "root_secret_key"), ("tls_certificate", "tls_key")):
        if bool(getattr(settings, pair[0])) != bool(getattr(settings, pair[1])):
            yield pair, "give both or neither"
    for name in ("tls_certificate", "tls_key"):
        path = getattr(settings, name)
        if path and not os.path.isfile(path):  # where Path.is_file raises, as for a name too long, this says no
            yield (name,), "there is no such file; give the path of a PEM file"
    for name in ("maximum_message_size", "message_retention_period"):
        if getattr(limits, f"min_{name}") > getattr(limits, f"max_{name}"):
            yield (f"min_{name}", f"max_{name}"), "the least is more than the most"
    if right := _wrong_store(settings.store):
        yield ("store",), right


def _wrong_store(url: str) -> str:
    from penstock.registry import STORES

    scheme, separator, _ = url.partition("://")
    if not separator or scheme not in STORES:
        return f"give a URL that starts with one of {', '.join(f'{name}://' for name in sorted(STORES))}"
    try:
        path = unquote(urlsplit(url).path[1:])
    except ValueError as error:
        return f"it is no URL: {error}"
    if scheme == "sqlite" and (not path or "\0" in path):
        return "give the path of a file too, as in sqlite:///data/penstock.db"
    return ""


def _with_declared(settings: Settings, document: dict[str, Any], file: str, problems: list[str]) -> Settings:
    def complain(problem: str) -> None:
        problems.append(f"{file}: {problem}")

    accounts = read_accounts(document.get("accounts", []), settings.root_access_key, complain)
    known = frozenset({settings.root_account, *(account.id for account in accounts)})
    around = Surroundings(
        account=settings.root_account,
        accounts=known if settings.auth == "on" else None,
        region=settings.region,
        regions=settings.regions,
        limits=settings.limits,
    )
    queues = read_queues(document.get("queues", []), around, complain)
    return replace(settings, accounts=accounts, queues=queues)

"""The table of settings: names, defaults, what each means. Flags, variables, file keys and documents come from it.

A field of `Settings` is a row of the table: its default is given as an operator would write it, and is read by the
same parser. The limits of `core.limits` are further rows, gathered in `Settings.limits`.
"""
# ruff: noqa: RUF009 - what `setting` returns is a dataclass field

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from penstock.config import values
from penstock.config.declared import Account, DeclaredQueue
from penstock.config.limits import MEANINGS
from penstock.config.values import Address, Network, Parser
from penstock.core.limits import Limits

PREFIX = "PENSTOCK_"
WHERE, REGIONS, WHO, SERVING, JOURNAL, AUDIT, LOGS = (
    "Where it listens and keeps its data",
    "Regions",
    "Who is calling",
    "Serving",
    "Journal",
    "Audit log",
    "Logs",
)
AMAZON = "Waits and limits, with Amazon's values as defaults"


@dataclass(frozen=True)
class Row:
    name: str
    default: str
    parse: Parser
    help: str
    group: str
    secret: bool = False

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


def setting(default: str, parse: Parser, group: str, help: str, secret: bool = False) -> Any:
    metadata = {"row": (default, parse, help, group, secret)}
    return field(default=parse(default), repr=not secret, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    listen: Address = setting("127.0.0.1:9324", values.address, WHERE, "The address and port to listen on.")
    data: Path = setting("./data", values.folder, WHERE, "The directory for everything that is kept.")
    store: str = setting(
        "",
        values.text,
        WHERE,
        "The store's URL: sqlite:///PATH or memory://. Empty is penstock.db in the data directory.",
    )
    public_url: str = setting(
        "", values.optional(values.base_url), WHERE, "What queue URLs start with. Empty is the host each client names."
    )
    tls_certificate: Path | None = setting(
        "", values.optional_file, WHERE, "A PEM file with the certificate chain; serves HTTPS. Read again at SIGHUP."
    )
    tls_key: Path | None = setting("", values.optional_file, WHERE, "A PEM file with the certificate's key.")
    allow_plaintext: bool = setting(
        "false", values.boolean, WHERE, "Insist on plain HTTP at an address that other machines can reach."
    )
    trust_clock: bool = setting(
        "false", values.boolean, WHERE, "Start although the system's clock is over an hour behind the data."
    )
    trusted_proxies: tuple[Network, ...] = setting(
        "", values.networks, WHERE, "Networks whose X-Forwarded headers are believed, with commas between."
    )
    signed_hosts: tuple[bytes, ...] = setting(
        "", values.hosts, WHERE, "Names that clients sign for, with commas between, where a proxy changes Host."
    )
    region: str = setting("us-east-1", values.region, REGIONS, "The region of requests that name none.")
    regions: frozenset[str] | None = setting(
        "", values.regions, REGIONS, "The regions served, with commas between; * is any, empty is region alone."
    )
    auth: str = setting(
        "on", values.one_of("on", "off"), WHO, "Whether signatures are checked. off is for development alone."
    )
    allow_open: bool = setting(
        "false", values.boolean, WHO, "Insist on auth off at an address that other machines can reach."
    )
    root_account: str = setting("000000000000", values.account_id, WHO, "The account of the root key.")
    root_access_key: str = setting(
        "", values.optional(values.access_key), WHO, "The root key's id. Empty is one made at the first start."
    )
    root_secret_key: str = setting("", values.optional(values.secret_key), WHO, "The root key's secret.", secret=True)
    master_key_file: Path = setting(
        "",
        values.optional_file,
        WHO,
        "The file of the key under which secrets are kept; made if it is not there. Empty is master.key in data.",
    )
    master_key: str = setting(
        "",
        values.optional(values.master_keys),
        WHO,
        "The key itself, in base64, instead of a file; older ones may follow, with spaces between.",
        secret=True,
    )
    kms_keys: tuple[str, ...] = setting(
        "", values.key_names, WHO, "Keys that queues may name as KmsMasterKeyId, with commas between."
    )
    kms_keys_disabled: tuple[str, ...] = setting(
        "", values.key_names, WHO, "Those of them that encrypt and decrypt nothing for now, with commas between."
    )
    metrics_from: tuple[Network, ...] = setting(
        "127.0.0.0/8,::1/128", values.networks, WHO, "Networks that may read /metrics, with commas between."
    )
    native: str = setting(
        "auto",
        values.one_of("auto", "on", "off"),
        SERVING,
        "Whether compiled code serves plain requests: auto is if it was built, on insists on it.",
    )
    metrics_keep_minutes: int = setting(
        "180", values.whole(1), SERVING, "For how many minutes GetQueueMetrics remembers what queues did."
    )
    metrics_keep_days: int = setting(
        "63",
        values.whole(0),
        SERVING,
        "For how many days windows from PutQueueMetrics are kept (those of one minute: 15 at most); 0 is for ever.",
    )
    max_connections: int = setting("10000", values.whole(1), SERVING, "The most connections open at once.")
    max_connections_per_address: int = setting(
        "200", values.whole(1), SERVING, "The most connections open at once from one address."
    )
    max_request_bytes: int = setting(
        "5242880", values.whole(1024), SERVING, "The most bytes a request's body may have."
    )
    header_seconds: int = setting("10", values.whole(1), SERVING, "How long a client may take to send its headers.")
    idle_seconds: int = setting("75", values.whole(1), SERVING, "How long a connection may be open without a request.")
    drain_seconds: int = setting("25", values.whole(0), SERVING, "How long running requests may take after SIGTERM.")
    journal: str = setting(
        "events",
        values.one_of("full", "events", "off"),
        JOURNAL,
        "What is written of every change: full is with bodies. A queue may say otherwise by its tag penstock:journal.",
    )
    journal_directory: Path = setting(
        "", values.optional_file, JOURNAL, "Where the journal is kept. Empty is journal in the data directory."
    )
    journal_segment_bytes: int = setting(
        "67108864", values.whole(65536), JOURNAL, "After how many bytes a segment is closed and published."
    )
    journal_segment_seconds: int = setting(
        "60", values.whole(1), JOURNAL, "After how many seconds a segment is closed and published."
    )
    journal_keep_days: int = setting(
        "7",
        values.whole(0),
        JOURNAL,
        "How long segments are kept that every registered reader committed; 0 is for ever.",
    )
    journal_keep_bytes: int = setting(
        "10737418240", values.whole(0), JOURNAL, "The most bytes kept, whoever has not read them; 0 is without a limit."
    )
    audit: str = setting(
        "on",
        values.one_of("on", "off"),
        AUDIT,
        "Whether refused calls, changes of identities and what administrators do are written to audit in data.",
    )
    audit_keep_days: int = setting("90", values.whole(0), AUDIT, "How long its lines are kept; 0 is for ever.")
    log_format: str = setting(
        "auto", values.one_of("auto", "json", "console"), LOGS, "auto is console on a terminal and json elsewhere."
    )
    log_level: str = setting(
        "info", values.one_of("debug", "info", "warning", "error"), LOGS, "The least important events to log."
    )
    recreate_wait_seconds: int = setting(
        "60", values.whole(0), AMAZON, "How long the name of a deleted queue cannot be used again; 0 is no wait."
    )
    purge_wait_seconds: int = setting(
        "60", values.whole(0), AMAZON, "How long after a purge a queue cannot be purged again; 0 is no wait."
    )
    limits: Limits = Limits()
    accounts: tuple[Account, ...] = ()
    queues: tuple[DeclaredQueue, ...] = ()

    def __post_init__(self) -> None:
        """Four defaults follow from other settings, and nobody who reads a setting should have to know."""
        if not self.store:
            object.__setattr__(self, "store", f"sqlite:///{quote(str(self.data / 'penstock.db'))}")
        if self.journal_directory is None:
            object.__setattr__(self, "journal_directory", self.data / "journal")
        if self.master_key_file is None:
            object.__setattr__(self, "master_key_file", self.data / "master.key")
        if self.regions == frozenset():
            object.__setattr__(self, "regions", frozenset({self.region}))

    @property
    def is_plain_to_others(self) -> bool:
        """Whether other machines can reach it, and nothing that we know of speaks TLS to them."""
        return not (self.listen.is_loopback or self.tls_certificate or self.trusted_proxies)


@cache
def rows() -> dict[str, Row]:
    return {row.name: row for row in _rows()}


def _rows() -> Iterator[Row]:
    for item in fields(Settings):
        if "row" in item.metadata:
            default, parse, help, group, secret = item.metadata["row"]
            yield Row(item.name, default, parse, help, group, secret)
    for limit in fields(Limits):
        least, help = MEANINGS[limit.name]
        yield Row(limit.name, str(limit.default), values.whole(least), help, AMAZON)


def value_of(settings: Settings, name: str) -> Any:
    return getattr(settings.limits if name in MEANINGS else settings, name)


def shown(settings: Settings, row: Row) -> str:
    """A value as an operator would write it. Secrets are only said to be there."""
    value = value_of(settings, row.name)
    if row.secret:
        return "(hidden)" if value else ""
    if row.name == "regions" and value is None:
        return "*"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset | tuple) and not isinstance(value, Address):
        return ",".join(sorted(value) if isinstance(value, frozenset) else map(str, value))
    return "" if value is None else str(value)

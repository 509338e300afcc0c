"""What the audit log says: who was refused, who changed identities, who administered, who looked at others' messages.

An entry is a line of JSON. Each carries the hash of the one before (`prev`) and its own (`hash`, of everything before
it in the line), so that a line that was edited, removed or put in is found. This file says what a line is, and how many
of a kind are written; it refuses to know files, and which call is what kind (`api.audit` has the table).
"""

from collections.abc import Sequence
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple, Protocol

import msgspec

START = "0" * 64
"""What the first line there ever was has for the hash before it."""
_HASH = b',"hash":"'
_END = b'"}\n'
LONGEST_TEXT = 512
"""Of what a caller chose, such as a name: more says nothing more."""


class Kind(StrEnum):
    CHANGE = "change"
    """Of who there is and what each may do: users, policies, keys, accounts; and credentials that were given out."""
    ADMIN = "admin"
    """What an administrator did."""
    READ = "read"
    """A look at what is not the caller's own, or is nobody's business: the journal, messages in a queue, this log."""
    DENIED = "denied"
    FORGOTTEN = "forgotten"
    """By the server: lines up to the number in `resource` were older than they are kept."""


class Entry(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`account` and `principal` are the caller's, empty if nobody was made out; `access_key` only if it is known here,
    because people put secrets in its place. `result` is ok, denied, failed, or unknown (nobody waited for it, or it
    broke); `code` is the error's. `count` is of calls alike that were not written one by one."""

    seq: int
    ts_ms: int
    kind: Kind
    account: str = ""
    principal: str = ""
    access_key: str = ""
    peer: str = ""
    region: str = ""
    service: str = ""
    action: str = ""
    resource: str = ""
    result: str
    code: str = ""
    request_id: str = ""
    count: int = 1
    prev: str = START

    def concerns(self, account: str) -> bool:
        """Whether the account called, or is the one whose things were meant."""
        named = (
            part.endswith((f"={account}", f":{account}")) or f":{account}:" in part for part in self.resource.split(",")
        )
        return account == self.account or any(named)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Entry).decode


def line_of(entry: Entry) -> tuple[bytes, str]:
    """The entry as a line, and the hash that the next one is to carry."""
    text = _encode(entry)[:-1]
    digest = sha256(text).hexdigest()
    return text + _HASH + digest.encode() + _END, digest


class Sealed(NamedTuple):
    """A line that was read: the hash it carries, and whether that is the one it should."""

    entry: Entry
    hash: str
    intact: bool


def read_line(line: bytes) -> Sealed:
    """Raises ValueError for what is no whole line."""
    text, found, rest = line.rpartition(_HASH)
    if not found or not rest.endswith(_END):
        raise ValueError("not a line of the audit log")
    digest = rest.removesuffix(_END).decode("ascii", "replace")
    return Sealed(_decode(text + b"}"), digest, sha256(text).hexdigest() == digest)


class Ask(NamedTuple):
    """Which entries are wanted: texts that are empty ask for all, `after` is a number, times are epoch milliseconds."""

    start: int
    end: int
    after: int = 0
    most: int = 1000
    account: str = ""
    action: str = ""
    principal: str = ""
    result: str = ""

    def wants(self, entry: Entry) -> bool:
        return (
            self.start <= entry.ts_ms < self.end
            and (not self.account or entry.concerns(self.account))
            and self.action.lower() in ("", entry.action.lower(), f"{entry.service}:{entry.action}".lower())
            and (
                not self.principal
                or entry.principal == self.principal
                or entry.principal.endswith(f"/{self.principal}")
            )
            and self.result in ("", entry.result)
        )


class Found(NamedTuple):
    """In the order of their numbers; the number to ask after for more, None if there is no more."""

    entries: Sequence[Sealed]
    next: int | None


class AuditLog(Protocol):
    """What the request pipeline and operations need of the log."""

    def admits(self, entry: Entry) -> bool:
        """Whether this one is to be written; else it has been counted, and a later line tells how many there were."""

    def write(self, entry: Entry) -> None:
        """At the end of the log; on disk a second later, or with `lasting`. MUST NOT raise."""

    async def lasting(self) -> None:
        """Until everything written so far is on disk; raises Unavailable if that cannot be."""

    def trouble(self) -> str | None:
        """Why nothing can be written at the moment, if so."""

    async def find(self, ask: Ask) -> Found: ...

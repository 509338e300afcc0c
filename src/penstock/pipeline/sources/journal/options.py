"""The options of `penstock.journal`: what each may be, and one clear line for what it may not."""

import datetime as dt
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from penstock.pipeline.schemas import KNOWN_EVENTS
from penstock.pipeline.sources.journal.filters import Condition


class Wrong(ValueError):
    """An option that cannot be; the message says what can."""


class Option(NamedTuple):
    read: Callable[[str], Any]
    is_: str


def _number(text: str) -> int:
    if int(text) < 1:
        raise ValueError
    return int(text)


def _time(text: str) -> int:
    """Epoch milliseconds; a time without a zone is UTC."""
    if text.isdigit():
        return int(text)
    time = dt.datetime.fromisoformat(text)
    return round((time if time.tzinfo else time.replace(tzinfo=dt.UTC)).timestamp() * 1000)


def _list(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise ValueError
    return names


def _events(text: str) -> tuple[str, ...]:
    names = _list(text)
    if not set(names) <= set(KNOWN_EVENTS):
        raise ValueError
    return names


def _one_of(*words: str) -> Option:
    def read(text: str) -> str:
        if text.lower() not in words:
            raise ValueError
        return text.lower()

    return Option(read, " or ".join(words))


def _offsets(text: str) -> str | dict[str, int]:
    if text.lower() in ("earliest", "latest"):
        return text.lower()
    given = json.loads(text)
    if not isinstance(given, dict) or not all(type(seq) is int and seq >= 0 for seq in given.values()):
        raise ValueError
    return given


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError
    return text.rstrip("/")


def _text(text: str) -> str:
    if not text:
        raise ValueError
    return text


OPTIONS: Mapping[str, Option] = {
    "path": Option(_text, "the journal's folder, or a URI of it"),
    "endpoint": Option(_url, "the address of a server, as https://queues.example.org:9324"),
    "region": Option(_text, "the region to sign for"),
    "accessKey": Option(_text, "an access key, if not that of the AWS provider chain"),
    "secretKey": Option(_text, "its secret key"),
    "sessionToken": Option(_text, "its session token, if it has one"),
    "reader": Option(_text, "the name of a reader to register with the server"),
    "startingOffsets": Option(
        _offsets, 'earliest, latest, or the last number read of each node, as {"4f1c2a9be07d": 81234}'
    ),
    "maxEventsPerTrigger": Option(_number, "a number of 1 or more"),
    "eventsPerPartition": Option(_number, "a number of 1 or more"),
    "numPartitions": Option(_number, "a number of 1 or more"),
    "from": Option(_time, "a time in ISO 8601, or epoch milliseconds"),
    "to": Option(_time, "a time in ISO 8601, or epoch milliseconds"),
    "queue": Option(_list, "names of queues, with commas between"),
    "account": Option(_list, "accounts, with commas between"),
    "events": Option(_events, f"some of {', '.join(KNOWN_EVENTS)}, with commas between"),
    "corrupt": _one_of("keep", "fail"),
    "gaps": _one_of("report", "fail"),
}
BY_KEY = {name.lower(): name for name in OPTIONS}
STREAM_ONLY = ("reader", "maxEventsPerTrigger")
ASKED = {
    "queue": ("queue", "In"),
    "account": ("account", "In"),
    "events": ("event", "In"),
    "from": ("ts_ms", "GreaterThanOrEqual"),
    "to": ("ts_ms", "LessThan"),
}
PARTITION_EVENTS = 250_000


@dataclass(frozen=True)
class JournalOptions:
    given: Mapping[str, Any]

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> "JournalOptions":
        options = cls(dict(_read(key, text) for key, text in texts.items()))
        options._check_place()
        if options.number("eventsPerPartition") and options.number("numPartitions"):
            raise Wrong("penstock.journal takes eventsPerPartition or numPartitions, not both")
        return options

    def _check_place(self) -> None:
        path, endpoint, reader = (self.text(name) for name in ("path", "endpoint", "reader"))
        if not path and not endpoint:
            raise Wrong("penstock.journal needs the option path, the journal's folder, or endpoint, a server's address")
        if path and endpoint and not reader:
            raise Wrong(
                "penstock.journal reads a path or an endpoint; with both it needs the option reader too, and "
                "then reads the path and commits to the endpoint"
            )
        if (self.text("accessKey") is None) != (self.text("secretKey") is None):
            raise Wrong("the options accessKey and secretKey of penstock.journal belong together: both, or neither")
        if reader and not endpoint:
            raise Wrong("penstock.journal needs the option endpoint with reader: the server keeps the readers")

    def for_batch(self) -> "JournalOptions":
        for name in STREAM_ONLY:
            if name in self.given:
                raise Wrong(f"the option {name} of penstock.journal is for streams: use spark.readStream")
        if self.starting == "latest":
            raise Wrong("startingOffsets of a batch can be earliest or numbers: there is nothing after the latest")
        return self

    def text(self, name: str, default: str | None = None) -> str | None:
        return self.given.get(name, default)

    def number(self, name: str) -> int | None:
        return self.given.get(name)

    @property
    def starting(self) -> str | dict[str, int]:
        return self.given.get("startingOffsets", "earliest")

    @property
    def asked(self) -> list[Condition]:
        return [
            Condition(column, test, self.given[name]) for name, (column, test) in ASKED.items() if name in self.given
        ]

    def per_partition(self, events: int) -> int:
        wanted = self.number("numPartitions")
        return -(-events // wanted) or 1 if wanted else self.number("eventsPerPartition") or PARTITION_EVENTS


def _read(key: str, text: str) -> tuple[str, Any]:
    name = BY_KEY.get(key.lower())
    if name is None:
        raise Wrong(f"penstock.journal has no option {key}; it has {', '.join(OPTIONS)}")
    try:
        return name, OPTIONS[name].read(text)
    except ValueError:
        raise Wrong(f"the option {name} of penstock.journal cannot be {text!r}: it is {OPTIONS[name].is_}") from None

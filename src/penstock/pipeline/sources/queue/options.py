"""The options of `penstock.queue`: one table, checked whole before anything is asked of a server.

Wrong ones fail with the right ones listed. Names are compared as Spark does, without regard to case.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.pipeline.http import Address
from penstock.pipeline.signature import Chain, Given, Keys, Provider
from penstock.pipeline.sqs import Client

BATCH, STREAM, WRITE = "a batch read", "a streaming read", "a write"
READS = (BATCH, STREAM)
USES = (*READS, WRITE)
SPARKS_OWN = {"checkpointlocation", "path"}
"""What Spark itself puts among the options of a source."""


class WrongOption(ValueError):
    """An option that is unknown, missing, or has no sensible value."""


@dataclass(frozen=True)
class Option:
    name: str
    field: str
    parse: Callable[[str], Any]
    default: Any
    uses: tuple[str, ...]


def _within(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ValueError(f"must be a whole number from {least:,} to {most:,}")
        return value

    return parse


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("must be true or false")
    return text.lower() == "true"


def _address(text: str) -> str:
    try:
        Address.of(text)
    except ValueError:
        raise ValueError("must be a URL that begins with http:// or https://") from None
    return text.rstrip("/")


def _shared_folder(text: str) -> Path:
    scheme, found, rest = text.partition(":")
    if found and scheme != "file" and len(scheme) > 1:
        raise ValueError("must be a directory that driver and executors share, as a path or a file: URL")
    path = Path("/" + rest.lstrip("/") if found and scheme == "file" else text)
    if not path.is_absolute():
        raise ValueError("must be an absolute path, for driver and executors stand in different directories")
    return path


MANY = 1_000_000_000
OPTIONS = (
    Option("queueUrl", "queue_url", _address, None, USES),
    Option("endpoint", "endpoint", _address, None, USES),
    Option("region", "region", str, None, USES),
    Option("accessKey", "access_key", str, None, USES),
    Option("secretKey", "secret_key", str, None, USES),
    Option("sessionToken", "session_token", str, None, USES),
    Option("numPartitions", "partitions", _within(1, 10_000), 4, READS),
    Option("waitTimeSeconds", "wait_seconds", _within(0, 20), 1, READS),
    Option("visibilityTimeout", "visibility_seconds", _within(1, 43_200), 120, READS),
    Option("maxMessages", "most", _within(1, MANY), None, (BATCH,)),
    Option("deleteAfterRead", "delete_after_read", _flag, False, (BATCH,)),
    Option("maxMessagesPerTrigger", "most_per_trigger", _within(1, MANY), 50_000, (STREAM,)),
    Option("stagingLocation", "staging", _shared_folder, None, (STREAM,)),
    Option("maxMessagesPerSecond", "rate", _within(1, MANY), None, (WRITE,)),
)
BY_KEY = {option.name.lower(): option for option in OPTIONS}


@dataclass(frozen=True)
class Settings:
    """Options, checked. What was not given is its default."""

    queue_url: str
    endpoint: str | None
    region: str | None
    access_key: str | None
    secret_key: str | None
    session_token: str | None
    partitions: int
    wait_seconds: int
    visibility_seconds: int
    most: int | None
    delete_after_read: bool
    most_per_trigger: int
    staging: Path | None
    rate: int | None
    given: frozenset[str]

    @property
    def fifo(self) -> bool:
        return self.queue_url.endswith(".fifo")

    def client(self) -> Client:
        """A client of one process: it holds connections."""
        provider: Provider = Chain()
        if self.access_key and self.secret_key:
            provider = Given(Keys(self.access_key, self.secret_key, self.session_token))
        return Client(Address.of(self.endpoint or self.queue_url), self.region or "us-east-1", provider)

    def check_use(self, *uses: str) -> None:
        """Raises WrongOption if one was given that none of these uses takes."""
        for key in sorted(self.given):
            option = BY_KEY[key]
            if not set(uses) & set(option.uses):
                purpose, here = " or ".join(option.uses), " or ".join(uses)
                raise WrongOption(f"option {option.name} is for {purpose}; {here} takes {_names(*uses)}")


def _names(*uses: str) -> str:
    return ", ".join(option.name for option in OPTIONS if set(uses) & set(option.uses))


def parse(given: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> Settings:
    options = {key.lower(): value for key, value in given.items()}
    if "path" in options:  # spark.read.load(url)
        options.setdefault("queueurl", options["path"])
    known = {key: value for key, value in options.items() if key not in SPARKS_OWN}
    unknown = sorted(known.keys() - BY_KEY.keys())
    if unknown:
        raise WrongOption(f"penstock.queue has no option {', '.join(unknown)}; it has {_names(*USES)}")
    values = {option.field: _value(option, known.get(option.name.lower())) for option in OPTIONS}
    if values["queue_url"] is None:
        raise WrongOption('option queueUrl is missing: .option("queueUrl", "https://HOST/ACCOUNT/NAME")')
    if (values["access_key"] is None) != (values["secret_key"] is None):
        raise WrongOption("options accessKey and secretKey belong together: give both, or neither")
    values["region"] = values["region"] or _region(values["queue_url"], environ)
    return Settings(**values, given=frozenset(known))


def _value(option: Option, text: str | None) -> Any:
    if text is None:
        return option.default
    try:
        return option.parse(text)
    except ValueError as error:
        raise WrongOption(f"option {option.name} {error}, and is {text!r}") from None


def _region(queue_url: str, environ: Mapping[str, str]) -> str:
    """Amazon's queue URLs name theirs; for others it is what AWS tools are set to, on the driver."""
    named = re.match(r"https://(?:sqs\.([a-z0-9-]+)|([a-z0-9-]+)\.queue)\.amazonaws\.com", queue_url)
    if named:
        return named[1] or named[2]
    return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1"

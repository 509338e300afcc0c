"""A queue: its name, its attributes, and the numbers the rules read from them.

Attributes are kept as the strings a client set (already checked by `core.attributes`); what the rules need
on every message is worked out once, when the record is made.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from penstock.core.journal import LEVELS, TAG
from penstock.core.keyring import MANAGED
from penstock.core.policy import Policy, PolicyError, Use, read_policy

EARLIER_SCOPE = "EarlierDeduplicationScope"
"""Kept with the attributes, but not one of them: which deduplication scope is still in force, and until when."""

DAY_SECONDS = 86_400


UNREADABLE = read_policy(
    '{"Version":"2012-10-17","Statement":{"Effect":"Deny","Principal":"*","Action":"*","Resource":"*"}}', Use.RESOURCE
)
"""In place of a policy that an earlier version took and this one cannot read: the owner alone has the queue."""


class QueueKey(NamedTuple):
    """What makes a queue one queue: the same name in another region or account is another."""

    region: str
    account: str
    name: str

    @property
    def arn(self) -> str:
        return f"arn:aws:sqs:{self.region}:{self.account}:{self.name}"

    @classmethod
    def from_arn(cls, arn: str) -> "QueueKey | None":
        parts = arn.split(":")
        if len(parts) != 6 or parts[:3] != ["arn", "aws", "sqs"] or not all(parts):
            return None
        return cls(*parts[3:])


class Redrive(NamedTuple):
    """Where a message goes when it has been received `max_receives` times, and is asked for once more."""

    target_arn: str
    max_receives: int


class Counts(NamedTuple):
    visible: int
    in_flight: int
    delayed: int
    bytes: int

    @property
    def held(self) -> int:
        return self.visible + self.in_flight + self.delayed


def age_ms(oldest: int | None, now: int) -> int | None:
    """How long a queue's oldest message has been there, which may have come since `now`; None if there is none."""
    return None if oldest is None else max(0, now - oldest)


@dataclass(frozen=True)
class Queue:
    """An immutable snapshot. `id` is never used again for another queue, whatever its name."""

    id: int
    key: QueueKey
    attributes: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    created: int = 0
    modified: int = 0

    @cached_property
    def arn(self) -> str:
        return self.key.arn

    @cached_property
    def fifo(self) -> bool:
        return self.attributes.get("FifoQueue") == "true"

    @cached_property
    def content_deduplication(self) -> bool:
        return self.attributes.get("ContentBasedDeduplication") == "true"

    def deduplication_scope(self, group: str | None, now: int) -> str:
        """Within which a deduplication id is the same: the group, or the whole queue."""
        return group or "" if self.scope_in_force(now) == "messageGroup" else ""

    def scope_in_force(self, now: int) -> str:
        """A new setting takes a while to be in force, as Amazon spreads it."""
        earlier, _, until = self.attributes.get(EARLIER_SCOPE, "").partition(" until ")
        return earlier if until and now < int(until) else self.attributes.get("DeduplicationScope", "queue")

    @cached_property
    def delay_seconds(self) -> int:
        return int(self.attributes.get("DelaySeconds", 0))

    @cached_property
    def visibility_seconds(self) -> int:
        return int(self.attributes.get("VisibilityTimeout", 30))

    @cached_property
    def wait_seconds(self) -> int:
        return int(self.attributes.get("ReceiveMessageWaitTimeSeconds", 0))

    @cached_property
    def retention_seconds(self) -> int:
        return int(self.attributes.get("MessageRetentionPeriod", 345_600))

    @cached_property
    def maximum_message_size(self) -> int:
        return int(self.attributes.get("MaximumMessageSize", 1_048_576))

    @cached_property
    def kms_key(self) -> str:
        """The key that the queue names; empty if it names none."""
        return self.attributes.get("KmsMasterKeyId", "")

    @cached_property
    def encrypted_by(self) -> str:
        """The key under which new messages are stored; empty is in clear."""
        return self.kms_key or (MANAGED if self.attributes.get("SqsManagedSseEnabled") != "false" else "")

    @cached_property
    def data_key_seconds(self) -> int:
        """For how long a data key of the queue's key may be used before there must be another."""
        return int(self.attributes.get("KmsDataKeyReusePeriodSeconds", 300)) if self.kms_key else DAY_SECONDS

    @cached_property
    def journal(self) -> int | None:
        """How much of this queue is written to the journal; None is as much as the server's setting says."""
        return LEVELS.get(self.tags.get(TAG, ""))

    @cached_property
    def policy(self) -> Policy | None:
        """What its `Policy` says of who may do what with it."""
        document = self.attributes.get("Policy")
        try:
            return read_policy(document, Use.RESOURCE, "Policy") if document else None
        except PolicyError:
            return UNREADABLE

    @cached_property
    def redrive(self) -> Redrive | None:
        policy = self.attributes.get("RedrivePolicy")
        if not policy:
            return None
        document = json.loads(policy)
        return Redrive(document["deadLetterTargetArn"], int(document["maxReceiveCount"]))

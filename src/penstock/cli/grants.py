"""Grants in words: what `send orders` means as a policy, and what it is called.

A grant is a policy of its own, named after what it says, so that giving it twice is giving it once and taking it back
takes nothing else along.
"""

import hashlib
import json
import re
from typing import NamedTuple

from penstock.cli.parser import CommandError

FIND = ("sqs:GetQueueUrl", "sqs:GetQueueAttributes")
"""Clients need these to begin; they are allowed along and not denied along."""
VERBS: dict[str, tuple[str, ...]] = {
    "send": ("sqs:SendMessage",),
    "receive": ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"),
    "look": ("sqs:ListQueueTags", "sqs:ListDeadLetterSourceQueues", "sqs:ListMessageMoveTasks"),
    "list": ("sqs:ListQueues",),
    "peek": ("penstock:PeekMessages",),
    "purge": ("sqs:PurgeQueue",),
    "manage": (
        "sqs:CreateQueue", "sqs:DeleteQueue", "sqs:SetQueueAttributes", "sqs:TagQueue", "sqs:UntagQueue",
        "sqs:ListQueueTags", "sqs:PurgeQueue",
    ),
    "everything": ("sqs:*",),
}  # fmt: skip
SELF_SUFFICIENT = ("everything", "list")
OF_THE_ACCOUNT = ("list", "sqs:ListQueues")
"""Are about no queue, so that a policy names none either."""
ACTION = re.compile(r"[a-z0-9-]+:[A-Za-z*?]+")
QUEUE = re.compile(r"[A-Za-z0-9_.*?-]{1,80}")
LONGEST_NAME = 128


class Grant(NamedTuple):
    """`verb` is one of VERBS or an action such as sqs:PurgeQueue; `queue` a name, maybe with * in it, or an ARN."""

    verb: str
    queue: str

    def check(self) -> "Grant":
        if self.verb not in VERBS and not ACTION.fullmatch(self.verb):
            raise CommandError(
                f"{self.verb} is nothing that one does with a queue: give one of {', '.join(VERBS)}, "
                "or an action such as sqs:PurgeQueue"
            )
        if not self.queue.startswith("arn:") and not QUEUE.fullmatch(self.queue):
            raise CommandError(f"{self.queue} is not a queue's name; * stands for any part of one")
        if self.verb in OF_THE_ACCOUNT and self.queue != "*":
            raise CommandError(f"one may {self.verb} all queues or none: give * for the queue")
        return self

    @property
    def essential(self) -> tuple[str, ...]:
        return VERBS.get(self.verb, (self.verb,))

    def actions(self, effect: str) -> tuple[str, ...]:
        alone = effect == "Deny" or self.verb not in VERBS or self.verb in SELF_SUFFICIENT
        return self.essential if alone else (*self.essential, *FIND)

    def arn(self, account: str, region: str) -> str:
        if self.queue.startswith("arn:") or self.verb in OF_THE_ACCOUNT:
            return self.queue
        return f"arn:aws:sqs:{region}:{account}:{self.queue}"

    def document(self, effect: str, account: str, region: str) -> str:
        statement = {"Effect": effect, "Action": self.actions(effect), "Resource": self.arn(account, region)}
        return json.dumps({"Version": "2012-10-17", "Statement": [statement]})

    def name(self, effect: str) -> str:
        """Of characters that names of policies have."""
        text = f"{effect.lower()}-{self.verb}-{self.queue}".translate(str.maketrans(":*?/", ",+=@"))
        if len(text) <= LONGEST_NAME:
            return text
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return f"{text[: LONGEST_NAME - 17]}-{digest}"

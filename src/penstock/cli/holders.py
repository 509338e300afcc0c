"""What policies hang on: a user, a group or a role, and the calls of IAM that are alike for the three.

`anna` is a user; `group/senders` and `role/worker` are what they say.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from penstock.cli.parser import CommandError

KINDS = ("user", "group", "role")
ROWS = {"Users", "Groups", "AccessKeyMetadata", "PolicyNames", "AttachedPolicies"}


class Attached(NamedTuple):
    name: str
    arn: str


class Holder(NamedTuple):
    client: Any
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @classmethod
    def of(cls, client: Any, text: str) -> "Holder":
        kind, slash, name = text.partition("/")
        if not slash:
            return cls(client, "user", text)
        if kind not in KINDS or not name:
            raise CommandError(f"{text} is no one: give a user's name, group/NAME or role/NAME")
        return cls(client, kind, name)

    @property
    def named(self) -> dict[str, str]:
        return {f"{self.kind.capitalize()}Name": self.name}

    @property
    def arn(self) -> str:
        found = getattr(self.client, f"get_{self.kind}")(**self.named)
        return str(found[self.kind.capitalize()]["Arn"])

    def inline(self) -> list[str]:
        return list(pages(self.client, f"list_{self.kind}_policies", **self.named))

    def attached(self) -> list[Attached]:
        found = pages(self.client, f"list_attached_{self.kind}_policies", **self.named)
        return [Attached(policy["PolicyName"], policy["PolicyArn"]) for policy in found]

    def document(self, policy: str) -> dict[str, Any]:
        reply = getattr(self.client, f"get_{self.kind}_policy")(**self.named, PolicyName=policy)
        found: dict[str, Any] = reply["PolicyDocument"]
        return found

    def put(self, policy: str, document: str) -> None:
        put = getattr(self.client, f"put_{self.kind}_policy")
        put(**self.named, PolicyName=policy, PolicyDocument=document)

    def delete(self, policy: str) -> None:
        getattr(self.client, f"delete_{self.kind}_policy")(**self.named, PolicyName=policy)

    def detach(self, arn: str) -> None:
        getattr(self.client, f"detach_{self.kind}_policy")(**self.named, PolicyArn=arn)

    def strip(self) -> None:
        """Take every policy off it."""
        for policy in self.inline():
            self.delete(policy)
        for attached in self.attached():
            self.detach(attached.arn)


def pages(client: Any, operation: str, **request: Any) -> Iterator[Any]:
    """Everything that an operation lists."""
    for reply in client.get_paginator(operation).paginate(**request):
        for member in ROWS & reply.keys():
            yield from reply[member]


def groups_of(client: Any, user: str) -> list[str]:
    return [group["GroupName"] for group in pages(client, "list_groups_for_user", UserName=user)]


def keys_of(client: Any, user: str) -> list[dict[str, Any]]:
    return list(pages(client, "list_access_keys", UserName=user))

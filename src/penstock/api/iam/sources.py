"""Which policies a simulation hears, and where each is from: what hangs on somebody, and what the request brings."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from penstock.api.call import Call
from penstock.api.iam.nouns import HOLDERS
from penstock.api.iam.refusals import invalid_input, no_such
from penstock.core.directory import Bounded, Directory, Group, Holder, Role, User
from penstock.core.policy import Policy, PolicyError, Use, read_policy

MOST_BROUGHT = 131_072
"""As much as the model lets one document have."""

_KINDS = {noun.word.lower(): noun for noun in HOLDERS}
_WORDS = {noun.kind: noun.word.lower() for noun in HOLDERS}
_ENTITY = re.compile(r"arn:aws:iam::([0-9]{12}):(user|group|role)/(?:[^/]+/)*([^/]+)")


class Heard(NamedTuple):
    """A policy under the name that a decision calls it by; `kind` is what replies call its source."""

    policy: Policy
    kind: str
    text: str


def heard(text: str, name: str, kind: str, use: Use = Use.IDENTITY) -> Heard:
    try:
        return Heard(read_policy(text, use, name), kind, text)
    except PolicyError as error:
        raise invalid_input(f"{name}: {error}") from None


def brought(texts: Sequence[str] | None, member: str) -> list[Heard]:
    """Those that a request brings."""
    if sum(map(len, texts or ())) > MOST_BROUGHT:
        raise invalid_input(f"{member}: there are more than {MOST_BROUGHT} characters together.")
    return [heard(text, f"{member}.{number}", "none") for number, text in enumerate(texts or (), 1)]


def entity_at(call: Call, directory: Directory, arn: str) -> User | Group | Role:
    """The user, group or role with this ARN."""
    parts = _ENTITY.fullmatch(arn)
    if parts is None:
        raise invalid_input(f"Invalid Entity Arn: {arn} does not clearly define entity type and name.")
    account, kind, name = parts.groups()
    found = _KINDS[kind].get(directory, call.principal.account, name)
    if account != found.account or arn != found.arn:
        raise no_such(f"The {kind} with ARN {arn} cannot be found.")
    return found


def held(directory: Directory, holder: Holder) -> Iterator[Heard]:
    """Those that hang on an entity, and on the groups it is in."""
    for one in [holder, *(directory.groups_of(holder) if isinstance(holder, User) else ())]:
        word = _WORDS[type(one)]
        for name, text in one.inline.items():
            yield heard(text, f"{word}_{one.name}_{name}", word)
        for arn in one.attached:
            if arn in directory.policy_by_arn:
                yield heard(directory.policy_by_arn[arn].document, arn, "user-managed")


def bounds(directory: Directory, holder: Holder) -> list[Heard]:
    policy = directory.policy_by_arn.get(holder.boundary or "") if isinstance(holder, Bounded) else None
    return [heard(policy.document, policy.arn, "user-managed")] if policy else []


def keys_of(policies: Iterable[Heard]) -> list[str]:
    """The condition keys and variables that they ask for, spelled as the first of them spells it."""
    texts: dict[str, str] = {}
    for one in policies:
        for key in one.policy.keys:
            texts.setdefault(key, one.text)
    return sorted(_spelled(key, text) for key, text in texts.items())


def _spelled(key: str, text: str) -> str:
    found = re.search(re.escape(key), text, re.IGNORECASE)
    return found[0] if found else key

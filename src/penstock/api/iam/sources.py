"""Which policies a simulation hears beside those that hold anyway (`api.grants`): what the request brings, for whom."""

import re
from collections.abc import Iterable, Sequence

from penstock.api.call import Call
from penstock.api.grants import Held
from penstock.api.iam.nouns import HOLDERS
from penstock.api.iam.refusals import invalid_input, no_such
from penstock.core.directory import Directory, Group, Role, User
from penstock.core.policy import PolicyError, Use, read_policy

MOST_BROUGHT = 131_072
"""As much as the model lets one document have."""

_KINDS = {noun.word.lower(): noun for noun in HOLDERS}
_ENTITY = re.compile(r"arn:aws:iam::([0-9]{12}):(user|group|role)/(?:[^/]+/)*([^/]+)")


def heard(text: str, name: str, kind: str, use: Use = Use.IDENTITY) -> Held:
    try:
        return Held(read_policy(text, use, name), kind, text)
    except PolicyError as error:
        raise invalid_input(f"{name}: {error}") from None


def brought(texts: Sequence[str] | None, member: str) -> list[Held]:
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


def keys_of(policies: Iterable[Held]) -> list[str]:
    """The condition keys and variables that they ask for, spelled as the first of them spells it."""
    texts: dict[str, str] = {}
    for one in policies:
        for key in one.policy.keys:
            texts.setdefault(key, one.document)
    return sorted(_spelled(key, text) for key, text in texts.items())


def _spelled(key: str, text: str) -> str:
    found = re.search(re.escape(key), text, re.IGNORECASE)
    return found[0] if found else key

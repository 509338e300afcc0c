"""Temporary credentials: everything there is to know of a session is sealed into its token, so no server remembers it.

A `Ticket` is what a token says; the secret of the key is in it too. A token is sealed for one access key id and opens
for no other. Whether the session is still good is asked of the directory each time (`bearer`): its role or user must be
the very one it was made for. Who may have a session is not decided here, nor what the time is.
"""

import base64
import binascii
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import msgspec

from penstock.core.directory import Bounded, Directory
from penstock.core.identity import Kind, Principal, Session, root_of
from penstock.core.vault import Unopenable, Vault

TEMPORARY_KEY = "ASIA"
"""How the id of a key that comes with a token starts."""
_ACCOUNT_BYTES, _RANDOM_BYTES = 5, 5
NOTHING = '{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"none:None","Resource":"*"}]}'
"""Stands for a session policy that is no longer there: it allows nothing. What others allow stays."""


class Ticket(msgspec.Struct, frozen=True, array_like=True):
    """`owner` is the name of the user or role whose policies hold, `owner_id` its id, which no later namesake has.
    For an account itself `owner` is empty and `owner_id` the access key that asked: it ends with that key.

    `policies` are documents and `policy_arns` managed policies that narrow the session; `policies` is None if it is
    not narrowed at all. `transitive` are the tags that go on to the sessions of roles that this one assumes."""

    account: str
    kind: Kind
    owner: str
    owner_id: str
    issued: int
    expires: int
    name: str = ""
    policies: tuple[str, ...] | None = None
    policy_arns: tuple[str, ...] = ()
    tags: dict[str, str] = {}
    transitive: tuple[str, ...] = ()
    source_identity: str = ""
    secret: str = ""


class Credentials(NamedTuple):
    access_key: str
    secret: str
    token: str


_read = msgspec.msgpack.Decoder(Ticket).decode


def issue(vault: Vault, ticket: Ticket) -> Credentials:
    access_key, secret = _new_key(ticket.account), secrets.token_urlsafe(30)
    packed = msgspec.msgpack.encode(msgspec.structs.replace(ticket, secret=secret))
    return Credentials(access_key, secret, base64.b64encode(vault.seal(packed, _about(access_key))).decode())


def opened(vault: Vault, access_key: str, token: str) -> Ticket:
    """Raises Unopenable for whatever is not exactly a token that was issued with this key."""
    try:
        sealed = binascii.a2b_base64(token, strict_mode=True)
    except ValueError:
        raise Unopenable("it is not base64") from None
    if base64.b64encode(sealed).decode() != token:  # the last digit has bits that say nothing
        raise Unopenable("it is not as it was written")
    return _read(vault.open(sealed, _about(access_key)))


def bearer(ticket: Ticket, directory: Directory) -> Principal | None:
    """Who has the session; None if the user or role it was made for is gone."""
    session = _session(ticket, directory)
    if ticket.kind is Kind.ROLE:
        role = directory.role(ticket.account, ticket.owner)
        return _of_role(ticket, role, session) if role and role.id == ticket.owner_id else None
    owner = root_of(ticket.account)
    if ticket.owner:
        user = directory.user(ticket.account, ticket.owner)
        if user is None or user.id != ticket.owner_id:
            return None
        owner = user.principal
    if ticket.kind is Kind.FEDERATED:
        arn = federated_arn(ticket.account, ticket.name)
        tags = _tags(owner.tags, ticket)
        return Principal(
            ticket.account, arn, f"{ticket.account}:{ticket.name}", ticket.kind, ticket.owner, tags, session
        )
    return replace(owner, session=session)


def _of_role(ticket: Ticket, role: Bounded, session: Session) -> Principal:
    arn = assumed_role_arn(role.account, role.name, ticket.name)
    tags = _tags(role.tags, ticket)
    return Principal(role.account, arn, f"{role.id}:{ticket.name}", Kind.ROLE, role.name, tags, session)


def _tags(own: Mapping[str, str], ticket: Ticket) -> dict[str, str]:
    """A session's tag is in place of its owner's, also if that is written in other letters: to policies it is one."""
    replaced = {key.lower() for key in ticket.tags}
    return {key: value for key, value in own.items() if key.lower() not in replaced} | ticket.tags


def _session(ticket: Ticket, directory: Directory) -> Session:
    policies = ticket.policies
    if policies is not None:
        managed = (directory.policy_by_arn.get(arn) for arn in ticket.policy_arns)
        policies = (*policies, *(NOTHING if policy is None else policy.document for policy in managed))
    passed_on = {key: value for key, value in ticket.tags.items() if key in ticket.transitive}
    return Session(ticket.issued, ticket.expires, policies, passed_on, ticket.source_identity)


def assumed_role_arn(account: str, role: str, session: str) -> str:
    return f"arn:aws:sts::{account}:assumed-role/{role}/{session}"


def federated_arn(account: str, name: str) -> str:
    return f"arn:aws:sts::{account}:federated-user/{name}"


def account_of_key(access_key: str) -> str | None:
    """The account of a temporary key, which its id tells as Amazon's do."""
    if not access_key.startswith(TEMPORARY_KEY):
        return None
    try:
        raw = base64.b32decode(access_key.removeprefix(TEMPORARY_KEY))
    except ValueError:
        return None
    number = int.from_bytes(raw[:_ACCOUNT_BYTES], "big")
    return f"{number:012}" if len(raw) == _ACCOUNT_BYTES + _RANDOM_BYTES and number < 10**12 else None


def _new_key(account: str) -> str:
    raw = int(account).to_bytes(_ACCOUNT_BYTES, "big") + secrets.token_bytes(_RANDOM_BYTES)
    return TEMPORARY_KEY + base64.b32encode(raw).decode()


def _about(access_key: str) -> bytes:
    return b"session of " + access_key.encode()

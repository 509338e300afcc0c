"""Tokens of temporary credentials: what is sealed into one, for whom it opens, and until when someone has it."""

import base64

import pytest

from penstock.core.directory import Directory, ManagedPolicy, Role, User, Version
from penstock.core.identity import Kind
from penstock.core.session import NOTHING, Ticket, account_of_key, bearer, issue, opened
from penstock.core.vault import KEY_BYTES, Unopenable, Vault

ACCOUNT = "111122223333"
VAULT = Vault([b"m" * KEY_BYTES])
ROLE = Role(account=ACCOUNT, name="Reader", id="AROAREADER", trust="{}", tags={"team": "a", "cost": "1"})
ANNA = User(account=ACCOUNT, name="anna", id="AIDAANNA", path="/staff/", tags={"team": "b"})
OF_ROLE = Ticket(ACCOUNT, Kind.ROLE, "Reader", "AROAREADER", 1000, 2000, "nightly", tags={"cost": "2"})
OF_USER = Ticket(ACCOUNT, Kind.USER, "anna", "AIDAANNA", 1000, 2000)
ALLOWS = '{"Version":"2012-10-17","Statement":[]}'


def directory(*entities: object) -> Directory:
    found = Directory()
    for entity in entities:
        found.take(entity)
    return found


def test_a_token_says_what_was_sealed_into_it() -> None:
    made = issue(VAULT, OF_ROLE)
    found = opened(VAULT, made.access_key, made.token)
    assert found.secret == made.secret
    assert found == Ticket(*[getattr(OF_ROLE, name) for name in OF_ROLE.__struct_fields__[:-1]], made.secret)


def test_no_two_are_alike_and_nothing_of_the_secret_can_be_read() -> None:
    first, second = issue(VAULT, OF_USER), issue(VAULT, OF_USER)
    assert len({*first, *second}) == 6
    assert first.secret.encode() not in base64.b64decode(first.token)


def test_a_token_is_good_for_its_own_key_alone() -> None:
    first, second = issue(VAULT, OF_USER), issue(VAULT, OF_USER)
    with pytest.raises(Unopenable):
        opened(VAULT, second.access_key, first.token)


def test_a_token_of_another_servers_master_key_does_not_open() -> None:
    made = issue(Vault([b"x" * KEY_BYTES]), OF_USER)
    with pytest.raises(Unopenable):
        opened(VAULT, made.access_key, made.token)


def test_a_token_with_any_bit_of_it_changed_does_not_open() -> None:
    made = issue(VAULT, OF_USER)
    sealed = base64.b64decode(made.token)
    for bit in range(len(sealed) * 8):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(Unopenable):
            opened(VAULT, made.access_key, base64.b64encode(changed).decode())


def test_a_token_with_any_character_of_it_changed_or_missing_does_not_open() -> None:
    made = issue(VAULT, OF_USER)
    for place in range(len(made.token)):
        for other in ("A", "/", "=", "\n", "é", ""):
            changed = made.token[:place] + other + made.token[place + 1 :]
            if changed != made.token:
                with pytest.raises(Unopenable):
                    opened(VAULT, made.access_key, changed)
        with pytest.raises(Unopenable):
            opened(VAULT, made.access_key, made.token[:place])


@pytest.mark.parametrize("more", ["A", "=", "AAAA", " ", "\n"])
def test_a_token_with_more_behind_it_does_not_open(more: str) -> None:
    made = issue(VAULT, OF_USER)
    with pytest.raises(Unopenable):
        opened(VAULT, made.access_key, made.token + more)


def test_the_bearer_of_a_roles_session() -> None:
    who = bearer(OF_ROLE, directory(ROLE))
    assert (who.arn, who.user_id) == (f"arn:aws:sts::{ACCOUNT}:assumed-role/Reader/nightly", "AROAREADER:nightly")
    assert (who.kind, who.owner, who.account) == (Kind.ROLE, "Reader", ACCOUNT)
    assert who.tags == {"team": "a", "cost": "2"}, "the tags of the session win"
    assert (who.session.issued, who.session.expires, who.session.policies) == (1000, 2000, None)


def test_the_bearer_of_a_users_session_is_the_user() -> None:
    who = bearer(OF_USER, directory(ANNA))
    assert (who.arn, who.user_id, who.kind) == (ANNA.arn, "AIDAANNA", Kind.USER)
    assert who.session is not None


def test_a_federated_user_has_the_policies_of_whoever_vouches_for_him() -> None:
    ticket = Ticket(ACCOUNT, Kind.FEDERATED, "anna", "AIDAANNA", 1000, 2000, "bob", ())
    who = bearer(ticket, directory(ANNA))
    assert (who.arn, who.user_id) == (f"arn:aws:sts::{ACCOUNT}:federated-user/bob", f"{ACCOUNT}:bob")
    assert (who.kind, who.owner, who.session.policies) == (Kind.FEDERATED, "anna", ())


@pytest.mark.parametrize("ticket", [OF_ROLE, OF_USER])
def test_nobody_has_a_session_of_what_is_gone_or_only_has_its_name(ticket: Ticket) -> None:
    assert bearer(ticket, directory()) is None
    role = Role(account=ACCOUNT, name="Reader", id="AROAANOTHER", trust="{}")
    user = User(account=ACCOUNT, name="anna", id="AIDAANOTHER")
    assert bearer(ticket, directory(role, user)) is None


def test_a_managed_session_policy_is_the_version_in_force_and_allows_nothing_once_it_is_gone() -> None:
    policy = ManagedPolicy(
        account=ACCOUNT, name="p", id="ANPA", versions={"v1": Version("one", 0), "v2": Version("two", 0)}, default="v2"
    )
    ticket = Ticket(ACCOUNT, Kind.ROLE, "Reader", "AROAREADER", 1, 2, "s", (ALLOWS,), (policy.arn,))
    assert bearer(ticket, directory(ROLE, policy)).session.policies == (ALLOWS, "two")
    assert bearer(ticket, directory(ROLE)).session.policies == (ALLOWS, NOTHING)


def test_only_transitive_tags_are_passed_on() -> None:
    ticket = Ticket(ACCOUNT, Kind.ROLE, "Reader", "AROAREADER", 1, 2, "s", tags={"a": "1", "b": "2"}, transitive=("b",))
    assert bearer(ticket, directory(ROLE)).session.passed_on == {"b": "2"}


@pytest.mark.parametrize("account", ["000000000000", ACCOUNT, "999999999999"])
def test_a_temporary_keys_id_tells_its_account(account: str) -> None:
    made = issue(VAULT, Ticket(account, Kind.ROOT, "", "AKIA", 1, 2))
    assert (made.access_key[:4], len(made.access_key), account_of_key(made.access_key)) == ("ASIA", 20, account)


@pytest.mark.parametrize("key", ["AKIAIOSFODNN7EXAMPLE", "ASIA", "ASIA7777777777777777", "ASIAé", "ASIAAAAAAAAA", ""])
def test_what_is_no_temporary_key_tells_none(key: str) -> None:
    assert account_of_key(key) is None

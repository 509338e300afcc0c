"""Changes that come together: each sees what the others did, and nothing is half-done."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from penstock.api.identities import Identities
from penstock.aws.errors import ERRORS
from penstock.core.directory import User
from penstock.core.errors import ServiceError
from penstock.core.vault import KEY_BYTES, Vault
from penstock.stores.memory import MemoryStore

from .conftest import Fresh
from .saying import ACCOUNT


def outcomes(calls: list[Callable[[], Any]]) -> Counter[str]:
    def outcome(call: Callable[[], Any]) -> str:
        try:
            call()
        except ClientError as error:
            return str(error.response["Error"]["Code"])
        return "done"

    with ThreadPoolExecutor(8) as pool:
        return Counter(pool.map(outcome, calls))


def test_a_name_is_given_once(iam: Any, fresh: Fresh) -> None:
    name = fresh("wanted")
    names = [name.upper() if number % 2 else name for number in range(16)]
    calls = [lambda name=name: iam.create_user(UserName=name) for name in names]  # type: ignore[misc]
    assert outcomes(calls) == {"done": 1, "EntityAlreadyExists": 15}


def test_a_user_gets_two_keys_and_no_third(iam: Any, user: str) -> None:
    assert outcomes([lambda: iam.create_access_key(UserName=user)] * 16) == {"done": 2, "LimitExceeded": 14}
    assert len(iam.list_access_keys(UserName=user)["AccessKeyMetadata"]) == 2


def test_a_policy_is_deleted_or_attached_but_not_both(iam: Any, fresh: Fresh, policy: str) -> None:
    users = [fresh("user") for _ in range(8)]
    for name in users:
        iam.create_user(UserName=name)
    attach = [lambda name=name: iam.attach_user_policy(UserName=name, PolicyArn=policy) for name in users]  # type: ignore[misc]
    outcomes([*attach[:4], lambda: iam.delete_policy(PolicyArn=policy), *attach[4:]])
    there = policy in [one["Arn"] for one in iam.list_policies()["Policies"]]
    attached = [name for name in users if iam.list_attached_user_policies(UserName=name)["AttachedPolicies"]]
    assert bool(attached) == there


def test_every_membership_that_was_answered_is_there(iam: Any, fresh: Fresh, user: str) -> None:
    groups = [fresh("group") for _ in range(10)]
    for name in groups:
        iam.create_group(GroupName=name)
    calls = [lambda name=name: iam.add_user_to_group(GroupName=name, UserName=user) for name in groups]  # type: ignore[misc]
    assert outcomes(calls) == {"done": 10}
    assert len(iam.list_groups_for_user(UserName=user)["Groups"]) == 10


def test_a_user_that_many_rename_ends_under_one_name_with_its_keys(iam: Any, fresh: Fresh, user: str) -> None:
    key = iam.create_access_key(UserName=user)["AccessKey"]["AccessKeyId"]
    names = [fresh("name") for _ in range(8)]
    calls = [lambda name=name: iam.update_user(UserName=user, NewUserName=name) for name in names]  # type: ignore[misc]
    assert outcomes(calls) == {"done": 1, "NoSuchEntity": 7}
    owner = iam.get_access_key_last_used(AccessKeyId=key)["UserName"]
    assert owner in names
    assert iam.get_user(UserName=owner)["User"]["Arn"] == f"arn:aws:iam::{ACCOUNT}:user/{owner}"


async def test_what_another_process_changed_meanwhile_is_not_overwritten() -> None:
    store, vault = MemoryStore(), Vault([b"m" * KEY_BYTES])
    here, there = Identities(store, vault, {}), Identities(store, vault, {})
    async with here.changing():
        async with there.changing():
            await there.save(User(account=ACCOUNT, name="anna", id="first"))
        with pytest.raises(ServiceError) as caught:
            await here.save(User(account=ACCOUNT, name="anna", id="second"), User(account=ACCOUNT, name="bob", id="x"))
    form = ERRORS[caught.value.shape]
    assert (form.query_code, form.status) == ("ConcurrentModification", 409)
    async with here.changing() as directory:
        assert [user.id for user in directory.all_of(User, ACCOUNT)] == ["first"]

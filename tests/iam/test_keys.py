"""Access keys: two for a user, each good as long as it is active and its user is there."""

import json
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from penstock.api.iam.nouns import user_meant
from penstock.core.directory import Directory
from penstock.core.errors import ServiceError
from penstock.core.identity import Kind, Principal

from .conftest import Fresh
from .saying import ACCOUNT, document, refused


def test_a_key_is_good_at_once_and_its_secret_is_told_once(iam: Any, user: str, by_key: Callable[..., Any]) -> None:
    key = iam.create_access_key(UserName=user)["AccessKey"]
    assert re.fullmatch("AKIA[A-Z2-7]{16}", key["AccessKeyId"])
    assert (key["UserName"], key["Status"]) == (user, "Active")
    assert by_key(key).get_caller_identity()["Arn"] == f"arn:aws:iam::{ACCOUNT}:user/{user}"
    (listed,) = iam.list_access_keys(UserName=user)["AccessKeyMetadata"]
    assert listed == {name: value for name, value in key.items() if name != "SecretAccessKey"}


def test_a_user_has_two_keys_at_most(iam: Any, user: str) -> None:
    made = [iam.create_access_key(UserName=user)["AccessKey"]["AccessKeyId"] for _ in range(2)]
    with refused("LimitExceeded", "Cannot exceed quota for AccessKeysPerUser: 2"):
        iam.create_access_key(UserName=user)
    listed = [key["AccessKeyId"] for key in iam.list_access_keys(UserName=user)["AccessKeyMetadata"]]
    assert sorted(listed) == sorted(made)


def test_a_key_that_was_made_inactive_is_refused_until_it_is_active_again(
    iam: Any, user: str, by_key: Callable[..., Any]
) -> None:
    key = iam.create_access_key(UserName=user)["AccessKey"]
    sts = by_key(key)
    iam.update_access_key(UserName=user, AccessKeyId=key["AccessKeyId"], Status="Inactive")
    assert iam.list_access_keys(UserName=user)["AccessKeyMetadata"][0]["Status"] == "Inactive"
    with pytest.raises(ClientError, match="InvalidClientTokenId"):
        sts.get_caller_identity()
    iam.update_access_key(UserName=user, AccessKeyId=key["AccessKeyId"], Status="Active")
    assert sts.get_caller_identity()["Account"] == ACCOUNT


def test_a_key_that_was_deleted_is_refused(iam: Any, user: str, by_key: Callable[..., Any]) -> None:
    key = iam.create_access_key(UserName=user)["AccessKey"]
    iam.delete_access_key(UserName=user, AccessKeyId=key["AccessKeyId"])
    with pytest.raises(ClientError, match="InvalidClientTokenId"):
        by_key(key).get_caller_identity()
    with refused("NoSuchEntity", f"The Access Key with id {key['AccessKeyId']} cannot be found."):
        iam.delete_access_key(UserName=user, AccessKeyId=key["AccessKeyId"])


def test_one_user_s_key_is_not_changed_by_the_name_of_another(iam: Any, fresh: Fresh, user: str) -> None:
    key, other = iam.create_access_key(UserName=user)["AccessKey"]["AccessKeyId"], fresh("other")
    iam.create_user(UserName=other)
    with refused("NoSuchEntity", f"The Access Key with id {key} cannot be found."):
        iam.update_access_key(UserName=other, AccessKeyId=key, Status="Inactive")
    with refused("NoSuchEntity"):
        iam.delete_access_key(UserName=other, AccessKeyId=key)


def test_a_status_is_one_of_two(iam: Any, user: str) -> None:
    key = iam.create_access_key(UserName=user)["AccessKey"]["AccessKeyId"]
    with refused("InvalidInput", "The status Expired cannot be set: use Active or Inactive."):
        iam.update_access_key(UserName=user, AccessKeyId=key, Status="Expired")


def test_a_key_that_was_never_used_says_so(iam: Any, user: str) -> None:
    key = iam.create_access_key(UserName=user)["AccessKey"]["AccessKeyId"]
    found = iam.get_access_key_last_used(AccessKeyId=key)
    assert found["UserName"] == user
    assert found["AccessKeyLastUsed"] == {"ServiceName": "N/A", "Region": "N/A"}
    with refused("NoSuchEntity", "The Access Key with id AKIANOBODYHASTHIS cannot be found."):
        iam.get_access_key_last_used(AccessKeyId="AKIANOBODYHASTHIS")


def test_the_account_has_keys_of_its_own(iam: Any, by_key: Callable[..., Any]) -> None:
    key = iam.create_access_key()["AccessKey"]
    assert "UserName" not in key
    assert by_key(key).get_caller_identity()["Arn"] == f"arn:aws:iam::{ACCOUNT}:root"
    assert key["AccessKeyId"] in [one["AccessKeyId"] for one in iam.list_access_keys()["AccessKeyMetadata"]]
    iam.delete_access_key(AccessKeyId=key["AccessKeyId"])
    assert key["AccessKeyId"] not in [one["AccessKeyId"] for one in iam.list_access_keys()["AccessKeyMetadata"]]


def test_a_user_that_names_nobody_means_itself(iam: Any, user: str, by_key: Callable[..., Any]) -> None:
    own = document("iam:*", resource=f"arn:aws:iam::{ACCOUNT}:user/{user}")
    iam.put_user_policy(UserName=user, PolicyName="own", PolicyDocument=json.dumps(own))
    first = iam.create_access_key(UserName=user)["AccessKey"]
    mine = by_key(first, "iam")
    assert mine.get_user()["User"]["UserName"] == user
    second = mine.create_access_key()["AccessKey"]
    assert second["UserName"] == user
    mine.update_access_key(AccessKeyId=second["AccessKeyId"], Status="Inactive")
    statuses = {key["AccessKeyId"]: key["Status"] for key in mine.list_access_keys()["AccessKeyMetadata"]}
    assert statuses == {first["AccessKeyId"]: "Active", second["AccessKeyId"]: "Inactive"}
    mine.delete_access_key(AccessKeyId=second["AccessKeyId"])
    assert len(mine.list_access_keys()["AccessKeyMetadata"]) == 1


def test_a_session_must_name_a_user() -> None:
    session = Principal(ACCOUNT, f"arn:aws:sts::{ACCOUNT}:assumed-role/r/s", "AROA:s", Kind.ROLE, "r")
    call: Any = SimpleNamespace(principal=session)
    with pytest.raises(ServiceError, match="Must specify userName when calling with non-User credentials"):
        user_meant(call, Directory(), None)

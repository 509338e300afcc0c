"""Names, paths and values that cannot be, and how that is said. The client's own checks are off."""

from typing import Any

import pytest
from botocore.config import Config

from server_process import Server

from .saying import SENDING, refused

OWN = "It must contain only alphanumeric characters and/or the following: +=,.@_-"
PATH = "It must begin and end with / and contain only alphanumeric characters and/or / characters."
ONE = "1 validation error detected: Value"


@pytest.fixture(scope="module")
def careless(server: Server) -> Any:
    import boto3

    session = boto3.Session(server.access_key, server.secret_key, region_name=server.region)
    return session.client("iam", endpoint_url=server.url, config=Config(parameter_validation=False))


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("create_user", {"UserName": "a b"}, f"The specified value for userName is invalid. {OWN}"),
    ("create_user", {"UserName": "é"}, f"The specified value for userName is invalid. {OWN}"),
    ("get_user", {"UserName": "a/b"}, f"The specified value for userName is invalid. {OWN}"),
    ("update_user", {"UserName": "a", "NewUserName": "*"}, f"The specified value for newUserName is invalid. {OWN}"),
    ("create_group", {"GroupName": "a\nb"}, f"The specified value for groupName is invalid. {OWN}"),
    ("create_user", {"UserName": "a", "Path": "x"}, f"The specified value for path is invalid. {PATH}"),
    ("create_user", {"UserName": "a", "Path": "/x"}, f"The specified value for path is invalid. {PATH}"),
    (
        "create_user",
        {"UserName": "x" * 65},
        f"{ONE} '{'x' * 65}' at 'userName' failed to satisfy constraint: "
        "Member must have length less than or equal to 64",
    ),
    (
        "create_user",
        {"UserName": ""},
        f"{ONE} '' at 'userName' failed to satisfy constraint: Member must have length greater than or equal to 1",
    ),
    (
        "create_user",
        {},
        f"{ONE} null at 'userName' failed to satisfy constraint: Member must not be null",
    ),
    (
        "put_user_policy",
        {"PolicyDocument": SENDING},
        "2 validation errors detected: Value null at 'userName' failed to satisfy constraint: Member must not be null; "
        "Value null at 'policyName' failed to satisfy constraint: Member must not be null",
    ),
    (
        "update_access_key",
        {"UserName": "a", "AccessKeyId": "AKIA1234567890ABCDEF", "Status": "active"},
        f"{ONE} 'active' at 'status' failed to satisfy constraint: "
        "Member must satisfy enum value set: [Active, Inactive, Expired]",
    ),
    (
        "update_access_key",
        {"UserName": "a", "AccessKeyId": "short", "Status": "Active"},
        f"{ONE} 'short' at 'accessKeyId' failed to satisfy constraint: "
        "Member must have length greater than or equal to 16",
    ),
    (
        "tag_user",
        {"UserName": "a", "Tags": [{"Key": "", "Value": "v"}]},
        f"{ONE} '' at 'tags.1.member.key' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
    ),
    (
        "get_policy_version",
        {"PolicyArn": "arn:aws:iam::000000000000:policy/p", "VersionId": "2"},
        f"{ONE} '2' at 'versionId' failed to satisfy constraint: "
        r"Member must satisfy regular expression pattern: v[1-9][0-9]*(\.[A-Za-z0-9-]*)?",
    ),
    (
        "list_users",
        {"MaxItems": 1001},
        f"{ONE} '1001' at 'maxItems' failed to satisfy constraint: Member must have value less than or equal to 1000",
    ),
    (
        "list_users",
        {"MaxItems": 0},
        f"{ONE} '0' at 'maxItems' failed to satisfy constraint: Member must have value greater than or equal to 1",
    ),
]


@pytest.mark.parametrize(("call", "given", "words"), BAD)
def test_what_the_model_forbids_is_refused_in_amazon_s_words(
    careless: Any, call: str, given: dict[str, Any], words: str
) -> None:
    with refused("ValidationError", words):
        getattr(careless, call)(**given)


def test_a_value_that_goes_on_for_ever_is_not_repeated_whole(careless: Any) -> None:
    with pytest.raises(careless.exceptions.ClientError) as caught:
        careless.create_user(UserName="x" * 100_000)
    assert len(str(caught.value)) < 600

"""What was answered is there after the server's end, however it ended."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server_process import Server

from .saying import READING, SENDING, TRUST


def everything(iam: Any) -> dict[str, Any]:
    details: dict[str, Any] = iam.get_account_authorization_details()
    del details["ResponseMetadata"]
    keys = [iam.list_access_keys(UserName=user["UserName"])["AccessKeyMetadata"] for user in details["UserDetailList"]]
    return details | {"keys": keys}


@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_users_groups_roles_policies_and_keys_survive(tmp_path: Path, end: str) -> None:
    server = Server(tmp_path)
    server.start()
    iam = server.client("iam")
    arn = iam.create_policy(PolicyName="sending", PolicyDocument=SENDING)["Policy"]["Arn"]
    iam.create_policy_version(PolicyArn=arn, PolicyDocument=READING, SetAsDefault=True)
    iam.create_user(UserName="Anna", Path="/dev/", PermissionsBoundary=arn, Tags=[{"Key": "a", "Value": "b"}])
    iam.create_group(GroupName="senders")
    iam.add_user_to_group(GroupName="senders", UserName="anna")
    iam.attach_group_policy(GroupName="senders", PolicyArn=arn)
    iam.put_user_policy(UserName="anna", PolicyName="inline", PolicyDocument=SENDING)
    iam.create_role(RoleName="worker", AssumeRolePolicyDocument=TRUST)
    iam.create_user(UserName="gone")
    iam.update_user(UserName="gone", NewUserName="renamed")
    key = iam.create_access_key(UserName="anna")["AccessKey"]
    before = everything(iam)
    getattr(server.process, end)()
    server.process.wait()
    server.start()
    assert everything(server.client("iam")) == before
    anna = replace(server, access_key=key["AccessKeyId"], secret_key=key["SecretAccessKey"])
    assert anna.client("sts").get_caller_identity()["Arn"].endswith(":user/dev/Anna")
    server.stop()
    kept = b"".join(file.read_bytes() for file in server.data.iterdir() if file.is_file())
    assert key["AccessKeyId"].encode() in kept
    assert key["SecretAccessKey"].encode() not in kept
    assert json.dumps(key["SecretAccessKey"]) not in server.output()

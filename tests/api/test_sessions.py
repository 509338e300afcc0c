"""What a session of a role may do on a running server, with boto3: what its role may, as far as its policy lets it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from server_process import Server

ACCOUNT = "000000000000"
QUEUE = f"arn:aws:sqs:us-east-1:{ACCOUNT}:of-a-role"


def document(**statement: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": {"Effect": "Allow"} | statement})


@pytest.fixture
def sts(server: Server) -> Iterator[Any]:
    """STS as a user whom the role `worker` trusts; both go when the test ends."""
    iam = server.client("iam")
    user = iam.create_user(UserName="of-sessions")["User"]["Arn"]
    trust = document(Principal={"AWS": user}, Action="sts:AssumeRole")
    iam.create_role(RoleName="worker", AssumeRolePolicyDocument=trust)
    iam.put_role_policy(
        RoleName="worker", PolicyName="work", PolicyDocument=document(Action="sqs:*", Resource=QUEUE)
    )  # fmt: skip
    key = iam.create_access_key(UserName="of-sessions")["AccessKey"]
    yield replace(server, access_key=key["AccessKeyId"], secret_key=key["SecretAccessKey"]).client("sts")
    iam.delete_role_policy(RoleName="worker", PolicyName="work")
    iam.delete_role(RoleName="worker")
    iam.delete_access_key(UserName="of-sessions", AccessKeyId=key["AccessKeyId"])
    iam.delete_user(UserName="of-sessions")


def session(server: Server, sts: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    """SQS as a session of the role, and what STS said of it."""
    given = sts.assume_role(RoleArn=f"arn:aws:iam::{ACCOUNT}:role/worker", RoleSessionName="nightly", **more)
    key = given["Credentials"]
    client = boto3.client(
        "sqs",
        endpoint_url=server.url,
        region_name=server.region,
        aws_access_key_id=key["AccessKeyId"],
        aws_secret_access_key=key["SecretAccessKey"],
        aws_session_token=key["SessionToken"],
    )
    return client, given["AssumedRoleUser"]


def denied(call: Any, **given: Any) -> str:
    with pytest.raises(ClientError, match="AccessDenied") as refused:
        call(**given)
    return str(refused.value.response["Error"]["Message"])


def test_a_session_has_what_its_role_has_and_is_told_as_the_sender(server: Server, sts: Any) -> None:
    sqs, who = session(server, sts)
    url = sqs.create_queue(QueueName="of-a-role")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="m")
    (message,) = sqs.receive_message(QueueUrl=url, AttributeNames=["SenderId"])["Messages"]
    assert message["Attributes"]["SenderId"] == who["AssumedRoleId"]
    assert who["AssumedRoleId"].startswith("AROA")
    assert who["AssumedRoleId"].endswith(":nightly")
    assert denied(sqs.list_queues).startswith(f"User: {who['Arn']} is not authorized to perform: sqs:listqueues ")
    server.client().delete_queue(QueueUrl=url)


def test_a_session_s_own_policy_leaves_less(server: Server, sts: Any) -> None:
    only_send = document(Action="sqs:SendMessage", Resource="*")
    sqs, _ = session(server, sts, Policy=only_send)
    url = server.client().create_queue(QueueName="of-a-role-2")["QueueUrl"]
    assert denied(sqs.send_message, QueueUrl=url, MessageBody="m").endswith(
        " because no identity-based policy allows the sqs:sendmessage action"
    )
    mine = f"{server.url}/{ACCOUNT}/of-a-role"
    with pytest.raises(ClientError, match="NonExistentQueue"):
        sqs.send_message(QueueUrl=mine, MessageBody="m")
    assert denied(sqs.receive_message, QueueUrl=mine).endswith(
        " because no session policy allows the sqs:receivemessage action"
    )
    whole, _ = session(server, sts)
    with pytest.raises(ClientError, match="NonExistentQueue"):
        whole.receive_message(QueueUrl=mine)

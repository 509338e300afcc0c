"""The policy of the Scale messaging guide, on a user of a running server, with boto3."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from server_process import Server

ACCOUNT = "000000000000"
POLICY = """{
    "Version": "2012-10-17",
    "Statement": [{
        "Sid": "Stmt1471017001000",
        "Effect": "Allow",
        "Action": ["sqs:*"],
        "Resource": ["arn:aws:sqs:us-east-1:*:scale-command-messages"]
    }]
}"""


@pytest.fixture
def scale(server: Server) -> Iterator[Any]:
    """A client of a user of that name, which goes when the test ends."""
    iam = server.client("iam")
    iam.create_user(UserName="scale")
    policy = iam.create_policy(PolicyName="scale", PolicyDocument=POLICY)["Policy"]["Arn"]
    iam.attach_user_policy(UserName="scale", PolicyArn=policy)
    key = iam.create_access_key(UserName="scale")["AccessKey"]
    yield replace(server, access_key=key["AccessKeyId"], secret_key=key["SecretAccessKey"]).client()
    iam.delete_access_key(UserName="scale", AccessKeyId=key["AccessKeyId"])
    iam.detach_user_policy(UserName="scale", PolicyArn=policy)
    iam.delete_policy(PolicyArn=policy)
    iam.delete_user(UserName="scale")


def refusal(call: Any, **given: Any) -> str:
    with pytest.raises(ClientError) as refused:
        call(**given)
    error = refused.value.response
    assert (error["Error"]["Code"], error["ResponseMetadata"]["HTTPStatusCode"]) == ("AccessDenied", 403)
    return str(error["Error"]["Message"])


def test_it_gives_its_queue_and_blocks_every_other(server: Server, scale: Any) -> None:
    root = server.client()
    other = root.create_queue(QueueName="scale-command-messages-2")["QueueUrl"]
    url = scale.create_queue(QueueName="scale-command-messages")["QueueUrl"]
    assert scale.get_queue_url(QueueName="scale-command-messages")["QueueUrl"] == url
    scale.send_message(QueueUrl=url, MessageBody='{"type": "queued_jobs"}')
    entries = [{"Id": str(number), "MessageBody": "m"} for number in range(3)]
    assert len(scale.send_message_batch(QueueUrl=url, Entries=entries)["Successful"]) == 3
    messages = scale.receive_message(QueueUrl=url, AttributeNames=["All"], MaxNumberOfMessages=10)["Messages"]
    sender = server.client("iam").get_user(UserName="scale")["User"]["UserId"]
    assert sender.startswith("AIDA")
    assert {message["Attributes"]["SenderId"] for message in messages} == {sender}
    scale.change_message_visibility(QueueUrl=url, ReceiptHandle=messages[0]["ReceiptHandle"], VisibilityTimeout=60)
    gone = [{"Id": str(n), "ReceiptHandle": message["ReceiptHandle"]} for n, message in enumerate(messages)]
    assert len(scale.delete_message_batch(QueueUrl=url, Entries=gone)["Successful"]) == 4
    assert scale.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]["QueueArn"]
    arn = f"arn:aws:sqs:us-east-1:{ACCOUNT}:scale-command-messages-2"
    expected = (
        f"User: arn:aws:iam::{ACCOUNT}:user/scale is not authorized to perform: sqs:sendmessage on resource: {arn} "
        "because no identity-based policy allows the sqs:sendmessage action"
    )
    assert refusal(scale.send_message, QueueUrl=other, MessageBody="m") == expected
    for call, given in (
        (scale.receive_message, {"QueueUrl": other}),
        (scale.purge_queue, {"QueueUrl": other}),
        (scale.delete_queue, {"QueueUrl": other}),
        (scale.get_queue_url, {"QueueName": "scale-command-messages-2"}),
        (scale.get_queue_url, {"QueueName": "never-made"}),
        (scale.create_queue, {"QueueName": "mine"}),
        (scale.list_queues, {}),
    ):
        refusal(call, **given)


def test_what_the_owner_adds_and_takes_away_holds_from_the_next_request(server: Server, scale: Any) -> None:
    root = server.client()
    url = root.create_queue(QueueName="lent")["QueueUrl"]
    for _ in range(3):
        refusal(scale.send_message, QueueUrl=url, MessageBody="m")
        policy = """{"Statement": {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::000000000000:user/scale"},
            "Action": "sqs:SendMessage", "Resource": "arn:aws:sqs:us-east-1:000000000000:lent"}}"""
        root.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
        scale.send_message(QueueUrl=url, MessageBody="m")
        root.set_queue_attributes(QueueUrl=url, Attributes={"Policy": ""})


def test_a_policy_that_is_detached_holds_no_more_at_the_next_request(server: Server, scale: Any) -> None:
    iam, policy = server.client("iam"), f"arn:aws:iam::{ACCOUNT}:policy/scale"
    url = scale.create_queue(QueueName="scale-command-messages")["QueueUrl"]
    for _ in range(3):
        scale.send_message(QueueUrl=url, MessageBody="m")
        iam.detach_user_policy(UserName="scale", PolicyArn=policy)
        refusal(scale.send_message, QueueUrl=url, MessageBody="m")
        iam.attach_user_policy(UserName="scale", PolicyArn=policy)
    server.client().purge_queue(QueueUrl=url)

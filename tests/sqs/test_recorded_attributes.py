"""What the real service was recorded to say of queue attributes, tags and permissions, where no numbered row says it.
The letters name the kind of recording, as in `test_recorded.py`."""

import json
from typing import Any

import pytest

from .clients import Client
from .harness import ACCOUNT, REGION, done, make, refused

NUMBERS = {
    "DelaySeconds": (-1, 901),
    "MaximumMessageSize": (1023, 1_048_577),
    "MessageRetentionPeriod": (59, 1_209_601),
    "ReceiveMessageWaitTimeSeconds": (-1, 21),
    "VisibilityTimeout": (-1, 43_201),
    "KmsDataKeyReusePeriodSeconds": (59, 86_401),
}


async def refuses_attributes(
    client: Client, error: str, message: str | None, name: str = "orders", **given: Any
) -> None:
    """By SetQueueAttributes and by CreateQueue alike, and nothing is changed."""
    queue = await make(client, name)
    before = await queue.attributes("All")
    await queue.refuses(error, message, "SetQueueAttributes", Attributes=given)
    fifo = {"FifoQueue": "true"} if queue.fifo else {}
    await refused(client, error, message, "CreateQueue", QueueName=f"new-{name}", Attributes=fifo | given)
    assert await queue.attributes("All") == before
    assert done(await client.call("ListQueues", QueueNamePrefix="new")) == {}


# Queue attributes


@pytest.mark.parametrize("name", NUMBERS)
async def test_a_number_out_of_its_bounds_is_an_invalid_attribute_value(client: Client, name: str) -> None:  # BAL, INQ
    for value in (*NUMBERS[name], "", " ", "1.5", "x", "٣", "9" * 30):
        message = f"Invalid value for the parameter {name}."
        await refuses_attributes(client, "InvalidAttributeValue", message, **{name: str(value)})


@pytest.mark.parametrize(
    ("name", "attribute", "value"),
    [
        ("orders", "SqsManagedSseEnabled", "yes"),
        ("orders.fifo", "ContentBasedDeduplication", "1"),
        ("orders.fifo", "DeduplicationScope", "Queue"),
        ("orders.fifo", "FifoThroughputLimit", "perGroup"),
        ("orders", "Policy", "not json"),
        ("orders", "Policy", "[]"),
        ("orders", "Policy", '"text"'),
    ],
)
async def test_any_other_wrong_value_too(client: Client, name: str, attribute: str, value: str) -> None:  # ISS, INQ
    message = f"Invalid value for the parameter {attribute}."
    await refuses_attributes(client, "InvalidAttributeValue", message, name, **{attribute: value})


async def test_a_standard_queue_does_not_know_deduplication_by_content(client: Client) -> None:  # LS
    message = "Unknown Attribute ContentBasedDeduplication."
    await refuses_attributes(client, "InvalidAttributeName", message, ContentBasedDeduplication="false")


async def test_a_redrive_policy_is_a_json_map(client: Client) -> None:  # INQ
    for value in ("not json", "[]", "5"):
        message = "Invalid value for the parameter RedrivePolicy. Reason: Redrive policy is not a valid JSON map."
        await refuses_attributes(client, "InvalidParameterValue", message, RedrivePolicy=value)


async def test_a_dead_letter_queue_is_a_queue_and_nothing_else(client: Client) -> None:  # INQ
    policy = '{"deadLetterTargetArn": "arn:aws:sns:us-east-1:111122223333:topic", "maxReceiveCount": 3}'
    reason = "Only SQS queues are valid resources for deadLetterTargetArn."
    message = f"Value {policy} for parameter RedrivePolicy is invalid. Reason: {reason}"
    await refuses_attributes(client, "InvalidParameterValue", message, RedrivePolicy=policy)


async def test_a_queue_may_be_its_own_dead_letter_queue(client: Client) -> None:  # LS
    queue = await make(client, "orders")
    await queue.set(RedrivePolicy=json.dumps({"deadLetterTargetArn": queue.arn, "maxReceiveCount": 3}))


async def test_a_key_that_is_none_leaves_the_queues_own_encryption_on(client: Client) -> None:  # LS, its other half
    queue = await make(client, "orders", KmsMasterKeyId="")
    assert await queue.attributes("SqsManagedSseEnabled", "KmsMasterKeyId") == {"SqsManagedSseEnabled": "true"}
    await queue.set(KmsMasterKeyId="", KmsDataKeyReusePeriodSeconds=300)
    assert await queue.attributes("SqsManagedSseEnabled", "KmsMasterKeyId") == {"SqsManagedSseEnabled": "true"}


async def test_how_long_a_key_is_used_may_be_said_of_a_queue_without_one(client: Client) -> None:
    for _ in range(2):
        queue = await make(client, "orders", KmsDataKeyReusePeriodSeconds=300)
    await queue.set(KmsMasterKeyId="testKeyId")
    assert await queue.attributes("KmsMasterKeyId") == {"KmsMasterKeyId": "testKeyId"}


REFUSED_ALLOWANCE = "Amazon SQS can't create the redrive allow policy"


@pytest.mark.parametrize(
    "policy", ["not json", "[]", "{}", '{"redrivePermission": "some"}', '{"redrivePermission": "allowAll", "more": 1}',
               '{"redrivePermission": "byQueue", "sourceQueueArns": "arn"}'],
)  # fmt: skip
async def test_a_redrive_allow_policy_that_cannot_be_read(client: Client, policy: str) -> None:  # INQ
    reason = f"{REFUSED_ALLOWANCE}, as it’s in an unsupported format."
    message = f"Invalid value for the parameter RedriveAllowPolicy. Reason: {reason}"
    await refuses_attributes(client, "InvalidParameterValue", message, RedriveAllowPolicy=policy)


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (
            f'{{"redrivePermission": "denyAll", "sourceQueueArns": ["arn:aws:sqs:{REGION}:{ACCOUNT}:a"]}}',
            "To specify one or more source queue ARNs, you must set redrivePermission to byQueue.",
        ),
        (
            '{"redrivePermission": "byQueue", "sourceQueueArns": []}',
            "When you specify the byQueue permission type, you must also specify one or more sourceQueueArns values.",
        ),
    ],
)
async def test_a_redrive_allow_policy_that_makes_no_sense(client: Client, policy: str, reason: str) -> None:  # INQ
    message = f"Value {policy} for parameter RedriveAllowPolicy is invalid. Reason: {REFUSED_ALLOWANCE}. {reason}"
    await refuses_attributes(client, "InvalidParameterValue", message, RedriveAllowPolicy=policy)


def policy_of(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


STATEMENT = {"Effect": "Allow", "Principal": "*", "Action": "SQS:SendMessage", "Resource": "*"}


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            policy_of(STATEMENT | {"Action": [f"SQS:A{number}" for number in range(10)]}),
            "10 actions were found in a statement from the submitted policy, max allowed is 7",
        ),
        (policy_of(STATEMENT | {"Sid": "x" * 8192}), "Submitted policy is over max allowed size."),
        (policy_of(*[STATEMENT] * 21), "21 statements were found in the submitted policy, max allowed is 20"),
    ],
)
async def test_a_policy_has_its_limits(client: Client, policy: str, message: str) -> None:  # ISS, INQ
    await refuses_attributes(client, "OverLimit", message, Policy=policy)


async def test_a_policy_does_not_name_the_actions_on_batches(client: Client) -> None:  # ISS awacs#34
    action = "SQS:ChangeMessageVisibilityBatch"
    reason = "Please refer to the appropriate WSDL for a list of valid actions."
    message = f"Value {action} for parameter ActionName is invalid. Reason: {reason}"
    policy = policy_of(STATEMENT | {"Action": action})
    await refuses_attributes(client, "InvalidParameterValue", message, Policy=policy)


@pytest.mark.parametrize("element", ["Action", "NotAction"])
async def test_a_policy_does_not_name_actions_that_there_are_not(client: Client, element: str) -> None:
    statement = {name: value for name, value in STATEMENT.items() if name != "Action"} | {"Effect": "Deny"}
    for given in ("sqs:SendMesage", ["sqs:SendMessage", "sqs:SendMesage"]):
        message = "Value sqs:SendMesage for parameter ActionName is invalid. Reason: " + BATCHES
        policy = policy_of(statement | {element: given})
        await refuses_attributes(client, "InvalidParameterValue", message, Policy=policy)
    queue = await make(client, "orders")
    for given in ("SQS:sendmessage", "sqs:Sen*", "sqs:*", "*", "sqs:TagQueue", "penstock:PeekMessages"):
        await queue.do("SetQueueAttributes", Attributes={"Policy": policy_of(statement | {element: given})})


# Tags and permissions


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"": "v"}, "Tag keys must be between 1 and 128 characters in length."),
        ({"k" * 129: "v"}, "Tag keys must be between 1 and 128 characters in length."),
        (
            {"k?": "v"},
            "Tag keys may only contain unicode letters, digits, whitespace, or one of these symbols: _ . : / = + - @",
        ),
        ({"k": "v" * 257}, None),
        ({"aws:k": "v"}, None),
        ({"k": "v!"}, None),
        ({f"k{number}": "v" for number in range(51)}, None),
    ],
)
async def test_tags_have_their_rules(client: Client, tags: dict[str, str], message: str | None) -> None:  # BAL, INQ
    queue = await make(client, "orders")
    await queue.refuses("InvalidParameterValue", message, "TagQueue", Tags=tags)
    await refused(client, "InvalidParameterValue", message, "CreateQueue", QueueName="new", tags=tags)
    assert await queue.do("ListQueueTags") == {}


GRANT: dict[str, Any] = {"Label": "l", "AWSAccountIds": [ACCOUNT], "Actions": ["SendMessage"]}
BATCHES = "Please refer to the appropriate WSDL for a list of valid actions."
OWNER = "Only the queue owner is allowed to invoke this action."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"AWSAccountIds": ["*"]}, "Value [*] for parameter PrincipalId is invalid. Reason: Unable to verify."),
        (
            {"Actions": ["SendMessageBatch"]},
            f"Value SQS:SendMessageBatch for parameter ActionName is invalid. Reason: {BATCHES}",
        ),
        ({"Actions": ["CreateQueue"]}, f"Value SQS:CreateQueue for parameter ActionName is invalid. Reason: {OWNER}"),
        ({"Label": "a b"}, None),
        ({"Label": "a" * 81}, None),
    ],
)
async def test_a_permission_has_its_rules(
    client: Client, change: dict[str, Any], message: str | None
) -> None:  # ISS, INQ
    queue = await make(client, "orders")
    await queue.refuses("InvalidParameterValue", message, "AddPermission", **GRANT | change)
    assert await queue.attributes("Policy") == {}


@pytest.mark.parametrize(
    ("member", "name"), [("Actions", "ActionName"), ("AWSAccountIds", "AWSAccountIds"), ("Label", "Label")]
)
async def test_a_permission_is_for_someone_to_do_something(client: Client, member: str, name: str) -> None:  # INQ
    queue = await make(client, "orders")
    message = f"The request must contain the parameter {name}."
    rest = {key: value for key, value in GRANT.items() if key != member}
    await queue.refuses("MissingParameter", message, "AddPermission", **rest)


async def test_twenty_permissions_are_enough(client: Client) -> None:  # INQ
    queue = await make(client, "orders")
    for number in range(20):
        await queue.do("AddPermission", **GRANT | {"Label": f"l{number}"})
    message = "21 Statements were found, maximum allowed is 20."
    await queue.refuses("OverLimit", message, "AddPermission", **GRANT | {"Label": "l20"})

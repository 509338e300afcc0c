"""What a grant in words means as a policy, and what it is called."""

import json
import re

import pytest

from penstock.aws.contract import load
from penstock.cli.grants import FIND, VERBS, Grant
from penstock.cli.parser import CommandError

ACCOUNT, REGION = "111122223333", "eu-west-1"
NAME = re.compile(r"[\w+=,.@-]{1,128}")
"""What IAM takes for the name of a policy."""


def statement(verb: str, queue: str, effect: str = "Allow") -> dict[str, object]:
    document = json.loads(Grant(verb, queue).check().document(effect, ACCOUNT, REGION))
    (found,) = document["Statement"]
    return dict(found)


def test_a_queue_s_name_is_one_of_the_account_and_region() -> None:
    assert statement("send", "orders") == {
        "Effect": "Allow",
        "Action": ["sqs:SendMessage", "sqs:GetQueueUrl", "sqs:GetQueueAttributes"],
        "Resource": "arn:aws:sqs:eu-west-1:111122223333:orders",
    }


def test_an_arn_is_taken_as_it_is() -> None:
    arn = "arn:aws:sqs:*:444455556666:orders"
    assert statement("send", arn)["Resource"] == arn


def test_a_deny_leaves_what_other_verbs_need() -> None:
    assert statement("send", "orders", "Deny")["Action"] == ["sqs:SendMessage"]


def test_an_action_by_its_own_name_is_that_action_alone() -> None:
    assert statement("sqs:PurgeQueue", "orders")["Action"] == ["sqs:PurgeQueue"]
    assert statement("everything", "orders")["Action"] == ["sqs:*"]


def test_all_queues_are_listed_or_none() -> None:
    assert statement("list", "*") == {"Effect": "Allow", "Action": ["sqs:ListQueues"], "Resource": "*"}
    assert statement("sqs:ListQueues", "*")["Resource"] == "*"
    with pytest.raises(CommandError, match="all queues or none"):
        Grant("list", "orders").check()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_made_of_actions_that_there_are(verb: str) -> None:
    for action in (*VERBS[verb], *FIND):
        service, _, name = action.partition(":")
        assert name == "*" or name in load(service).operations


@pytest.mark.parametrize(
    ("verb", "queue"), [("sned", "orders"), ("send", "no queue"), ("send", ""), ("sqs:", "orders")]
)
def test_what_means_nothing_is_refused_in_a_line(verb: str, queue: str) -> None:
    with pytest.raises(CommandError) as error:
        Grant(verb, queue).check()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("verb", [*sorted(VERBS.keys() - {"list"}), "sqs:Send*"])
@pytest.mark.parametrize(
    "queue", ["orders", "orders.fifo", "*", "o?-*", "arn:aws:sqs:us-east-1:111122223333:" + "q" * 80]
)
def test_every_name_is_one_that_iam_takes(verb: str, queue: str) -> None:
    assert NAME.fullmatch(Grant(verb, queue).check().name("Allow"))


def test_different_grants_have_different_names() -> None:
    long = "arn:aws:sqs:us-east-1:111122223333:" + "q" * 79
    grants = [Grant(verb, queue) for verb in VERBS for queue in ("a", "a*", "a?", "*", f"{long}1", f"{long}2")]
    names = [grant.name(effect) for grant in grants for effect in ("Allow", "Deny")]
    assert len(set(names)) == len(names)

"""Every operation of every service, and who may call it.

ROWS is written from Amazon's documents and our own, not from the code. An operation without a row fails. IAM's all have
the same: an action of their name, for the account's own.
"""

from typing import Any, NamedTuple

import pytest
from deciding import (
    ACCOUNT,
    ANN,
    ARN,
    BOB,
    DEAD_ARN,
    EVERY,
    NOBODY,
    OTHER_ACCOUNT,
    REGION,
    ROOT,
    STRANGER,
    Operation,
    Town,
    allow,
    deny,
)


class Row(NamedTuple):
    """`needs` are the actions, all on `on`. `to` says to whom it can be given: the owner's account, others, anyone."""

    needs: tuple[str, ...]
    on: str
    to: str = "own"


def sqs(name: str, to: str = "own", on: str = ARN) -> Row:
    return Row((f"sqs:{name}",), on, to)


MOVING = ("sqs:StartMessageMoveTask", "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
OPERATORS = (
    "ListJournalSegments", "ReadJournal", "RegisterJournalReader", "CommitJournalReader", "ListJournalReaders",
    "RemoveJournalReader", "LookupAuditEvents",
    "CreateAccount", "ListAccounts", "SetAccountQuota", "RotateRootKey", "DeleteAccount",
    "ListAllQueues", "AdminDeleteQueue", "AdminPurgeQueue", "AdminPeekMessages", "ListAllMoveTasks",
    "AdminCancelMoveTask", "PutQueueMetrics",
)  # fmt: skip
FREE = Row((), "")
ROWS: dict[str, Row] = {
    "sqs:AddPermission": sqs("AddPermission"),
    "sqs:CancelMessageMoveTask": sqs("CancelMessageMoveTask", on=DEAD_ARN),
    "sqs:ChangeMessageVisibility": sqs("ChangeMessageVisibility", "anyone"),
    "sqs:ChangeMessageVisibilityBatch": sqs("ChangeMessageVisibility", "anyone"),
    "sqs:CreateQueue": sqs("CreateQueue"),
    "sqs:DeleteMessage": sqs("DeleteMessage", "anyone"),
    "sqs:DeleteMessageBatch": sqs("DeleteMessage", "anyone"),
    "sqs:DeleteQueue": sqs("DeleteQueue"),
    "sqs:GetQueueAttributes": sqs("GetQueueAttributes", "anyone"),
    "sqs:GetQueueUrl": sqs("GetQueueUrl", "others"),
    "sqs:ListDeadLetterSourceQueues": sqs("ListDeadLetterSourceQueues", "anyone"),
    "sqs:ListMessageMoveTasks": sqs("ListMessageMoveTasks", on=DEAD_ARN),
    "sqs:ListQueues": sqs("ListQueues", on="*"),
    "sqs:ListQueueTags": sqs("ListQueueTags"),
    "sqs:PurgeQueue": sqs("PurgeQueue", "anyone"),
    "sqs:ReceiveMessage": sqs("ReceiveMessage", "anyone"),
    "sqs:RemovePermission": sqs("RemovePermission"),
    "sqs:SendMessage": sqs("SendMessage", "anyone"),
    "sqs:SendMessageBatch": sqs("SendMessage", "anyone"),
    "sqs:SetQueueAttributes": sqs("SetQueueAttributes"),
    "sqs:StartMessageMoveTask": Row(MOVING, DEAD_ARN),
    "sqs:TagQueue": sqs("TagQueue"),
    "sqs:UntagQueue": sqs("UntagQueue"),
    "sts:AssumeRole": FREE,
    "sts:DecodeAuthorizationMessage": Row(("sts:DecodeAuthorizationMessage",), "*"),
    "sts:GetAccessKeyInfo": Row(("sts:GetAccessKeyInfo",), "*"),
    "sts:GetCallerIdentity": FREE,
    "sts:GetFederationToken": Row(("sts:GetFederationToken",), f"arn:aws:sts::{ACCOUNT}:federated-user/guest"),
    "sts:GetSessionToken": FREE,
    "cloudwatch:GetMetricData": Row(("cloudwatch:GetMetricData",), "*"),
    "cloudwatch:GetMetricStatistics": Row(("cloudwatch:GetMetricStatistics",), "*"),
    "cloudwatch:ListMetrics": Row(("cloudwatch:ListMetrics",), "*"),
    "penstock:PeekMessages": Row(("penstock:PeekMessages",), ARN),
    "penstock:GetQueueMetrics": Row(("penstock:GetQueueMetrics",), "*"),
    **{f"penstock:{name}": Row((f"penstock:{name}",), "*", "operators") for name in OPERATORS},
}
ITS_OWN = {"sts:AssumeRole"}
"""Decide themselves, by what a role says of whom it trusts; their own tests say how."""


def row_of(operation: Operation) -> Row:
    if operation.service == "iam":
        return Row((f"iam:{operation.name}",), "*")
    return ROWS[str(operation)]


def rows(**wanted: Any) -> list[Operation]:
    """Operations whose row is so; those without a row are left to the test that misses them."""
    known = [operation for operation in EVERY if operation.service == "iam" or str(operation) in ROWS]
    return [each for each in known if str(each) not in ITS_OWN and all(_is(each, *what) for what in wanted.items())]


def _is(operation: Operation, what: str, wanted: Any) -> bool:
    row = row_of(operation)
    return {"free": row is FREE, "about_a_queue": row.on in (ARN, DEAD_ARN), "to": row.to}[what] == wanted


def each(operations: list[Operation]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("operation", operations, ids=str)


def queue_of(row: Row) -> str:
    return row.on.rpartition(":")[2]


def test_every_operation_has_a_row() -> None:
    assert [str(each) for each in EVERY if each.service != "iam" and str(each) not in ROWS] == []


# Within the account


@each(rows(free=False))
def test_a_user_without_a_policy_may_not(town: Town, operation: Operation) -> None:
    outcome = town.call(ANN, operation)
    action = row_of(operation).needs[0]
    action = action.lower() if operation.service == "sqs" else action
    assert outcome.denied, outcome
    assert outcome.message.startswith(
        f"User: arn:aws:iam::{ACCOUNT}:user/ann is not authorized to perform: {action} on resource: "
    )
    assert outcome.message.endswith(f" because no identity-based policy allows the {action} action")


@each(rows())
def test_a_user_with_exactly_the_right_allow_may(town: Town, operation: Operation) -> None:
    row = row_of(operation)
    town.give(ANN, *([allow(list(row.needs), row.on)] if row.needs else ()))
    if operation.name == "StartMessageMoveTask":
        town.give(ANN, allow(list(row.needs), row.on), allow("sqs:SendMessage", ARN))
    outcome = town.call(ANN, operation)
    assert not outcome.denied, outcome


@each(rows(free=False))
def test_a_user_with_every_other_action_may_not(town: Town, operation: Operation) -> None:
    for needed in row_of(operation).needs:
        town.give(ANN, {"Effect": "Allow", "NotAction": needed, "Resource": "*"})
        assert town.call(ANN, operation).denied, needed


@each(rows(about_a_queue=True))
def test_the_right_to_another_queue_is_none(town: Town, operation: Operation) -> None:
    town.give(ANN, allow("*", [f"arn:aws:sqs:{REGION}:{ACCOUNT}:other", f"arn:aws:sqs:eu-west-1:{ACCOUNT}:*"]))
    assert town.call(ANN, operation).denied


@each(rows(free=False))
def test_an_explicit_deny_wins(town: Town, operation: Operation) -> None:
    row = row_of(operation)
    town.give(ANN, allow("*"), deny(row.needs[0]))
    outcome = town.call(ANN, operation)
    assert outcome.denied
    assert outcome.message.endswith(" with an explicit deny in an identity-based policy")


@each(rows(free=True))
def test_what_needs_no_right_cannot_be_denied(town: Town, operation: Operation) -> None:
    town.give(ANN, deny("*"))
    assert not town.call(ANN, operation).denied


@each(rows(about_a_queue=True))
def test_a_queue_s_policy_gives_to_users_of_its_account_by_itself(town: Town, operation: Operation) -> None:
    row, everyone = row_of(operation), {"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:user/ann"}}
    town.set_policy(allow(list(row.needs), row.on, **everyone), queue=queue_of(row))
    if operation.name == "StartMessageMoveTask":
        town.set_policy(allow("sqs:SendMessage", ARN, **everyone))
    outcome = town.call(ANN, operation)
    assert not outcome.denied, outcome


@each(rows(about_a_queue=True))
def test_a_queue_s_policy_that_denies_wins(town: Town, operation: Operation) -> None:
    row = row_of(operation)
    town.give(ANN, allow("*"))
    town.set_policy(deny(row.needs[0], Principal="*"), queue=queue_of(row))
    outcome = town.call(ANN, operation)
    assert outcome.denied
    assert outcome.message.endswith(" with an explicit deny in a resource-based policy")


# The account itself


@each(rows())
def test_the_account_itself_may_everything_of_its_own(town: Town, operation: Operation) -> None:
    outcome = town.call(ROOT, operation)
    assert not outcome.denied, outcome


@each(rows(about_a_queue=True))
def test_a_queue_s_policy_can_deny_it_all_but_mending_that_policy(town: Town, operation: Operation) -> None:
    town.set_policy(deny("*", Principal="*"), queue=queue_of(row_of(operation)))
    assert town.call(ROOT, operation).denied == (operation.name not in ("SetQueueAttributes", "RemovePermission"))


# Across accounts


@each(rows(about_a_queue=True))
def test_across_accounts_both_sides_must_allow(town: Town, operation: Operation) -> None:
    row = row_of(operation)
    given = {"QueueOwnerAWSAccountId": ACCOUNT} if operation.name == "GetQueueUrl" else {}
    theirs = allow("*", row.on, Principal={"AWS": OTHER_ACCOUNT})
    if operation.name == "CreateQueue":  # there is no way to name another account
        return
    town.give(BOB, allow("*"))
    assert town.call(BOB, operation, **given).denied, "with the identity's policy alone"
    town.give(BOB)
    town.set_policy(theirs, queue=queue_of(row))
    assert town.call(BOB, operation, **given).denied, "with the queue's policy alone"
    town.give(BOB, allow("*"))
    assert town.call(BOB, operation, **given).denied == (row.to == "own"), "with both"
    assert town.call(STRANGER, operation, **given).denied == (row.to == "own"), "the other account itself"


@each(rows(to="operators"))
def test_what_is_about_the_server_is_for_nobody_in_another_account(town: Town, operation: Operation) -> None:
    town.give(BOB, allow("*"))
    for key in (BOB, STRANGER):
        outcome = town.call(key, operation)
        assert outcome.denied
        assert outcome.message.endswith(f" because no resource-based policy allows the {operation} action")


@each([each for each in rows(free=False, about_a_queue=False) if row_of(each).to == "own"])
def test_what_is_about_an_account_is_for_each_account_s_own(town: Town, operation: Operation) -> None:
    outcome = town.call(STRANGER, operation)
    assert not outcome.denied, outcome


# Nobody


@each([each for each in EVERY if str(each) in ROWS or each.service == "iam"])
def test_who_does_not_sign_may_what_a_wildcard_allows_and_can_be_open(town: Town, operation: Operation) -> None:
    row, without = row_of(operation), town.call(NOBODY, operation).code
    if row.to != "anyone":
        town.set_policy(allow("*", Principal="*"))
        missing = ("MissingAuthenticationToken", "MissingAuthenticationTokenException")
        assert without in missing
        assert town.call(NOBODY, operation).code in missing
        return
    assert without == "AccessDenied"
    town.set_policy(allow(row.needs[0], row.on, Principal={"AWS": [ACCOUNT, OTHER_ACCOUNT]}))
    assert town.call(NOBODY, operation).denied, "an account is named"
    town.set_policy(allow(row.needs[0], row.on, Principal="*"))
    assert not town.call(NOBODY, operation).denied
    town.set_policy(allow("*", Principal="*"), deny(row.needs[0], Principal="*"))
    assert town.call(NOBODY, operation).denied


# No oracle


@each(rows(about_a_queue=True))
def test_a_missing_queue_and_a_forbidden_one_are_told_apart_by_nobody_who_may_not_know(
    town: Town, operation: Operation
) -> None:
    row = row_of(operation)
    queue = queue_of(row)
    given = {"QueueOwnerAWSAccountId": ACCOUNT} if operation.name == "GetQueueUrl" else {}
    callers = [ANN, BOB, STRANGER, *([NOBODY] if row.to == "anyone" else [])]
    if operation.name == "CreateQueue":
        callers = [ANN]
    told: dict[str, set[tuple[str, str]]] = {key: set() for key in callers}
    for policy in ((), (deny("*", Principal="*"),), (allow("sqs:Nothing", Principal={"AWS": OTHER_ACCOUNT}),)):
        town.set_policy(*policy, queue=queue)
        for key in callers:
            told[key].add(town.call(key, operation, **given)[:2])
    town.remove(queue)
    for key in callers:
        told[key].add(town.call(key, operation, **given)[:2])
    assert {key: len(answers) for key, answers in told.items()} == dict.fromkeys(callers, 1), told
    assert {code for answers in told.values() for code, _ in answers} <= {"AccessDenied", "AccessDeniedException"}


@each([each for each in rows(about_a_queue=True) if each.name != "CreateQueue"])
def test_who_may_is_told_that_a_queue_is_missing(town: Town, operation: Operation) -> None:
    town.give(ANN, allow("*"))
    town.remove(queue_of(row_of(operation)))
    outcome = town.call(ANN, operation)
    assert outcome.code in ("AWS.SimpleQueueService.NonExistentQueue", "ResourceNotFoundException")

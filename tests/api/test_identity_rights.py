"""Rights to IAM's operations: on whom, and that nobody helps themselves to more."""

import pytest
from deciding import ACCOUNT, ANN, BOB, ROOT, Operation, Town, allow, deny, written

IAM = f"arn:aws:iam::{ACCOUNT}:"
SEND = Operation("sqs", "SendMessage")


def iam(name: str) -> Operation:
    return Operation("iam", name)


def test_a_right_to_one_user_is_none_to_another(town: Town) -> None:
    town.give(ANN, allow("iam:*", f"{IAM}user/ann"))
    assert town.call(ANN, iam("ListAccessKeys"), UserName="ann").code == ""
    assert town.call(ANN, iam("ListAccessKeys")).code == "", "who names nobody means itself"
    assert town.call(ANN, iam("ListAccessKeys"), UserName="carl").denied
    assert town.call(ANN, iam("CreateUser"), UserName="carl").denied
    assert town.call(ANN, iam("ListUsers")).denied


def test_who_renames_needs_the_right_to_both_names(town: Town) -> None:
    assert town.call(ROOT, iam("CreateUser"), UserName="carl").code == ""
    town.give(ANN, allow("iam:UpdateUser", f"{IAM}user/carl"))
    outcome = town.call(ANN, iam("UpdateUser"), UserName="carl", NewUserName="admin")
    assert outcome.denied
    assert " on resource: user admin " in outcome.message
    town.give(ANN, allow("iam:UpdateUser", [f"{IAM}user/carl", f"{IAM}user/admin"]))
    assert town.call(ANN, iam("UpdateUser"), UserName="carl", NewUserName="admin").code == ""


def test_an_account_s_users_are_its_own(town: Town) -> None:
    town.give(BOB, allow("*"))
    assert town.call(BOB, iam("GetUser"), UserName="ann").code == "NoSuchEntity"
    policy = written(allow("*"))
    assert town.call(BOB, iam("PutUserPolicy"), UserName="ann", PolicyDocument=policy).code == "NoSuchEntity"


@pytest.mark.parametrize("given", ["PutUserPolicy", "AttachUserPolicy", "AddUserToGroup", "CreateAccessKey"])
def test_a_user_without_rights_gives_itself_none(town: Town, given: str) -> None:
    town.give(ANN, allow("sqs:*"), deny("sqs:SendMessage"))
    assert town.call(ANN, iam(given), UserName="ann").denied
    assert town.call(ANN, SEND).denied


def test_what_is_given_and_taken_through_iam_holds_at_the_next_request(town: Town) -> None:
    send = {"UserName": "ann", "PolicyName": "send"}
    for _ in range(3):
        assert town.call(ANN, SEND).denied
        given = town.call(ROOT, iam("PutUserPolicy"), PolicyDocument=written(allow("sqs:SendMessage")), **send)
        assert given.code == ""
        assert [town.call(ANN, SEND).code for _ in range(2)] == ["", ""]
        assert town.call(ROOT, iam("DeleteUserPolicy"), **send).code == ""
    boundary = town.call(ROOT, iam("CreatePolicy"), PolicyName="b", PolicyDocument=written(allow("sqs:ReceiveMessage")))
    town.give(ANN, allow("sqs:*"))
    assert town.call(ANN, SEND).code == ""
    arn = boundary.answer["Policy"]["Arn"]
    assert town.call(ROOT, iam("PutUserPermissionsBoundary"), UserName="ann", PermissionsBoundary=arn).code == ""
    assert town.call(ANN, SEND).denied

"""Simulations: what would be decided, and by which policy."""

import json
from typing import Any

import pytest

from .saying import ACCOUNT, READING, SENDING, document, refused

ORDERS, OTHER = f"arn:aws:sqs:us-east-1:{ACCOUNT}:orders", f"arn:aws:sqs:us-east-1:{ACCOUNT}:other"
SEND, READ = "sqs:SendMessage", "sqs:ReceiveMessage"


def text(*actions: str, **more: Any) -> str:
    return json.dumps(document(*actions, **more))


def arn(user: str) -> str:
    return f"arn:aws:iam::{ACCOUNT}:user/{user}"


def decisions(reply: dict[str, Any]) -> dict[tuple[str, str], str]:
    found = reply["EvaluationResults"]
    return {(one["EvalActionName"], one["EvalResourceName"]): one["EvalDecision"] for one in found}


def sources(reply: dict[str, Any]) -> list[tuple[str, str]]:
    (one,) = reply["EvaluationResults"]
    return [(statement["SourcePolicyId"], statement["SourcePolicyType"]) for statement in one["MatchedStatements"]]


def test_every_action_is_judged_on_every_resource(iam: Any) -> None:
    reply = iam.simulate_custom_policy(
        PolicyInputList=[text(SEND, resource=ORDERS), text(READ, effect="Deny")],
        ActionNames=[SEND, READ],
        ResourceArns=[ORDERS, OTHER],
    )
    assert decisions(reply) == {
        (SEND, ORDERS): "allowed",
        (SEND, OTHER): "implicitDeny",
        (READ, ORDERS): "explicitDeny",
        (READ, OTHER): "explicitDeny",
    }


def test_results_come_in_pages(iam: Any) -> None:
    actions = [f"sqs:Action{number}" for number in range(5)]
    pages = iam.get_paginator("simulate_custom_policy").paginate(
        PolicyInputList=[SENDING], ActionNames=actions, PaginationConfig={"PageSize": 2}
    )
    assert [one["EvalActionName"] for page in pages for one in page["EvaluationResults"]] == actions


def test_much_work_is_done_in_pages_however_many_are_asked_for(iam: Any) -> None:
    statements = [document(f"sqs:Action{number}")["Statement"][0] for number in range(200)]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    ask = {"PolicyInputList": [policy] * 8, "ActionNames": [f"sqs:Action{number}" for number in range(60)]}
    first = iam.simulate_custom_policy(**ask, MaxItems=1000)
    assert first["IsTruncated"]
    assert 0 < len(first["EvaluationResults"]) < 60
    pages = iam.get_paginator("simulate_custom_policy").paginate(**ask)
    assert [one["EvalDecision"] for page in pages for one in page["EvaluationResults"]] == ["allowed"] * 60


def test_a_user_has_its_own_policies_those_attached_and_those_of_its_groups(
    iam: Any, user: str, group: str, policy: str
) -> None:
    iam.put_user_policy(UserName=user, PolicyName="own", PolicyDocument=SENDING)
    iam.attach_user_policy(UserName=user, PolicyArn=policy)
    iam.put_group_policy(GroupName=group, PolicyName="shared", PolicyDocument=SENDING)
    iam.add_user_to_group(GroupName=group, UserName=user)
    reply = iam.simulate_principal_policy(PolicySourceArn=arn(user), ActionNames=[SEND], PolicyInputList=[SENDING])
    assert sources(reply) == [
        (f"user_{user}_own", "user"),
        (policy, "user-managed"),
        (f"group_{group}_shared", "group"),
        ("PolicyInputList.1", "none"),
    ]
    assert decisions(reply) == {(SEND, "*"): "allowed"}


def test_a_group_and_a_role_are_asked_for_themselves(iam: Any, group: str, role: str) -> None:
    iam.put_group_policy(GroupName=group, PolicyName="p", PolicyDocument=SENDING)
    iam.put_role_policy(RoleName=role, PolicyName="p", PolicyDocument=READING)
    for entity, allowed in ((f"group/{group}", SEND), (f"role/{role}", READ)):
        reply = iam.simulate_principal_policy(
            PolicySourceArn=f"arn:aws:iam::{ACCOUNT}:{entity}", ActionNames=[SEND, READ]
        )
        assert [action for (action, _), word in decisions(reply).items() if word == "allowed"] == [allowed]


def test_a_boundary_bounds_and_another_may_be_tried(iam: Any, user: str, policy: str) -> None:
    iam.put_user_policy(UserName=user, PolicyName="all", PolicyDocument=text("sqs:*"))
    iam.put_user_permissions_boundary(UserName=user, PermissionsBoundary=policy)

    def tried(**more: Any) -> dict[str, tuple[str, bool]]:
        reply = iam.simulate_principal_policy(PolicySourceArn=arn(user), ActionNames=[SEND, READ], **more)
        return {
            one["EvalActionName"]: (
                one["EvalDecision"],
                one["PermissionsBoundaryDecisionDetail"]["AllowedByPermissionsBoundary"],
            )
            for one in reply["EvaluationResults"]
        }

    assert tried() == {SEND: ("allowed", True), READ: ("implicitDeny", False)}
    other = tried(PermissionsBoundaryPolicyInputList=[READING])
    assert other == {SEND: ("implicitDeny", False), READ: ("allowed", True)}


def test_what_a_condition_needs_is_given_or_missed(iam: Any) -> None:
    policy = text(SEND, Condition={"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}})
    ask = {"PolicyInputList": [policy], "ActionNames": [SEND]}
    (missing,) = iam.simulate_custom_policy(**ask)["EvaluationResults"]
    assert (missing["EvalDecision"], missing["MissingContextValues"]) == ("implicitDeny", ["aws:SourceIp"])
    for address, decision in (("10.1.2.3", "allowed"), ("192.0.2.1", "implicitDeny")):
        entry = {"ContextKeyName": "aws:SourceIp", "ContextKeyType": "ip", "ContextKeyValues": [address]}
        (given,) = iam.simulate_custom_policy(**ask, ContextEntries=[entry])["EvaluationResults"]
        assert (given["EvalDecision"], given["MissingContextValues"]) == (decision, [])


def test_a_user_s_name_and_tags_are_known(iam: Any, user: str) -> None:
    iam.tag_user(UserName=user, Tags=[{"Key": "Team", "Value": "shop"}])
    own = text(SEND, resource="arn:aws:sqs:*:*:${aws:PrincipalTag/Team}-${aws:username}")
    iam.put_user_policy(UserName=user, PolicyName="own", PolicyDocument=own)
    queue = f"arn:aws:sqs:us-east-1:{ACCOUNT}:shop-{user}"
    reply = iam.simulate_principal_policy(PolicySourceArn=arn(user), ActionNames=[SEND], ResourceArns=[queue, ORDERS])
    assert decisions(reply) == {(SEND, queue): "allowed", (SEND, ORDERS): "implicitDeny"}


def test_a_queue_s_policy_and_its_owner_count(iam: Any, user: str) -> None:
    statement = {"Effect": "Allow", "Principal": {"AWS": arn(user)}, "Action": SEND, "Resource": ORDERS}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    ask = {"ActionNames": [SEND], "ResourceArns": [ORDERS], "ResourcePolicy": policy}
    own = iam.simulate_principal_policy(PolicySourceArn=arn(user), **ask)
    assert (decisions(own), sources(own)) == ({(SEND, ORDERS): "allowed"}, [("ResourcePolicy", "resource")])
    foreign = iam.simulate_principal_policy(
        PolicySourceArn=arn(user), ResourceOwner="arn:aws:iam::111122223333:root", **ask
    )
    assert decisions(foreign) == {(SEND, ORDERS): "implicitDeny"}
    with refused("InvalidInput", "CallerArn is needed with ResourcePolicy: name the user that calls."):
        iam.simulate_custom_policy(PolicyInputList=[READING], **ask)
    custom = iam.simulate_custom_policy(PolicyInputList=[READING], CallerArn=arn(user), **ask)
    assert decisions(custom) == {(SEND, ORDERS): "allowed"}


def test_the_keys_that_policies_ask_for_are_told(iam: Any, user: str) -> None:
    conditional = text(SEND, Condition={"Bool": {"aws:SecureTransport": "true"}})
    variable = text(READ, resource="arn:aws:sqs:*:*:${aws:username}-*")
    told = iam.get_context_keys_for_custom_policy(PolicyInputList=[conditional, variable])
    assert told["ContextKeyNames"] == ["aws:SecureTransport", "aws:username"]
    iam.put_user_policy(UserName=user, PolicyName="p", PolicyDocument=conditional)
    told = iam.get_context_keys_for_principal_policy(PolicySourceArn=arn(user))
    assert told["ContextKeyNames"] == ["aws:SecureTransport"]


BAD = {
    "PolicyInputList.1: ": {"PolicyInputList": ["{"]},
    "PolicyInputList: there are more than 131072 characters together.": {
        "PolicyInputList": [json.dumps(document(SEND, resource="q" * 20_000))] * 7
    },
    "Invalid action name: SendMessage is not written service:Action.": {"ActionNames": ["SendMessage"]},
    "Invalid CallerArn: anna-of-the-shop is not the ARN of a user or a role.": {"CallerArn": "anna-of-the-shop"},
    "Invalid ResourceOwner: me is not the ARN of an account.": {"ResourceOwner": "me"},
    "There is one permissions boundary at most.": {"PermissionsBoundaryPolicyInputList": [SENDING, SENDING]},
    "OrderedOrganizationPolicyInputList is not supported.": {
        "OrderedOrganizationPolicyInputList": [{"ServiceControlPolicyInputList": [SENDING]}]
    },
}


@pytest.mark.parametrize("words", BAD)
def test_what_cannot_be_simulated_is_refused(iam: Any, words: str) -> None:
    with pytest.raises(iam.exceptions.InvalidInputException) as caught:
        iam.simulate_custom_policy(**{"PolicyInputList": [SENDING], "ActionNames": [SEND]} | BAD[words])
    assert caught.value.response["Error"]["Message"].startswith(words)


def test_who_is_not_there_is_not_simulated(iam: Any, user: str) -> None:
    root = f"arn:aws:iam::{ACCOUNT}:root"
    with refused("InvalidInput", f"Invalid Entity Arn: {root} does not clearly define entity type and name."):
        iam.simulate_principal_policy(PolicySourceArn=root, ActionNames=[SEND])
    with refused("NoSuchEntity"):
        iam.simulate_principal_policy(PolicySourceArn=arn("nobody-at-all"), ActionNames=[SEND])
    with refused("NoSuchEntity"):
        iam.simulate_principal_policy(PolicySourceArn=arn(f"elsewhere/{user}"), ActionNames=[SEND])
    with refused("NoSuchEntity"):
        iam.simulate_principal_policy(
            PolicySourceArn=arn(user).replace(ACCOUNT, "111122223333"), ActionNames=[SEND]
        )  # fmt: skip

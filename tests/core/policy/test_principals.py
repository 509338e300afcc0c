"""Whom a resource's policy names: by every way of naming, and by its complement."""

import pytest
from policy_cast import OWNER, QUEUE, STRANGER, allow, ask, behind, callers, deny, policy

from penstock.core.identity import Kind, Principal
from penstock.core.policy import Grants, Reason, Use, decide

EVERYTHING = policy(Use.IDENTITY, allow())
FULL = Grants((EVERYTHING,), session=(EVERYTHING,))
NAMES = {
    "*": ["root", "user", "role", "federated", "anonymous"],
    STRANGER: ["root", "user", "role", "federated"],
    f"arn:aws:iam::{STRANGER}:root": ["root", "user", "role", "federated"],
    f"arn:aws:iam::{STRANGER}:user/staff/anna": ["user", "federated"],
    f"arn:aws:iam::{STRANGER}:user/anna": ["federated"],
    f"arn:aws:iam::{STRANGER}:user/staff/bob": [],
    f"arn:aws:iam::{STRANGER}:role/service/Clerk": ["role"],
    f"arn:aws:iam::{STRANGER}:role/Clerk": ["role"],
    f"arn:aws:iam::{STRANGER}:role/Clerk2": [],
    f"arn:aws:iam::{STRANGER}:role/anna": [],
    f"arn:aws:sts::{STRANGER}:assumed-role/Clerk/s1": ["role"],
    f"arn:aws:sts::{STRANGER}:assumed-role/Clerk/s2": [],
    f"arn:aws:sts::{STRANGER}:federated-user/bob": ["federated"],
    f"arn:aws:iam::{OWNER}:role/service/Clerk": [],
    f"arn:aws:iam::{OWNER}:user/staff/anna": [],
    OWNER: [],
}


@pytest.mark.parametrize(("named", "expected"), NAMES.items())
def test_a_name_lets_in_from_another_account_those_it_means(named: str, expected: list[str]) -> None:
    queue = policy(Use.RESOURCE, allow(Principal={"AWS": named}))
    let_in = [name for name, who in callers(STRANGER).items() if decide(ask(who), FULL, queue, OWNER).allowed]
    assert let_in == expected


def test_one_of_several_names_is_enough() -> None:
    queue = policy(Use.RESOURCE, allow(Principal={"AWS": [OWNER, callers(STRANGER)["user"].arn]}))
    assert decide(ask(callers(STRANGER)["user"]), FULL, queue, OWNER).allowed


def test_a_star_as_it_stands_and_as_an_account_are_the_same() -> None:
    for star in ("*", {"AWS": "*"}, {"AWS": ["*"]}):
        queue = policy(Use.RESOURCE, allow(Principal=star))
        assert decide(ask(callers()["anonymous"]), Grants(), queue, OWNER).allowed


def denied(spared: list[str], account: str = OWNER, boundary: bool = False) -> list[str]:
    """Whom a Deny of everyone but these denies."""
    queue = policy(Use.RESOURCE, allow(Principal="*"), deny(NotPrincipal={"AWS": spared}))
    grants = Grants((EVERYTHING,), EVERYTHING if boundary else None, (EVERYTHING,))
    return [name for name, who in callers(account).items() if not decide(ask(who), grants, queue, OWNER).allowed]


USER, ROLE, FEDERATED = (callers()[name].arn for name in ("user", "role", "federated"))


@pytest.mark.parametrize(
    ("spared", "expected"),
    [
        ([OWNER], ["user", "role", "federated", "anonymous"]),
        ([USER], ["root", "user", "role", "federated", "anonymous"]),
        ([USER, OWNER], ["role", "federated", "anonymous"]),
        ([ROLE, OWNER], ["user", "role", "federated", "anonymous"]),
        ([ROLE, behind()["role"], OWNER], ["user", "federated", "anonymous"]),
        ([behind()["role"], OWNER], ["user", "role", "federated", "anonymous"]),
        ([FEDERATED, OWNER], ["user", "role", "anonymous"]),
        ([STRANGER], ["root", "user", "role", "federated", "anonymous"]),
        (["*"], []),
    ],
)
def test_a_deny_spares_whom_it_names_with_the_account_and_all_names(spared: list[str], expected: list[str]) -> None:
    assert denied(spared) == expected


def test_a_deny_spares_nobody_who_has_a_boundary() -> None:
    assert "user" not in denied([USER, OWNER])
    assert "user" in denied([USER, OWNER], boundary=True)


def test_a_service_is_known_by_its_name_and_needs_the_resource_s_policy_only() -> None:
    service = Principal("", "sns.amazonaws.com", "sns", Kind.ANONYMOUS)
    source = {"ArnEquals": {"aws:SourceArn": f"arn:aws:sns:us-east-1:{OWNER}:news"}}
    queue = policy(Use.RESOURCE, allow(Principal={"Service": "sns.amazonaws.com"}, Condition=source))
    topic = {"aws:sourcearn": f"arn:aws:sns:us-east-1:{OWNER}:news"}
    assert decide(ask(service, context=topic), Grants(), queue, OWNER).allowed
    assert not decide(ask(service), Grants(), queue, OWNER).allowed
    for who in callers(STRANGER).values():
        assert not decide(ask(who, context=topic), FULL, queue, OWNER).allowed


def test_the_root_of_the_owner_can_mend_a_queue_that_denies_everyone() -> None:
    queue = policy(Use.RESOURCE, deny(Principal="*", Action="sqs:*"))
    allowed = {
        action: [name for name, who in callers().items() if decide(ask(who, action), FULL, queue, OWNER).allowed]
        for action in ("sqs:SetQueueAttributes", "sqs:RemovePermission", "sqs:AddPermission", "sqs:DeleteQueue")
    }
    assert allowed == {
        "sqs:SetQueueAttributes": ["root"],
        "sqs:RemovePermission": ["root"],
        "sqs:AddPermission": [],
        "sqs:DeleteQueue": [],
    }
    stranger = decide(ask(callers(STRANGER)["root"], "sqs:SetQueueAttributes"), Grants(), queue, OWNER)
    assert stranger.reason is Reason.RESOURCE_DENIES


def test_a_policy_of_the_resource_holds_for_the_resources_that_it_names() -> None:
    queue = policy(Use.RESOURCE, allow(Principal="*", Resource=QUEUE))
    assert decide(ask(callers()["anonymous"]), Grants(), queue, OWNER).allowed
    assert not decide(ask(callers()["anonymous"], resource=QUEUE + "2"), Grants(), queue, OWNER).allowed


ROLE_ARN = f"arn:aws:iam::{OWNER}:role/Boss"
TRUST = "sts:AssumeRole"


def may_assume(who: Principal, named: str, grants: Grants) -> bool:
    trust = policy(Use.TRUST, {"Effect": "Allow", "Principal": {"AWS": named}, "Action": TRUST})
    return decide(ask(who, TRUST, ROLE_ARN), grants, trust, OWNER).allowed


def test_a_role_is_assumed_only_by_whom_its_trust_names() -> None:
    """What suffices for a queue in one account, an identity's policy, does not for a role."""
    own, other = callers()["user"], callers(STRANGER)["user"]
    assert not may_assume(own, STRANGER, FULL)
    assert may_assume(own, own.arn, Grants())
    assert not may_assume(own, OWNER, Grants())
    assert may_assume(own, OWNER, FULL)
    assert not may_assume(other, other.arn, Grants())
    assert may_assume(other, other.arn, FULL)
    assert may_assume(callers()["root"], OWNER, Grants())
    assert not may_assume(callers()["root"], STRANGER, Grants())

"""Which policies hold for whom: a user's, its groups', boundaries and sessions; from when, and what if they are bad."""

from typing import Any

import pytest
from deciding import ACCOUNT, ANN, ARN, BOB, DEAD, NOBODY, ROOT, STRANGER, Operation, Town, allow, deny, written

from penstock.core.directory import AccessKey, ManagedPolicy, Role, Version
from penstock.core.identity import Kind, Principal, Session
from penstock.core.policy import Ask, decide

SEND, RECEIVE = Operation("sqs", "SendMessage"), Operation("sqs", "ReceiveMessage")
SET, CREATE = Operation("sqs", "SetQueueAttributes"), Operation("sqs", "CreateQueue")


def managed(name: str, *documents: str) -> ManagedPolicy:
    versions = {f"v{number}": Version(document, 1) for number, document in enumerate(documents, 1)}
    return ManagedPolicy(account=ACCOUNT, name=name, id=f"ANPA{name}", versions=versions, default="v1")


def test_a_group_s_policy_holds_for_its_members(town: Town) -> None:
    town.join(ANN, "senders", allow("sqs:SendMessage", ARN))
    assert town.call(ANN, SEND).code == ""
    assert town.call(ANN, RECEIVE).denied
    town.give(ANN, groups=("senders", "a group that is gone"))
    assert town.call(ANN, SEND).code == ""
    town.give(ANN)
    assert town.call(ANN, SEND).denied


def test_an_attached_policy_holds_in_its_default_version(town: Town) -> None:
    policy = managed("send", written(allow("sqs:SendMessage")), written(allow("sqs:ReceiveMessage")))
    town.save(policy)
    town.give(ANN, attached=(policy.arn, "arn:aws:iam::aws:policy/NotHere"))
    assert not town.call(ANN, SEND).denied
    assert town.call(ANN, RECEIVE).denied
    town.save(ManagedPolicy(**{n: getattr(policy, n) for n in policy.__struct_fields__} | {"default": "v2"}))
    assert town.call(ANN, SEND).denied
    assert not town.call(ANN, RECEIVE).denied


def test_a_boundary_is_the_most_there_is_and_one_that_is_gone_is_nothing(town: Town) -> None:
    policy = managed("most", written(allow("sqs:SendMessage")))
    town.save(policy)
    town.give(ANN, allow("sqs:*"), boundary=policy.arn)
    assert not town.call(ANN, SEND).denied
    assert town.call(ANN, RECEIVE).message.endswith(
        " because no permissions boundary allows the sqs:receivemessage action"
    )
    town.give(ANN, allow("sqs:*"), boundary="arn:aws:iam::aws:policy/NotHere")
    assert town.call(ANN, SEND).denied


def test_a_revoked_right_is_gone_at_the_next_request(town: Town) -> None:
    for _ in range(3):
        town.give(ANN, allow("sqs:SendMessage"))
        assert [town.call(ANN, SEND).denied for _ in range(2)] == [False, False]
        town.give(ANN)
        assert town.call(ANN, SEND).denied
    town.set_policy(allow("sqs:SendMessage", Principal={"AWS": f"arn:aws:iam::{ACCOUNT}:user/ann"}))
    assert [town.call(ANN, SEND).denied for _ in range(2)] == [False, False]
    town.set_policy()
    assert town.call(ANN, SEND).denied


def test_what_was_allowed_on_one_queue_is_not_on_another(town: Town) -> None:
    town.give(ANN, allow("sqs:SendMessage", ARN))
    for _ in range(2):
        assert not town.call(ANN, SEND).denied
        assert town.call(ANN, SEND, QueueUrl=DEAD).denied


def test_a_queue_made_again_has_nothing_of_the_policy_of_the_first(town: Town) -> None:
    town.set_policy(allow("sqs:*", Principal="*"))
    assert town.call(NOBODY, SEND).code == ""
    town.remove("orders")
    assert town.call(NOBODY, SEND).denied
    assert town.call(ROOT, CREATE, QueueName="orders").code == ""
    assert town.call(NOBODY, SEND).denied


def test_a_document_that_cannot_be_read_denies_everything(town: Town) -> None:
    town.give(ANN, inline={"good": written(allow("*")), "bad": '{"Statement":'})
    assert town.call(ANN, SEND).denied
    town.give(ANN, inline={"good": written(allow("*"))})
    assert not town.call(ANN, SEND).denied


STATES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "its own": {"inline": {"own": written(allow("sqs:SendMessage", ARN))}},
    "a group's": {"groups": ("senders",)},
    "one that cannot be read": {"inline": {"good": written(allow("*")), "bad": '{"Statement":'}},
    "a boundary that is gone": {"inline": {"own": written(allow("*"))}, "boundary": "arn:aws:iam::aws:policy/NotHere"},
}


@pytest.mark.parametrize("state", STATES)
def test_a_simulation_says_what_is_decided_and_by_which_policy(town: Town, state: str) -> None:
    town.join(ANN, "senders", allow("sqs:SendMessage", ARN))
    town.give(ANN, **STATES[state])
    simulate = Operation("iam", "SimulatePrincipalPolicy")
    asked = {"PolicySourceArn": town.user(ANN).arn, "ActionNames": ["sqs:SendMessage"], "ResourceArns": [ARN]}
    (result,) = town.call(ROOT, simulate, **asked).answer["EvaluationResults"]
    assert (result["EvalDecision"] == "allowed") is (not town.call(ANN, SEND).denied)
    named = [matched["SourcePolicyId"] for matched in result["MatchedStatements"]]
    grants = town.identities.grants(town.user(ANN).principal)
    decided = decide(Ask(town.user(ANN).principal, "sqs:SendMessage", ARN), grants, None, ACCOUNT)
    assert named == [match.policy for match in decided.matched]


@pytest.mark.parametrize("document", ["{}", "nonsense", '{"Statement":[{"Effect":"Allow","Action":"*"}]}'])
def test_a_queue_s_policy_that_cannot_be_read_leaves_it_to_the_owner_alone(town: Town, document: str) -> None:
    town.set_document(document)
    town.give(ANN, allow("*"))
    town.give(BOB, allow("*"))
    assert [town.call(key, SEND).denied for key in (ANN, BOB, STRANGER, NOBODY)] == [True] * 4
    assert not town.call(ROOT, SEND).denied
    assert town.call(ROOT, SET, Attributes={"Policy": ""}).code == ""
    assert not town.call(ANN, SEND).denied


def session(*documents: str, **more: object) -> Session:
    return Session(0, 10**15, documents or None, **more)  # type: ignore[arg-type]


def allows(town: Town, principal: Principal, action: str = "sqs:SendMessage") -> bool:
    return decide(Ask(principal, action, ARN), town.identities.grants(principal), None, ACCOUNT).allowed


def test_a_session_has_what_its_role_has_and_its_policies_leave(town: Town) -> None:
    town.save(Role(account=ACCOUNT, name="r", id="AROAR", trust="{}", inline={"p": written(allow("sqs:*"))}))
    arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/r/s"
    whole = Principal(ACCOUNT, arn, "AROAR:s", Kind.ROLE, "r", session=session())
    narrow = Principal(ACCOUNT, arn, "AROAR:s", Kind.ROLE, "r", session=session(written(allow("sqs:SendMessage"))))
    for _ in range(2):
        assert [allows(town, whole), allows(town, narrow)] == [True, True]
        assert [allows(town, each, "sqs:PurgeQueue") for each in (whole, narrow)] == [True, False]
    gone = Principal(ACCOUNT, arn, "AROAR:s", Kind.ROLE, "another", session=session())
    assert not allows(town, gone)


def test_two_who_vouch_for_the_same_name_vouch_each_for_what_they_have(town: Town) -> None:
    town.give(ANN, allow("sqs:SendMessage"))
    arn, everything = f"arn:aws:sts::{ACCOUNT}:federated-user/guest", session(written(allow("*")))
    of_ann = Principal(ACCOUNT, arn, "1:guest", Kind.FEDERATED, "ann", session=everything)
    of_nobody = Principal(ACCOUNT, arn, "1:guest", Kind.FEDERATED, "carl", session=everything)
    of_root = Principal(ACCOUNT, arn, "1:guest", Kind.FEDERATED, "", session=everything)
    assert [allows(town, each) for each in (of_ann, of_nobody, of_root)] == [True, False, True]
    assert [allows(town, each, "sqs:PurgeQueue") for each in (of_ann, of_nobody, of_root)] == [False, False, True]


def test_what_is_remembered_is_bounded(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.api.identities.ANSWERS_REMEMBERED", 5)
    town.give(ANN, allow("sqs:*", Condition={"IpAddress": {"aws:SourceIp": "192.0.2.0/24"}}))
    for number in range(12):
        town.peer = f"192.0.2.{number}"
        assert not town.call(ANN, Operation("sqs", "SendMessage")).denied
    assert len(town.identities.allowed) <= 5


def test_a_key_of_a_user_that_is_gone_is_nobody_s(town: Town) -> None:
    town.save(
        AccessKey(account=ACCOUNT, name="AKIAGONE", user="gone", secret=town.identities.sealed("AKIAGONE", "secret"))
    )
    assert town.call("AKIAGONE", SEND).code in ("InvalidClientTokenId", "UnrecognizedClientException")


def test_a_deny_of_a_group_wins_over_a_user_s_allow(town: Town) -> None:
    town.join(ANN, "none", deny("sqs:SendMessage"))
    town.give(ANN, allow("*"), groups=("none",))
    assert town.call(ANN, SEND).denied
    assert not town.call(ANN, RECEIVE).denied

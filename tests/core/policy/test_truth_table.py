"""Every combination of caller, account and what each policy does, against the oracle."""

from itertools import product

import pytest
from access_oracle import Case, refusal
from policy_cast import OWNER, QUEUE, STRANGER, allow, ask, behind, callers, deny, policy

from penstock.core.policy import Grants, Policy, Use, decide, refusal_text

THIS, OTHER = "sqs:SendMessage", "sqs:ReceiveMessage"


def identity_policy(does: str) -> Policy:
    """One that allows it, or allows something else, or allows everything and denies this."""
    statements = {
        "allow": [allow(Action=THIS, Resource=QUEUE)],
        "not": [allow(Action=OTHER, Resource=QUEUE)],
        "deny": [allow(), deny(Action=THIS, Resource=QUEUE)],
    }
    return policy(Use.IDENTITY, *statements[does])


IDENTITY = {does: identity_policy(does) for does in ("allow", "not", "deny")}


def resource_policy(case: Case, account: str) -> Policy | None:
    everyone = deny(Principal="*", Action=THIS, Resource=QUEUE)
    statements = {
        "allow-star": [allow(Principal="*", Action=THIS, Resource=QUEUE)],
        "allow-account": [allow(Principal={"AWS": account}, Action=THIS, Resource=QUEUE)],
        "allow-principal": [allow(Principal={"AWS": callers(account)[case.caller].arn}, Action=THIS, Resource=QUEUE)],
        "allow-behind": [allow(Principal={"AWS": behind(account).get(case.caller)}, Action=THIS, Resource=QUEUE)],
        "deny": [allow(Principal="*", Action=THIS, Resource=QUEUE), everyone],
    }
    return policy(Use.RESOURCE, *statements[case.resource]) if case.resource != "none" else None


def cases() -> list[Case]:
    axes = {
        "caller": ("root", "user", "role", "federated", "anonymous"),
        "account": ("same", "cross"),
        "identity": ("allow", "deny", "none"),
        "resource": ("allow-principal", "allow-behind", "allow-account", "allow-star", "deny", "none"),
        "boundary": ("none", "allow", "not", "deny"),
        "session": ("none", "allow", "not", "deny"),
    }
    return [case for values in product(*axes.values()) if exists(case := Case(*values))]


def exists(case: Case) -> bool:
    """A root has no policies, only sessions come from someone, and nobody has no name."""
    if case.caller == "root" and (case.identity, case.boundary, case.session) != ("none", "none", "none"):
        return False
    if case.resource == "allow-behind":
        return case.caller in ("role", "federated")
    return not (case.resource == "allow-principal" and case.caller == "anonymous")


def answer(case: Case) -> str:
    account = OWNER if case.account == "same" else STRANGER
    grants = Grants(
        identity=(IDENTITY[case.identity],) if case.identity != "none" else (IDENTITY["not"],),
        boundary=IDENTITY[case.boundary] if case.boundary != "none" else None,
        session=(IDENTITY[case.session],) if case.session != "none" else None,
    )
    asked = ask(callers(account)[case.caller], THIS)
    decision = decide(asked, grants, resource_policy(case, account), OWNER)
    if decision.allowed:
        return ""
    who = asked.principal.arn or "anonymous"
    beginning = f"User: {who} is not authorized to perform: sqs:sendmessage on resource: {QUEUE} "
    text = refusal_text(asked, decision)
    assert text.startswith(beginning)
    return text.removeprefix(beginning)


CASES = cases()


def test_the_table_has_every_case_that_there_is() -> None:
    policies, accounts = 3 * 4 * 4, 2
    by_caller = {
        "root": 5,
        "user": 5 * policies,
        "role": 6 * policies,
        "federated": 6 * policies,
        "anonymous": 4 * policies,
    }
    assert len(CASES) == len(set(CASES)) == accounts * sum(by_caller.values()) == 2026


@pytest.mark.parametrize("caller", ["root", "user", "role", "federated", "anonymous"])
@pytest.mark.parametrize("account", ["same", "cross"])
def test_the_evaluator_decides_as_the_oracle_and_in_the_same_words(caller: str, account: str) -> None:
    chosen = [case for case in CASES if (case.caller, case.account) == (caller, account)]
    assert {case: answer(case) for case in chosen} == {case: refusal(case) for case in chosen}


@pytest.mark.parametrize("expected", ["allowed", "refused"])
def test_the_table_would_notice_an_evaluator_that_always_says_the_same(expected: str) -> None:
    assert sum((refusal(case) == "") == (expected == "allowed") for case in CASES) > 100

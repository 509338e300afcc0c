"""Inline policies of users, groups and roles."""

import json
from typing import Any

import pytest

from .saying import READING, SENDING, document, refused

NOUNS = ["User", "Group", "Role"]


@pytest.fixture(params=NOUNS)
def noun(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def holder(noun: str, user: str, group: str, role: str) -> dict[str, str]:
    return {f"{noun}Name": {"User": user, "Group": group, "Role": role}[noun]}


def test_a_document_comes_back_as_it_was_written(iam: Any, noun: str, holder: dict[str, str]) -> None:
    put, get = getattr(iam, f"put_{noun.lower()}_policy"), getattr(iam, f"get_{noun.lower()}_policy")
    written = document("sqs:SendMessage", resource="arn:aws:sqs:*:*:a+b %2F&<>")
    put(**holder, PolicyName="first", PolicyDocument=json.dumps(written, indent=4))
    found = get(**holder, PolicyName="first")
    assert found["PolicyDocument"] == written
    assert (found["PolicyName"], found[f"{noun}Name"]) == ("first", holder[f"{noun}Name"])
    put(**holder, PolicyName="first", PolicyDocument=READING)
    assert get(**holder, PolicyName="first")["PolicyDocument"] == json.loads(READING)


def test_policies_are_listed_and_deleted(iam: Any, noun: str, holder: dict[str, str]) -> None:
    word = noun.lower()
    for name in ("b", "a"):
        getattr(iam, f"put_{word}_policy")(**holder, PolicyName=name, PolicyDocument=SENDING)
    names = getattr(iam, f"list_{word}_policies")
    assert names(**holder)["PolicyNames"] == ["a", "b"]
    delete = getattr(iam, f"delete_{word}_policy")
    delete(**holder, PolicyName="a")
    assert names(**holder)["PolicyNames"] == ["b"]
    with refused("NoSuchEntity", f"The {word} policy with name a cannot be found."):
        delete(**holder, PolicyName="a")
    with refused("NoSuchEntity", f"The {word} policy with name a cannot be found."):
        getattr(iam, f"get_{word}_policy")(**holder, PolicyName="a")


@pytest.mark.parametrize("bad", ["{", '{"Version": "2012-10-17"', "[]"])
def test_a_document_that_is_none_is_refused_and_nothing_changes(
    iam: Any, noun: str, holder: dict[str, str], bad: str
) -> None:
    with refused("MalformedPolicyDocument"):
        getattr(iam, f"put_{noun.lower()}_policy")(**holder, PolicyName="bad", PolicyDocument=bad)
    assert getattr(iam, f"list_{noun.lower()}_policies")(**holder)["PolicyNames"] == []


def test_all_documents_of_one_together_have_a_most(iam: Any, noun: str, holder: dict[str, str]) -> None:
    most = {"User": 2048, "Group": 5120, "Role": 10240}[noun]
    put = getattr(iam, f"put_{noun.lower()}_policy")
    half = json.dumps(document("sqs:SendMessage", resource=f"arn:aws:sqs:*:*:{'q' * (most // 2)}"))
    put(**holder, PolicyName="half", PolicyDocument=half)
    put(**holder, PolicyName="half", PolicyDocument=half + " " * most)
    name = holder[f"{noun}Name"]
    with refused("LimitExceeded", f"Maximum policy size of {most} bytes exceeded for {noun.lower()} {name}"):
        put(**holder, PolicyName="other", PolicyDocument=half)

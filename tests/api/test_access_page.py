"""The page that explains decisions names every action where the table of rights has it."""

import re
from pathlib import Path

from penstock import registry
from penstock.api.circumstances import FAMILIES, KEYS
from penstock.api.rights import FREE, RIGHTS, Right

PAGE = (Path(__file__).parents[2] / "docs/explain/access.md").read_text()


def named(row: str) -> set[str]:
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {row}")]
    return set(re.findall(r"`((?:sqs|penstock):\w+)`", line))


def rights() -> list[Right]:
    return [right for service in ("sqs", "penstock") for right in RIGHTS[service].values() if right is not FREE]


def test_the_page_says_to_whom_each_action_can_be_given() -> None:
    anonymous = {right.action for right in rights() if right.anonymous}
    shared = {right.action for right in rights() if right.shared}
    assert named("anyone") == anonymous
    assert named("other accounts") | named("anyone") == shared
    assert named("the owner's account only") == {right.action for right in rights() if not right.shared}


def test_operators_operations_have_no_row_of_their_own() -> None:
    own = registry.load(registry.SERVICES["penstock"])
    assert not RIGHTS["penstock"].keys() & own.OPERATORS.keys()


def test_the_page_names_every_key_that_conditions_can_ask_for() -> None:
    told = {key.lower() for key in re.findall(r"`((?:aws|iam):\w+)(?:/…)?`", PAGE)}
    assert {*KEYS, *FAMILIES} <= told

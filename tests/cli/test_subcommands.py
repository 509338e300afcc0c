"""The actions of a command have help with an example each, and complain by their own name."""

import re

import pytest

from penstock.cli import main, parser_of

WITH_ACTIONS = ("user", "group", "key", "policy")


def actions(command: str) -> list[str]:
    found = [action.choices for action in parser_of(command)._actions if isinstance(action.choices, dict)]
    return list(found[0])


@pytest.mark.parametrize(
    "words", [(command, action) for command in WITH_ACTIONS for action in actions(command)], ids=" ".join
)
def test_help_of_an_action_carries_an_example(words: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    said, command = capsys.readouterr().out, " ".join(("penstock", *words))
    assert said.startswith(f"usage: {command} ")
    assert re.search(rf"^examples:\n  {command}\b", said, re.MULTILINE)


@pytest.mark.parametrize("words", [("account", "add", "shop"), ("user", "list", "--nmae", "x"), ("config", "--lisen")])
def test_what_is_not_known_is_complained_of_where_its_help_is(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(list(words)) == 2
    command = " ".join(("penstock", *words[: 1 if words[0] == "config" else 2]))
    unknown = " ".join(words[len(command.split()) - 1 :])
    assert capsys.readouterr().err == f"{command}: unrecognized arguments: {unknown} (see {command} --help)\n"

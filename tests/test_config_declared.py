"""Accounts and queues that the settings file declares."""

from pathlib import Path

import pytest

from penstock.config import Account, ConfigError, DeclaredQueue, Key, Settings, load

SECRET = "0123456789abcdef"


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def settings(toml: str = "", **environ: str) -> Settings:
    Path("penstock.toml").write_text(toml)
    return load({}, environ).settings


def problems(toml: str = "", **environ: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        settings(toml, **environ)
    return caught.value.problems


DEAD = "arn:aws:sqs:us-east-1:111122223333:dead"
ACCOUNTS = """
[[accounts]]
id = "111122223333"
name = "shop"
keys = [{ access_key = "SHOP_ACCESS_KEY_1", secret_key = "0123456789abcdef" }]
[[accounts]]
id = "444455556666"
"""


def test_accounts_have_ids_and_keys() -> None:
    assert settings(ACCOUNTS).accounts == (
        Account("111122223333", (Key("SHOP_ACCESS_KEY_1", SECRET),), "shop"),
        Account("444455556666"),
    )


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ('[[accounts]]\nid = "1"', 'accounts "1": id "1": give 12 digits'),
        ("[[accounts]]\nid = 111122223333", "accounts 1: id 111122223333: give text, in quotes"),
        ('[[accounts]]\nnaem = "x"', "there is no such key; did you mean name?"),
        ('accounts = "x"', "accounts: give an array of tables"),
        ('[[accounts]]\nid = "111122223333"\n[[accounts]]\nid = "111122223333"', "it is there twice"),
        ('[[accounts]]\nid = "111122223333"\nkeys = [{ access_key = "ROOTS_ACCESS_KEY" }]', "it is in use already"),
        (
            '[[accounts]]\nid = "111122223333"\nkeys = [{ access_key = "ANOTHER_ACCESS_KEY" }]',
            "secret_key: it is missing",
        ),
    ],
)
def test_a_wrong_account_is_a_mistake(toml: str, expected: str) -> None:
    found = problems(toml, PENSTOCK_ROOT_ACCESS_KEY="ROOTS_ACCESS_KEY", PENSTOCK_ROOT_SECRET_KEY=SECRET)
    assert any(expected in problem for problem in found), found


def test_a_secret_of_an_account_is_never_repeated() -> None:
    found = problems(
        '[[accounts]]\nid = "111122223333"\nkeys = [{ access_key = "SHOP_ACCESS_KEY_1", secret_key = "hush" }]'
    )
    assert len(found) == 1
    assert "hush" not in found[0]
    assert SECRET not in repr(settings(ACCOUNTS))


def test_declared_queues_get_the_strings_that_a_client_would_send() -> None:
    toml = (
        ACCOUNTS
        + """
    [[queues]]
    name = "orders"
    account = "111122223333"
    tags = { team = "shop", tier = 1 }
    attributes = { VisibilityTimeout = 60, SqsManagedSseEnabled = true, DelaySeconds = "5", RedrivePolicy = \
        { deadLetterTargetArn = "arn:aws:sqs:us-east-1:111122223333:dead", maxReceiveCount = 3 } }
    [[queues]]
    name = "jobs.fifo"
    """
    )
    assert settings(toml).queues == (
        DeclaredQueue(
            "orders",
            "111122223333",
            "us-east-1",
            {
                "VisibilityTimeout": "60",
                "SqsManagedSseEnabled": "true",
                "DelaySeconds": "5",
                "RedrivePolicy": f'{{"deadLetterTargetArn":"{DEAD}","maxReceiveCount":3}}',
            },
            {"team": "shop", "tier": "1"},
        ),
        DeclaredQueue("jobs.fifo", "000000000000", "us-east-1"),
    )


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ("", "name: it is missing"),
        ('name = "a b"', "Can only include alphanumeric characters"),
        ('name = "a"\nattributes = { VisibilityTimeout = 50000 }', 'VisibilityTimeout "50000": Invalid value'),
        ('name = "a"\nattributes = { VisibilityTimeot = 5 }', "did you mean VisibilityTimeout?"),
        ('name = "a"\nattributes = { DelaySeconds = 1.5 }', "give text, a whole number"),
        ('name = "a"\nattributes = { FifoQueue = true }', "must end with .fifo suffix"),
        (
            'name = "a"\nattributes = { RedrivePolicy = { maxReceiveCount = 1 } }',
            "mandatory attribute: deadLetterTargetArn",
        ),
        ('name = "a"\nattributes = { KmsMasterKeyId = "k", SqsManagedSseEnabled = true }', "one type of server-side"),
        (
            'name = "a.fifo"\nattributes = { FifoThroughputLimit = "perMessageGroupId" }',
            "DeduplicationScope is messageGroup",
        ),
        ('name = "a"\naccount = "111122223333"', "nobody has a key for it"),
        ('name = "a"\nregion = "eu-west-1"', "it is not served"),
        ('name = "a"\nvisibility = 5', "visibility: there is no such key"),
        ('name = "a"\n[[queues]]\nname = "a"', "it is there twice"),
    ],
)
def test_a_wrong_queue_is_a_mistake(toml: str, expected: str) -> None:
    found = problems(f"[[queues]]\n{toml}")
    assert any(expected in problem for problem in found), found


def test_every_wrong_attribute_of_a_queue_is_named() -> None:
    toml = '[[queues]]\nname = "a"\nattributes = { DelaySeconds = 901, VisibilityTimeout = -1, Color = "red" }'
    assert len(problems(toml)) == 3


def test_a_declared_queue_is_held_to_the_limits_that_are_set() -> None:
    declared = '[[queues]]\nname = "a"\nattributes = { DelaySeconds = 1800 }'
    assert settings(f"max_delay_seconds = 1800\n{declared}").queues[0].attributes == {"DelaySeconds": "1800"}

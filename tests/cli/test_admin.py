"""`penstock admin` and `penstock account`: what they show, what they ask, and what is gone afterwards."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.account import ACTIONS as ACCOUNT_ACTIONS
from penstock.cli.admin import ACTIONS as ADMIN_ACTIONS
from penstock.cli.admin_queues import HEADS
from server_process import Server

from .conftest import Run

SHOP = "111122223333"
HOWTO = (Path(__file__).parents[2] / "docs" / "howto" / "administer.md").read_text()
Do = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """These tests see every account, so they have a server to themselves; names are free again at once."""
    server = Server(tmp_path_factory.mktemp("admin"), {"PENSTOCK_RECREATE_WAIT_SECONDS": "0"})
    server.start()
    yield server
    server.stop()


@pytest.fixture
def shop(own_server: Server) -> Iterator[Any]:
    """A client of an account that has a queue with two messages, and that is gone after the test."""
    operator = own_server.client("penstock")
    key = operator.create_account(AccountId=SHOP, Title="shop")["RootKey"]
    server = replace(own_server, access_key=key["AccessKeyId"], secret_key=key["SecretAccessKey"])
    sqs = server.client()
    sqs.create_queue(QueueName="orders")
    for body in ("one", "two"):
        sqs.send_message(QueueUrl="orders", MessageBody=body)
    yield sqs
    if SHOP in {one["AccountId"] for one in operator.list_accounts()["Accounts"]}:
        operator.delete_account(AccountId=SHOP, Force=True)


@pytest.fixture
def do(penstock: Run, own_server: Server) -> Do:
    """A command that goes well, as the root account."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        done = penstock(*words, env=own_server.environment)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done

    return run


@pytest.fixture
def answer(own_server: Server, tmp_path: Path) -> Do:
    """The same at a terminal, where somebody types this answer."""

    def run(typed: str, *words: str) -> subprocess.CompletedProcess[str]:
        person, terminal = pty.openpty()
        os.write(person, f"{typed}\n".encode())
        try:
            return subprocess.run(
                [sys.executable, "-m", "penstock", *words],
                cwd=tmp_path,
                env=own_server.environment,
                stdin=terminal,
                capture_output=True,
                text=True,
                timeout=60,
            )
        finally:
            os.close(person)
            os.close(terminal)

    return run


def held(sqs: Any) -> str:
    names = ["ApproximateNumberOfMessages"]
    found: str = sqs.get_queue_attributes(QueueUrl="orders", AttributeNames=names)["Attributes"][names[0]]
    return found


@pytest.mark.parametrize(
    "words",
    [*(("admin", name) for name in ADMIN_ACTIONS), *(("account", name) for name in ACCOUNT_ACTIONS)],
    ids=" ".join,
)
def test_every_action_s_help_carries_an_example(words: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    from penstock.cli import main

    assert main([*words, "--help"]) == 0
    said, command = capsys.readouterr().out, f"penstock {' '.join(words)}"
    assert said.startswith(f"usage: {command} ")
    assert re.search(rf"^examples:\n  {command}\b", said, re.MULTILINE)


def test_queues_are_a_table_with_their_sum(do: Do, shop: Any) -> None:
    shop.receive_message(QueueUrl="orders")
    head, row, sums = do("admin", "queues", "--account", SHOP).stdout.splitlines()
    assert head.split() == " ".join(HEADS).split()
    account, region, name, visible, in_flight, delayed, *size = row.split()[:8]
    assert (account, region, name) == (SHOP, "us-east-1", "orders")
    assert (visible, in_flight, delayed, size) == ("1", "1", "0", ["6", "B"])
    assert all(re.fullmatch(r"\d+[sm]", cell) for cell in row.split()[8:])
    assert sums.startswith("1 queue, 2 messages, 6 B. Times are ago; - is not since the server was started, ")


@pytest.mark.parametrize(("order", "first"), [("name", "a"), ("depth", "orders"), ("age", "orders"), ("use", "a")])
def test_queues_are_sorted_by_what_one_looks_for(do: Do, shop: Any, order: str, first: str) -> None:
    shop.create_queue(QueueName="a")
    found = json.loads(do("admin", "queues", "--account", SHOP, "--sort", order, "--json").stdout)
    other = {"a": "orders", "orders": "a"}[first]
    assert [queue["QueueName"] for queue in found] == [first, other]


def test_queues_are_listed_by_account_region_and_prefix(do: Do, shop: Any, own_server: Server) -> None:
    own_server.client().create_queue(QueueName="mine")
    for words, names in (
        ((), ["mine", "orders"]),
        (("--account", "all"), ["mine", "orders"]),
        (("--account", SHOP), ["orders"]),
        (("--prefix", "mi"), ["mine"]),
        (("--region", "us-east-1"), ["mine", "orders"]),
    ):
        found = json.loads(do("admin", "queues", "--json", *words).stdout)
        assert sorted(queue["QueueName"] for queue in found) == names
    assert do("admin", "queues", "--account", "999999999999").stdout == "There is no such queue.\n"


@pytest.mark.parametrize(
    "queue", [f"{SHOP}/orders", f"arn:aws:sqs:us-east-1:{SHOP}:orders", f"http://any/{SHOP}/orders"]
)
def test_a_dry_run_shows_what_would_go_and_a_purge_does_it(do: Do, shop: Any, queue: str) -> None:
    shown = do("admin", "purge-queue", queue, "--dry-run").stdout
    assert f"arn:aws:sqs:us-east-1:{SHOP}:orders (2 messages, 6 B, last sent " in shown
    assert held(shop) == "2"
    assert do("admin", "purge-queue", queue, "--yes").stdout.endswith(": was purged\n")
    assert held(shop) == "0"


def test_a_queue_is_deleted_once_somebody_says_yes(do: Do, answer: Do, shop: Any) -> None:
    words = ("admin", "delete-queue", "orders", "--account", SHOP)
    refused = answer("n", *words)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "2 messages" in refused.stderr
    assert refused.stderr.endswith("Delete this queue? [y/N] penstock: nothing was deleted\n")
    assert held(shop) == "2"
    done = answer("yes", *words, "--json")
    assert (done.returncode, json.loads(done.stdout)["Deleted"]) == (0, True)
    assert "QueueUrls" not in shop.list_queues()


@pytest.mark.parametrize(
    "words",
    [
        ("admin", "purge-queue", f"{SHOP}/orders"),
        ("admin", "delete-queue", f"{SHOP}/orders"),
        ("admin", "delete-account", SHOP),
        ("account", "remove", SHOP),
        ("account", "rotate-key", SHOP),
    ],
    ids=" ".join,
)
def test_where_nobody_can_be_asked_nothing_is_taken_away(
    penstock: Run, own_server: Server, shop: Any, words: tuple[str, ...]
) -> None:
    done = penstock(*words, env=own_server.environment)
    said = "penstock: nobody is here to be asked: give --yes, or --dry-run to look first\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
    assert held(shop) == "2"


def test_messages_of_another_account_are_peeked_at(do: Do, shop: Any) -> None:
    rows = do("admin", "peek", f"{SHOP}/orders").stdout.splitlines()
    assert [row.split()[-1] for row in rows] == ["BODY", "one", "two"]
    (first,) = json.loads(do("admin", "peek", f"{SHOP}/orders", "-n", "1", "--json").stdout)
    assert first["Body"] == "one"


def test_a_queue_needs_an_owner(penstock: Run, own_server: Server) -> None:
    done = penstock("admin", "peek", "orders", env=own_server.environment)
    said = "penstock: orders: say whose queue it is: an ARN, a URL, ACCOUNT/NAME, or --account\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_a_running_move_is_shown_and_ended(do: Do, shop: Any, penstock: Run, own_server: Server) -> None:
    dead = f"arn:aws:sqs:us-east-1:{SHOP}:dead"
    shop.create_queue(QueueName="dead")
    policy = json.dumps({"deadLetterTargetArn": dead, "maxReceiveCount": 1})
    shop.set_queue_attributes(QueueUrl="orders", Attributes={"RedrivePolicy": policy})
    for _ in range(60):  # at one a second they outlast every command below
        entries = [{"Id": str(number), "MessageBody": "m"} for number in range(10)]
        shop.send_message_batch(QueueUrl="dead", Entries=entries)
    shop.start_message_move_task(
        SourceArn=dead, DestinationArn=f"arn:aws:sqs:us-east-1:{SHOP}:orders", MaxNumberOfMessagesPerSecond=1
    )
    head, row = do("admin", "moves").stdout.splitlines()
    assert head.split() == ["TASK", "STATUS", "FROM", "TO", "MOVED", "OF", "RATE", "STARTED"]
    task, status, source, target, *_ = row.split()
    assert (status, source, target) == ("RUNNING", f"{SHOP}/dead", f"{SHOP}/orders")
    assert task in do("admin", "cancel-move", task, "--dry-run").stdout
    assert json.loads(do("admin", "moves", "--account", SHOP, "--json").stdout)[0]["Status"] == "RUNNING"
    assert do("admin", "cancel-move", task, "--yes").stdout.startswith(f"{task}: ends, ")
    (last,) = json.loads(do("admin", "moves", "--of", dead, "--json").stdout)
    assert last["Status"] in ("CANCELLING", "CANCELLED")
    unknown = penstock("admin", "cancel-move", "x", "--yes", env=own_server.environment)
    assert unknown.stderr == "penstock: no move task x is running; see penstock admin moves\n"


def exported(text: str) -> dict[str, str]:
    return dict(re.findall(r"^  export (AWS_\w+)=(\S+)$", text, re.MULTILINE))


def test_the_key_of_a_new_account_is_shown_so_that_a_shell_can_use_it(
    do: Do, penstock: Run, own_server: Server
) -> None:
    said = do("account", "add", "--id", SHOP, "--title", "shop", "--max-queues", "1").stdout
    assert said.startswith(f"Account {SHOP} is made. ")
    assert said.endswith("The secret is not shown again.\n")
    env = own_server.environment | exported(said)
    assert penstock("sqs", "create-queue", "--queue-name", "one", env=env).returncode == 0
    second = penstock("sqs", "create-queue", "--queue-name", "two", env=env)
    assert second.stderr.startswith("An error occurred (LimitExceeded)")
    assert f"{SHOP}  shop   made         1      1" in do("account", "list").stdout
    assert do("account", "quota", SHOP, "none").stdout.splitlines()[1].split()[4] == "none"
    assert penstock("sqs", "create-queue", "--queue-name", "two", env=env).returncode == 0
    rotated = exported(do("account", "rotate-key", SHOP, "--yes").stdout)
    assert penstock("sqs", "list-queues", env=env).stderr.startswith("An error occurred (InvalidClientTokenId)")
    assert penstock("sqs", "list-queues", env=env | rotated).returncode == 0
    do("account", "remove", SHOP, "--yes")


def test_an_account_goes_with_all_that_was_shown(do: Do, answer: Do, shop: Any, own_server: Server) -> None:
    shown = do("account", "remove", SHOP, "--dry-run").stdout.splitlines()
    assert shown[0] == f"Account {SHOP} (shop): 1 queue with 2 messages (6 B), 1 key"
    assert shown[1].startswith(f"  arn:aws:sqs:us-east-1:{SHOP}:orders (2 messages, ")
    kept = answer("", "admin", "delete-account", SHOP)
    assert (kept.returncode, kept.stderr.splitlines()[0]) == (1, shown[0])
    assert held(shop) == "2"
    done = answer("y", "admin", "delete-account", SHOP)
    assert (done.returncode, done.stdout) == (0, f"{shown[0]}: deleted\n")
    assert SHOP not in {one["AccountId"] for one in own_server.client("penstock").list_accounts()["Accounts"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("account", "quota", SHOP, "-1"), "give a whole number"),
        (("account", "quota", SHOP, "99999999999"), "give a whole number"),
        (("admin", "peek", "x", "-n", "0"), "give a whole number"),
        (("admin", "queues", "--sort", "luck"), "invalid choice"),
        (("admin",), "ACTION"),
        (("account", "remove"), "ACCOUNT"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(penstock: Run, words: tuple[str, ...], said: str) -> None:
    done = penstock(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_somebody_who_is_no_operator_is_told_in_the_server_s_words(
    shop: Any, penstock: Run, own_server: Server
) -> None:
    key = shop._request_signer._credentials
    env = own_server.environment | {"AWS_ACCESS_KEY_ID": key.access_key, "AWS_SECRET_ACCESS_KEY": key.secret_key}
    done = penstock("admin", "queues", env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("An error occurred (AccessDenied) when calling the ListAllQueues operation: ")


def test_the_how_to_works_from_beginning_to_end(own_server: Server, tmp_path: Path) -> None:
    """In one shell that ends at the first command that fails. The operator has a queue `orders`."""
    own_server.client().create_queue(QueueName="orders")
    commands = "".join(re.findall(r"```sh\n(.*?)```", HOWTO, re.DOTALL))
    env = own_server.environment | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-ec", commands], env=env, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "arn:aws:sqs:us-east-1:000000000000:orders (0 messages, 0 B" in done.stdout
    assert "There is no such move task." in done.stdout
    (program,) = re.findall(r"```python\n(.*?)```", HOWTO, re.DOTALL)
    told = subprocess.run([sys.executable, "-c", program], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (0, "")
    assert re.match(r"\d{12} AKIA", told.stdout)
    own_server.client("penstock").delete_account(AccountId=SHOP, Force=True)

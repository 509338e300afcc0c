"""`penstock user`, `group`, `key` and `policy`, as processes of their own against a running server."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from server_process import Server

from .conftest import Run

HOWTO = Path(__file__).parents[2] / "docs" / "howto" / "people.md"
SHELL = re.findall(r"```sh\n(.*?)```", HOWTO.read_text(), re.DOTALL)
ORDERS = "arn:aws:sqs:us-east-1:000000000000:orders"

Ask = Callable[..., str]


@pytest.fixture
def ask(penstock: Run, server: Server) -> Ask:
    """`ask("user", "list")`: what the command prints, which must have nothing to complain of."""

    def ask(*words: str) -> str:
        done = penstock(*words, env=server.environment)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return ask


@pytest.fixture
def refuse(penstock: Run, server: Server) -> Ask:
    """`refuse("user", "add", "x y")`: the one line that it says instead of doing it."""

    def refuse(*words: str) -> str:
        done = penstock(*words, env=server.environment)
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        return line

    return refuse


@pytest.fixture
def iam(server: Server) -> Any:
    return server.client("iam")


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """Of a user or group that no other test has."""
    return request.node.name.partition("[")[0].removeprefix("test_")[:60].replace("_", "-")


@pytest.fixture
def user(iam: Any, name: str) -> str:
    iam.create_user(UserName=name)
    return name


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that nobody else uses."""
    server = Server(tmp_path_factory.mktemp("people"))
    server.start()
    yield server
    server.stop()


def test_the_how_to_works_as_it_is_written(fresh: Server, tmp_path: Path) -> None:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-eu", "-c", "\n".join(SHELL)],
        cwd=tmp_path,
        env=fresh.environment | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for said in (
        "arn:aws:iam::000000000000:user/anna was made, in senders.",
        "group senders may now send orders: policy allow-send-orders.",
        "sqs:PurgeQueue  denied    user_anna_deny-purge-+",
        "The group senders was removed.",
    ):
        assert said in done.stdout
    assert fresh.client("iam").list_users()["Users"] == []


def test_a_user_is_made_with_its_groups_and_a_key_that_works(ask: Ask, iam: Any, server: Server, name: str) -> None:
    iam.create_group(GroupName=name)
    made = json.loads(ask("user", "add", name, "--group", name, "--key", "--json"))
    assert made["Arn"] == f"arn:aws:iam::000000000000:user/{name}"
    assert [group["GroupName"] for group in iam.list_groups_for_user(UserName=name)["Groups"]] == [name]
    key = made["AccessKey"]
    of_user = Server(server.folder, access_key=key["AccessKeyId"], secret_key=key["SecretAccessKey"], url=server.url)
    assert of_user.client("sts").get_caller_identity()["Arn"] == made["Arn"]


def test_a_user_with_a_group_that_is_not_there_is_not_made(refuse: Ask, iam: Any, name: str) -> None:
    assert "NoSuchEntity" in refuse("user", "add", name, "--group", "never-made")
    assert name not in {user["UserName"] for user in iam.list_users()["Users"]}


def test_a_user_that_is_there_is_the_server_s_error(refuse: Ask, user: str) -> None:
    assert refuse("user", "add", user).startswith("An error occurred (EntityAlreadyExists)")


def test_users_are_listed_with_groups_and_keys(ask: Ask, iam: Any, user: str) -> None:
    iam.create_group(GroupName=user)
    iam.add_user_to_group(UserName=user, GroupName=user)
    iam.create_access_key(UserName=user)
    off = iam.create_access_key(UserName=user)["AccessKey"]["AccessKeyId"]
    iam.update_access_key(UserName=user, AccessKeyId=off, Status="Inactive")
    (line,) = [line for line in ask("user", "list").splitlines() if line.startswith(user)]
    assert re.split(r"\s{2,}", line)[:3] == [user, user, "1, 1 inactive"]


def test_a_user_goes_with_everything_it_has(ask: Ask, iam: Any, user: str) -> None:
    document = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]})
    iam.create_group(GroupName=user)
    iam.add_user_to_group(UserName=user, GroupName=user)
    key = iam.create_access_key(UserName=user)["AccessKey"]["AccessKeyId"]
    iam.put_user_policy(UserName=user, PolicyName="own", PolicyDocument=document)
    arn = iam.create_policy(PolicyName=user, PolicyDocument=document)["Policy"]["Arn"]
    iam.attach_user_policy(UserName=user, PolicyArn=arn)
    told = ask("user", "remove", user, "--dry-run").splitlines()
    assert told == [
        f"user {user}",
        f"  keys: {key}",
        f"  groups: {user}",
        "  own policies: own",
        f"  attached policies: {user}",
    ]
    assert iam.get_user(UserName=user)["User"]["UserName"] == user
    assert ask("user", "remove", user, "--yes") == f"The user {user} was removed.\n"
    with pytest.raises(iam.exceptions.NoSuchEntityException):
        iam.get_user(UserName=user)
    assert iam.get_policy(PolicyArn=arn)["Policy"]["AttachmentCount"] == 0


@pytest.mark.parametrize("words", [("user", "remove"), ("group", "remove")], ids=" ".join)
def test_nothing_is_removed_when_nobody_can_be_asked(refuse: Ask, iam: Any, words: tuple[str, str], name: str) -> None:
    name = f"{name}-{words[0]}"
    getattr(iam, f"create_{words[0]}")(**{f"{words[0].capitalize()}Name": name})
    assert refuse(*words, name).startswith("penstock: nobody is here to be asked")
    assert getattr(iam, f"get_{words[0]}")(**{f"{words[0].capitalize()}Name": name})


def test_a_group_goes_and_its_users_stay(ask: Ask, iam: Any, user: str) -> None:
    ask("group", "add", user)
    ask("user", "join", user, user)
    ask("policy", "allow", f"group/{user}", "send", "orders")
    (line,) = [line for line in ask("group", "list").splitlines() if line.startswith(user)]
    assert re.split(r"\s{2,}", line)[:3] == [user, user, "allow-send-orders"]
    ask("group", "remove", user, "--yes")
    assert iam.list_groups_for_user(UserName=user)["Groups"] == []


def test_a_key_is_switched_off_on_and_removed(ask: Ask, refuse: Ask, iam: Any, user: str) -> None:
    key = json.loads(ask("key", "add", user, "--json"))
    assert len(key["SecretAccessKey"]) >= 40

    def listed() -> str:
        return ask("key", "list", user)

    assert key["SecretAccessKey"] not in listed()
    ask("key", "deactivate", key["AccessKeyId"])
    assert "Inactive" in listed()
    ask("key", "activate", key["AccessKeyId"])
    assert "Inactive" not in listed()
    ask("key", "remove", key["AccessKeyId"], "--yes")
    assert listed() == "There is no key.\n"
    assert refuse("key", "remove", key["AccessKeyId"], "--yes")


def test_what_is_allowed_is_a_policy_of_its_own_and_twice_is_once(ask: Ask, iam: Any, user: str) -> None:
    for _ in range(2):
        said = ask("policy", "allow", user, "send", "orders")
    assert said == f"user {user} may now send orders: policy allow-send-orders.\n"
    (policy,) = iam.list_user_policies(UserName=user)["PolicyNames"]
    (statement,) = iam.get_user_policy(UserName=user, PolicyName=policy)["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Resource"]) == ("Allow", ORDERS)


def test_a_user_may_do_what_it_was_allowed_and_nothing_else(ask: Ask, server: Server, user: str) -> None:
    server.client().create_queue(QueueName=user)
    server.client().create_queue(QueueName=f"not-{user}"[:80])
    ask("policy", "allow", user, "send", user)
    ask("policy", "allow", user, "list", "*")
    key = json.loads(ask("key", "add", user, "--json"))
    sqs = Server(
        server.folder, access_key=key["AccessKeyId"], secret_key=key["SecretAccessKey"], url=server.url
    ).client()
    url = sqs.get_queue_url(QueueName=user)["QueueUrl"]
    assert url in sqs.list_queues()["QueueUrls"]
    assert sqs.send_message(QueueUrl=url, MessageBody="hello")["MessageId"]
    for call, request in (
        (sqs.send_message, {"QueueUrl": url.replace(user, f"not-{user}"[:80]), "MessageBody": "hello"}),
        (sqs.receive_message, {"QueueUrl": url}),
        (sqs.create_queue, {"QueueName": "another"}),
    ):
        with pytest.raises(ClientError, match="AccessDenied"):
            call(**request)
    ask("policy", "deny", user, "send", "*")
    with pytest.raises(ClientError, match="explicit deny"):
        sqs.send_message(QueueUrl=url, MessageBody="hello")


def test_why_names_the_policy_that_decides(ask: Ask, user: str) -> None:
    def why(what: str) -> list[str]:
        _, *lines = ask("policy", "why", user, what, "orders").splitlines()
        return [re.split(r"\s{2,}", line)[1] for line in lines]

    assert why("send") == ["denied: nothing allows it"]
    ask("policy", "allow", user, "send", "ord*")
    assert why("send") == ["allowed"]
    ask("policy", "deny", user, "send", "orders")
    assert why("send") == ["denied"]
    assert f"user_{user}_deny-send-orders" in ask("policy", "why", user, "send", "orders")
    assert why("receive") == ["denied: nothing allows it"] * 3


def test_why_hears_the_queue_s_own_policy(ask: Ask, server: Server, iam: Any, user: str) -> None:
    sqs, arn = server.client(), f"arn:aws:sqs:us-east-1:000000000000:{user}"
    url = sqs.create_queue(QueueName=user)["QueueUrl"]
    who = {"AWS": f"arn:aws:iam::000000000000:user/{user}"}

    def why(holder: str, effect: str = "", principal: Any = who) -> str:
        statement = {"Effect": effect, "Principal": principal, "Action": "sqs:SendMessage", "Resource": arn}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": document if effect else ""})
        _, line = ask("policy", "why", holder, "send", user).splitlines()
        return line.partition("  ")[2].strip()

    assert why(user) == "denied: nothing allows it  -"
    assert re.fullmatch(r"allowed +the queue's policy", why(user, "Allow"))
    ask("policy", "allow", user, "send", user)
    assert re.fullmatch(r"denied +the queue's policy", why(user, "Deny", "*"))
    trust = {"Effect": "Allow", "Principal": who, "Action": "sts:AssumeRole"}
    role = iam.create_role(
        RoleName=user, AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    )["Role"]["Arn"]
    assert re.fullmatch(r"allowed +the queue's policy", why(f"role/{user}", "Allow", {"AWS": role}))


def test_why_says_when_the_queue_s_policy_is_left_out(penstock: Run, server: Server, iam: Any, user: str) -> None:
    url = server.client().create_queue(QueueName=user)["QueueUrl"]
    server.client().add_permission(
        QueueUrl=url, Label="l", AWSAccountIds=["000000000000"], Actions=["SendMessage"]
    )  # fmt: skip
    iam.create_group(GroupName=user)
    document = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "iam:*", "Resource": "*"}]}
    iam.put_group_policy(GroupName=user, PolicyName="iam", PolicyDocument=json.dumps(document))
    key = iam.create_access_key(UserName=user)["AccessKey"]
    iam.add_user_to_group(GroupName=user, UserName=user)
    own = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
    for environment, holder, reason in (
        (server.environment | own, user, "these credentials may not read it"),
        (server.environment, f"group/{user}", "a queue is used by members of a group, not by the group"),
    ):
        done = penstock("policy", "why", holder, "send", user, env=environment)
        assert (done.returncode, done.stderr) == (0, f"penstock: the policy of the queue is left out: {reason}\n")
        assert "denied: nothing allows it" in done.stdout


def test_policies_of_groups_and_attached_ones_are_listed_where_they_come_from(ask: Ask, iam: Any, user: str) -> None:
    condition = {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}
    statement = {"Effect": "Allow", "NotAction": "sqs:PurgeQueue", "Resource": "*", "Condition": condition}
    document = json.dumps({"Version": "2012-10-17", "Statement": statement})
    arn = iam.create_policy(PolicyName=user, PolicyDocument=document)["Policy"]["Arn"]
    iam.attach_user_policy(UserName=user, PolicyArn=arn)
    iam.create_group(GroupName=user)
    iam.add_user_to_group(UserName=user, GroupName=user)
    ask("policy", "deny", f"group/{user}", "purge", "orders")
    head, *lines = ask("policy", "list", user).splitlines()
    assert head.split() == ["FROM", "POLICY", "EFFECT", "ACTIONS", "ON", "IF"]
    rows = [re.split(r"\s{2,}", line) for line in lines]
    assert rows == [
        [f"user {user}, attached", user, "Allow", "all but sqs:PurgeQueue", "*", "IpAddress aws:SourceIp=10.0.0.0/8"],
        [f"group {user}", "deny-purge-orders", "Deny", "sqs:PurgeQueue", ORDERS, "-"],
    ]


def test_a_grant_is_taken_back_by_its_words_or_its_name(ask: Ask, refuse: Ask, iam: Any, user: str) -> None:
    ask("policy", "allow", user, "send", "orders")
    ask("policy", "deny", user, "send", "orders")
    ask("policy", "allow", user, "receive", "orders")
    assert ask("policy", "remove", user, "send", "orders").endswith("has allow-send-orders, deny-send-orders.\n")
    assert refuse("policy", "remove", user, "send", "orders").endswith("it has: allow-receive-orders")
    ask("policy", "remove", user, "allow-receive-orders")
    assert ask("policy", "list", user) == f"user {user} has no policy.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("policy", "allow", "anna", "sned", "orders"), "penstock: sned is nothing that one does with a queue"),
        (("policy", "allow", "queue/x", "send", "orders"), "penstock: queue/x is no one"),
        (("policy", "list", "never-made"), "An error occurred (NoSuchEntity)"),
        (("key", "add", "never-made"), "An error occurred (NoSuchEntity)"),
        (("user", "join", "never-made", "neither"), "An error occurred (NoSuchEntity)"),
        (("group", "remove", "never-made", "--yes"), "An error occurred (NoSuchEntity)"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else None,
)
def test_a_mistake_is_one_line(refuse: Ask, words: tuple[str, ...], said: str) -> None:
    assert refuse(*words).startswith(said)

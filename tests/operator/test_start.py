"""The first start, later starts, and starts that must not happen."""

import re
import socket
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from operating import Start, refusal, run

from server_process import Server, clean_environment

MADE_HERE = {"root_access_key": "", "root_secret_key": ""}
PROGRAM = "import boto3; print(boto3.client('sqs').create_queue(QueueName='orders')['QueueUrl'])"


def exports(server: Server) -> list[str]:
    return [line for line in server.output().splitlines() if line.startswith("  export ")]


def test_the_lines_of_the_first_start_can_be_pasted(start: Start) -> None:
    server = start(**MADE_HERE)
    assert [line.split("=")[0].split()[1] for line in exports(server)][:4] == [
        "AWS_ENDPOINT_URL",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_REGION",
    ]
    assert re.search(r"^  aws sqs create-queue --queue-name orders", server.output(), re.MULTILINE)
    pasted = "\n".join([*exports(server), f'{sys.executable} -c "{PROGRAM}"'])
    done = subprocess.run(["bash", "-c", pasted], env=clean_environment(), capture_output=True, text=True, check=False)
    assert done.stdout == f"{server.url}/000000000000/orders\n", done.stderr


def test_a_secret_is_printed_once_and_kept_for_its_owner_alone(start: Start) -> None:
    server = start(**MADE_HERE)
    file = server.data / "credentials"
    found = dict(re.findall(r"^aws_(\w+) = (\S+)$", file.read_text(), re.MULTILINE))
    assert server.output().count(found["secret_access_key"]) == 1
    assert str(file) in server.output()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (server.data, *server.data.iterdir())}
    assert {modes.pop(folder) for folder in ("data", "journal", "audit")} == {0o700}
    assert modes.pop("credentials") == 0o600
    modes = {name: mode for name, mode in modes.items() if not name.endswith(".lock")}
    assert set(modes.values()) == {0o600}
    assert server.stop() == 0
    server.start()
    assert (found["secret_access_key"] in server.output(), exports(server)) == (False, [])
    assert str(file) in server.output()
    same = replace(server, access_key=found["access_key_id"], secret_key=found["secret_access_key"])
    assert same.client("sts").get_caller_identity()["Account"] == "000000000000"


def test_a_secret_that_was_given_is_not_printed(start: Start) -> None:
    server = start()
    assert server.secret_key not in server.output()
    assert stat.S_IMODE((server.data / "credentials").stat().st_mode) == 0o600


def test_every_mistake_in_the_settings_is_named_at_once(tmp_path: Path) -> None:
    toml = """
        regoin = "eu-west-1"
        purge_wait_seconds = "soon"
        [[accounts]]
        id = "12"
        keys = [{ access_key = "SHOP_ACCESS_KEY_1", secret_key = "short" }]
        [[queues]]
        name = "or ders"
        attributes = { VisibilityTimeout = "long", Colour = "red" }
    """
    said = "\n".join(refusal(tmp_path, toml, auth="maybe", listen="here"))
    for part in (
        'regoin (penstock.toml): there is no such setting; did you mean region',
        'purge_wait_seconds "soon" (penstock.toml)',
        'auth "maybe" (environment PENSTOCK_AUTH)',
        'listen "here" (environment PENSTOCK_LISTEN)',
        'id "12"',
        "secret_key",
        'name "or ders"',
        'VisibilityTimeout "long"',
        'Colour "red"',
    ):  # fmt: skip
        assert part in said
    assert "short" not in said
    assert not (tmp_path / "data").exists()


def test_a_second_server_on_the_same_data_is_refused(start: Start) -> None:
    server = start()
    (line,) = refusal(server.folder)
    assert line.startswith("penstock: ")
    assert "in use by another Penstock" in line
    server.client().create_queue(QueueName="undisturbed")


def test_a_port_that_is_taken_is_one_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (line,) = refusal(tmp_path, listen=f"127.0.0.1:{port}")
    assert line == (
        f"penstock: cannot listen on 127.0.0.1 port {port}: Address already in use; stop what listens there, "
        "or listen elsewhere"
    )


def test_data_that_cannot_be_used_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    assert refusal(tmp_path) == [
        "penstock: the data directory data cannot be made: it is a file; give another with --data"
    ]


def test_data_of_a_newer_penstock_are_refused_and_not_touched(start: Start) -> None:
    server = start()
    assert server.stop() == 0
    apsw.Connection(str(server.data / "penstock.db")).execute("PRAGMA user_version = 999")
    before = (server.data / "penstock.db").read_bytes()
    (line,) = refusal(server.folder)
    assert "its schema is version 999" in line
    assert (server.data / "penstock.db").read_bytes() == before


def test_the_waits_that_annoy_developers_can_be_turned_off(start: Start) -> None:
    sqs = start(purge_wait_seconds="0", recreate_wait_seconds="0").client()
    for _ in range(2):
        sqs.create_queue(QueueName="again")
        sqs.purge_queue(QueueUrl="again")
        sqs.purge_queue(QueueUrl="again")
        sqs.delete_queue(QueueUrl="again")


@pytest.mark.parametrize("words", [("--tls-certificate", "none.pem", "--tls-key", "none.pem"), ("--store", "tape://")])
def test_flags_that_point_to_nothing_are_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(tmp_path, "serve", *words)
    assert done.returncode == 1
    assert f"flag {words[0]}" in done.stderr


def test_a_journal_that_cannot_be_written_stops_the_start(tmp_path: Path) -> None:
    said = refusal(tmp_path, store="memory://", journal_directory="/proc/nowhere/journal")
    assert said == ["penstock: /proc/nowhere: No such file or directory"]

"""`penstock metrics`, and the same from boto3 as the how-to has it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.metrics import table
from server_process import Server

from .conftest import Run

HOWTO = (Path(__file__).parents[2] / "docs" / "howto" / "monitor.md").read_text()


@pytest.fixture
def queue(server: Server, request: pytest.FixtureRequest) -> str:
    """A queue to which two messages were sent."""
    name, sqs = request.node.name[-80:], server.client()
    sqs.create_queue(QueueName=name)
    entries = [{"Id": str(number), "MessageBody": "m" * number} for number in (1, 9)]
    sqs.send_message_batch(QueueUrl=name, Entries=entries)
    return name


def window(**given: object) -> dict[str, object]:
    return {"Account": "000000000000", "QueueName": "q", "StartTime": 0, "Partial": False, "Metrics": {}} | given


def one(number: int) -> dict[str, int]:
    return {"SampleCount": 2, "Sum": 2 * number, "Minimum": number, "Maximum": number}


def test_a_table_has_what_was_counted(penstock: Run, server: Server, queue: str) -> None:
    done = penstock("metrics", queue, "--period", "86400", env=server.environment)
    assert (done.returncode, done.stderr) == (0, "")
    head, row, note = done.stdout.splitlines()
    assert head.split()[:3] == ["BEGIN", "QUEUE", "SENT"]
    _, time, name, sent, received, deleted, empty, size, *_ = row.split()
    assert (time, name) == ("00:00Z*", queue)
    assert (sent, received, deleted, empty, size) == ("2", "-", "-", "-", "10")
    assert note.startswith("* a part is missing")


def test_json_has_every_statistic(penstock: Run, server: Server, queue: str) -> None:
    done = penstock("metrics", queue, "--period", "86400", "--json", env=server.environment)
    (found,) = json.loads(done.stdout)
    assert found["Metrics"]["SentMessageSize"] == {"SampleCount": 2, "Sum": 10, "Minimum": 1, "Maximum": 9}
    assert found["Partial"] is True


def test_without_a_name_all_queues_are_shown(penstock: Run, server: Server, queue: str) -> None:
    assert queue in penstock("metrics", env=server.environment).stdout
    assert queue in penstock("metrics", "--account", "*", env=server.environment).stdout
    elsewhere = penstock("metrics", "--account", "999999999999", env=server.environment)
    assert elsewhere.stdout == "Nothing was counted in this time.\n"


def test_a_queue_that_never_was_is_the_server_s_error(penstock: Run, server: Server) -> None:
    done = penstock("metrics", "nowhere", env=server.environment)
    assert done.returncode == 1
    assert done.stderr.startswith("An error occurred (")


@pytest.mark.parametrize(
    ("option", "value", "right"), [("--period", "90", "multiple of 60"), ("--since", "1 week", "15m, 2h")]
)
def test_a_wrong_option_is_told_what_is_right(penstock: Run, option: str, value: str, right: str) -> None:
    done = penstock("metrics", option, value)
    assert done.returncode == 2
    assert right in done.stderr


def test_a_line_says_most_with_one_number_of_each_metric() -> None:
    metrics = {"NumberOfMessagesSent": one(1), "ApproximateNumberOfMessagesVisible": one(7)}
    _, line = table([window(Metrics=metrics)])
    assert line.split() == ["1970-01-01", "00:00Z", "q", "2", "-", "-", "-", "-", "7", "-", "-", "-"]


def test_accounts_are_told_apart_where_there_are_several() -> None:
    head, *_ = table([window(), window(Account="111122223333")])
    assert "ACCOUNT" in head
    assert all("ACCOUNT" not in line for line in table([window()]))


def test_the_how_to_works_with_plain_boto3(server: Server, queue: str) -> None:
    program = re.findall(r"```python\n(.*?)```", HOWTO, re.DOTALL)[0]
    done = subprocess.run([sys.executable, "-c", program], env=server.environment, capture_output=True, text=True)
    assert re.search(rf"^{queue} \d+ (True|False) 2$", done.stdout, re.MULTILINE), done.stderr

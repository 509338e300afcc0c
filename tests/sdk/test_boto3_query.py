"""The last boto3 that speaks Query to SQS, in an environment of its own, is told the same as the current one."""

import json
import subprocess
from typing import Any

import pytest

from server_process import Server

from . import scenario
from .conftest import program
from .scenario import STORIES, Facts


@pytest.fixture(scope="module")
def old(server: Server) -> Any:
    command = [str(program("boto3-1.28", "python")), scenario.__file__, "old-"]
    done = subprocess.run(command, env=server.environment, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_old_boto3_speaks_query(old: Any) -> None:
    assert old["boto3"].startswith("1.28.")
    assert old["protocol"] == "query"


@pytest.mark.parametrize("story", [story.__name__ for story in STORIES])
def test_both_sdks_are_told_the_same(old: Any, told: dict[str, Facts], story: str) -> None:
    assert old["told"][story] == told[story]

"""Real clients: the current boto3 in this process, older and other ones in environments that `make sdk-envs` makes."""

import os
from pathlib import Path
from typing import Any

import pytest

from server_process import Server

from . import scenario
from .scenario import Facts

ENVIRONMENTS = Path(__file__).parents[2] / ".venvs"


def program(environment: str, name: str) -> Path:
    """A program of another SDK's environment."""
    path = ENVIRONMENTS / environment / "bin" / name
    if not path.exists() and "CI" not in os.environ:
        pytest.skip("run `make sdk-envs`")
    return path


@pytest.fixture(scope="session")
def used() -> set[str]:
    """The actions that were called with `sqs`."""
    return set()


@pytest.fixture(scope="session")
def sqs(server: Server, used: set[str]) -> Any:
    client = server.client()
    client.meta.events.register("before-call.sqs", lambda model, **_: used.add(model.name))
    return client


@pytest.fixture(scope="session")
def told(sqs: Any) -> dict[str, Facts]:
    """The scenario, by the current boto3."""
    return scenario.tell_all(sqs, "current-")

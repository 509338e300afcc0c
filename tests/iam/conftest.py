"""A client of IAM for the root account of the shared server, and names that no other test has."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from server_process import Server

from .saying import SENDING, TRUST

Fresh = Callable[[str], str]

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def iam(server: Server) -> Any:
    return server.client("iam")


@pytest.fixture
def fresh() -> Fresh:
    return lambda word: f"{word}-{next(_numbers)}"


@pytest.fixture
def user(iam: Any, fresh: Fresh) -> str:
    name = fresh("user")
    iam.create_user(UserName=name)
    return name


@pytest.fixture
def group(iam: Any, fresh: Fresh) -> str:
    name = fresh("group")
    iam.create_group(GroupName=name)
    return name


@pytest.fixture
def role(iam: Any, fresh: Fresh) -> str:
    name = fresh("role")
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)
    return name


@pytest.fixture
def policy(iam: Any, fresh: Fresh) -> str:
    """The ARN of a managed policy."""
    arn: str = iam.create_policy(PolicyName=fresh("policy"), PolicyDocument=SENDING)["Policy"]["Arn"]
    return arn


@pytest.fixture
def by_key(server: Server) -> Callable[[dict[str, str], str], Any]:
    """A client of a service, with an access key as CreateAccessKey gives it."""

    def client(key: dict[str, str], service: str = "sts") -> Any:
        return replace(server, access_key=key["AccessKeyId"], secret_key=key["SecretAccessKey"]).client(service)

    return client

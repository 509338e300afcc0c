"""Clients for whichever server the person means: Penstock here, Penstock elsewhere, or Amazon.

Where: --endpoint-url, AWS_ENDPOINT_URL, or this machine. Who: AWS_* variables, the credentials file that the server
keeps in its data directory, or else whatever AWS tools are set up with on this machine.
"""

import argparse
import configparser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    EndpointConnectionError,
    NoCredentialsError,
    PartialCredentialsError,
    SSLError,
)

import penstock.aws
from penstock.cli.parser import CommandError, Parser, Refusal
from penstock.config import environment

MODELS = Path(penstock.aws.__file__).with_name("models")
HERE = "http://127.0.0.1:9324"
ON_OTHER_MACHINES = ("container-role", "iam-role", "ec2-credentials-file")
"""Sources of credentials that are asked over the network; a laptop would wait for an answer that never comes."""

TLS_FAULTS = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate is not trusted here; name the file of its authority in AWS_CA_BUNDLE",
    "WRONG_VERSION_NUMBER": "it speaks no TLS; try http://",
}

T = TypeVar("T")


@dataclass(frozen=True)
class Connection:
    endpoint: str
    region: str
    data: Path
    credentials_given: bool

    @classmethod
    def of(cls, arguments: argparse.Namespace, environ: Mapping[str, str]) -> "Connection":
        def first(option: str, *variables: str, default: str) -> str:
            given = [getattr(arguments, option, None), *map(environ.get, variables)]
            return next((value for value in given if value), default)

        return cls(
            endpoint=first("endpoint_url", "AWS_ENDPOINT_URL_SQS", "AWS_ENDPOINT_URL", default=HERE),
            region=first("region", "AWS_REGION", "AWS_DEFAULT_REGION", "PENSTOCK_REGION", default="us-east-1"),
            data=Path(first("data", "PENSTOCK_DATA", default="./data")),
            credentials_given="AWS_ACCESS_KEY_ID" in environ or "AWS_PROFILE" in environ,
        )


def add_connection(parser: Parser) -> None:
    """No defaults, so that the options may stand before or after an action's name."""
    group = parser.add_argument_group("connection")
    for flag, metavar, text in (
        ("--endpoint-url", "URL", f"the server (default: AWS_ENDPOINT_URL, or {HERE})"),
        ("--region", "REGION", "the region (default: AWS_REGION, or us-east-1)"),
        ("--data", "DIRECTORY", "where the server keeps its credentials file, for use without AWS_ACCESS_KEY_ID"),
    ):
        group.add_argument(flag, metavar=metavar, default=argparse.SUPPRESS, help=text)


def sqs_client(arguments: argparse.Namespace) -> Any:
    return _client("sqs", Connection.of(arguments, environment()))


def iam_client(arguments: argparse.Namespace) -> Any:
    """Of the same server: users, groups, keys and policies are managed where the queues are."""
    return _client("iam", Connection.of(arguments, environment()))


def account_and_region(arguments: argparse.Namespace) -> tuple[str, str]:
    """Whose credentials these are, and where queues are meant."""
    connection = Connection.of(arguments, environment())
    client = _client("sts", connection)
    return str(calling(client.get_caller_identity)["Account"]), connection.region


def own_client(arguments: argparse.Namespace) -> Any:
    """A client of Penstock's own operations, from the model files that come with it."""
    return _client("penstock", Connection.of(arguments, environment()))


def _client(service: str, connection: Connection) -> Any:
    session = botocore.session.Session()
    session.get_component("data_loader").search_paths.insert(0, str(MODELS))
    for source in ON_OTHER_MACHINES:
        session.get_component("credential_provider").remove(source)
    if not connection.credentials_given and (kept := kept_credentials(connection.data)):
        session.set_credentials(*kept)
    try:
        return session.create_client(
            service,
            region_name=connection.region,
            endpoint_url=connection.endpoint,
            config=Config(retries={"total_max_attempts": 1}),
        )
    except ValueError:
        raise CommandError(f"endpoint {connection.endpoint!r}: give a URL, such as {HERE}") from None
    except BotoCoreError as error:
        raise CommandError(_line(error)) from None


def kept_credentials(data: Path) -> tuple[str, str] | None:
    file = configparser.RawConfigParser()
    try:
        file.read_string((data / "credentials").read_text())
        return file["default"]["aws_access_key_id"], file["default"]["aws_secret_access_key"]
    except FileNotFoundError:
        return None
    except PermissionError:
        raise CommandError(f"{data / 'credentials'} may be read by its owner alone") from None
    except (configparser.Error, KeyError, UnicodeDecodeError):
        raise CommandError(f"{data / 'credentials'} is not a credentials file of AWS's form") from None


def calling(call: Callable[[], T]) -> T:
    """Make a call; what the server refuses is said in the server's words, everything else in one line."""
    try:
        return call()
    except ClientError as error:
        raise _refusal(error) from None
    except EndpointConnectionError as error:
        raise CommandError(f"cannot reach {error.kwargs['endpoint_url']}: is the server running?") from None
    except ConnectionClosedError as error:
        where = error.kwargs["endpoint_url"]
        raise CommandError(f"{where} closed the connection: is the server stopping, or does it speak TLS?") from None
    except SSLError as error:
        why = next((hint for name, hint in TLS_FAULTS.items() if name in str(error)), error.kwargs["error"])
        raise CommandError(f"cannot speak TLS with {error.kwargs['endpoint_url']}: {why}") from None
    except (NoCredentialsError, PartialCredentialsError):
        raise CommandError(
            "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name the server's --data directory"
        ) from None
    except BotoCoreError as error:
        raise CommandError(_line(error)) from None


def _refusal(error: ClientError) -> CommandError:
    """botocore gives the status for a code when the answer is not of the protocol's form: somebody else's page."""
    said = error.response.get("Error", {})
    code = said.get("Code", "Unknown")
    if code.isdigit():
        return CommandError(f"the answer has status {code} and is not Penstock's: is the endpoint right?")
    operation = error.operation_name
    return Refusal(f"An error occurred ({code}) when calling the {operation} operation: {said.get('Message', '')}")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())

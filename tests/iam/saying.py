"""What tests of IAM say: documents, and refusals with their status as Amazon's model has it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError

ACCOUNT = "000000000000"


def document(*actions: str, resource: str = "*", effect: str = "Allow", **more: Any) -> dict[str, Any]:
    statement = {"Effect": effect, "Action": list(actions) or ["sqs:*"], "Resource": resource} | more
    return {"Version": "2012-10-17", "Statement": [statement]}


def trusting(principal: str = f"arn:aws:iam::{ACCOUNT}:root") -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": {"AWS": principal}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


SENDING = json.dumps(document("sqs:SendMessage"))
READING = json.dumps(document("sqs:ReceiveMessage", "sqs:DeleteMessage"))
TRUST = json.dumps(trusting())


@cache
def statuses() -> dict[str, int]:
    """The HTTP status of each error of IAM, by its code."""
    model = botocore.session.get_session().get_component("data_loader").load_service_model("iam", "service-2")
    errors = [shape["error"] for shape in model["shapes"].values() if "error" in shape]
    return {error["code"]: error["httpStatusCode"] for error in errors} | {"ValidationError": 400}


@contextmanager
def refused(code: str, message: str | None = None) -> Iterator[None]:
    """What is called in here is refused with this error, and if a message is given, with exactly that."""
    with pytest.raises(ClientError) as caught:
        yield
    response = caught.value.response
    assert (response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]) == (code, statuses()[code])
    if message is not None:
        assert response["Error"]["Message"] == message

"""A queue's own policy, for whoever asks why: what a simulation is to be told of it, as far as one may know."""

import argparse
from typing import Any

from botocore.exceptions import ClientError

from penstock.cli.client import sqs_client
from penstock.cli.holders import Holder
from penstock.core.queue import QueueKey

REFUSALS = {"AccessDenied", "AccessDeniedException"}
LEFT_OUT = "the policy of the queue is left out: "


def told_of(arguments: argparse.Namespace, holder: Holder, arn: str) -> tuple[dict[str, Any], str]:
    """Members of the request, and what is to be said of them. Nothing about several queues, or about none."""
    key = QueueKey.from_arn(arn)
    if key is None:
        return {}, ""
    client = sqs_client(argparse.Namespace(**vars(arguments) | {"region": key.region}))
    try:
        policy = _policy(client, key)
    except ClientError as error:
        if error.response["Error"].get("Code") not in REFUSALS:
            raise
        return {}, f"{LEFT_OUT}these credentials may not read it"
    owner = {"ResourceOwner": f"arn:aws:iam::{key.account}:root"}
    if not policy:
        return owner, ""
    if holder.kind == "group":
        return {}, f"{LEFT_OUT}a queue is used by members of a group, not by the group"
    return owner | {"ResourcePolicy": policy, "CallerArn": holder.arn}, ""


def _policy(client: Any, key: QueueKey) -> str:
    """Empty for a queue without one, and for a queue that is not there."""
    url = f"{client.meta.endpoint_url.rstrip('/')}/{key.account}/{key.name}"
    try:
        reply = client.get_queue_attributes(QueueUrl=url, AttributeNames=["Policy"])
    except client.exceptions.QueueDoesNotExist:
        return ""
    return str(reply.get("Attributes", {}).get("Policy", ""))

"""One round of every call the comparison rests on, with a real SDK: what a peer cannot do, we want to know beforehand.

It says nothing about speed.
"""

from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from .peer import PeerUnavailable

BODY = "one message — ✓"
SETTINGS = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=30)


def check(port: int) -> None:
    """Send, receive and delete on a standard and on a FIFO queue; otherwise raise with the step that failed."""
    client = Session().create_client(
        "sqs",
        region_name="us-east-1",
        endpoint_url=f"http://127.0.0.1:{port}",
        aws_access_key_id="peer",
        aws_secret_access_key="peer",
        config=SETTINGS,
    )
    try:
        _round(client, "checked", {}, {})
        _round(client, "checked.fifo", {"FifoQueue": "true"}, {"MessageGroupId": "g", "MessageDeduplicationId": "1"})
    except (BotoCoreError, ClientError) as error:
        raise PeerUnavailable(f"it answers, but not as SQS does: {error}") from error
    finally:
        client.close()


def _round(client: Any, name: str, attributes: dict[str, str], more: dict[str, str]) -> None:
    url = client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    client.send_message(QueueUrl=url, MessageBody=BODY, **more)
    messages = client.receive_message(QueueUrl=url, WaitTimeSeconds=1).get("Messages", [])
    bodies = [message["Body"] for message in messages]
    if bodies != [BODY]:
        raise PeerUnavailable(f"it answers, but gave back {bodies} for one message sent to {name}")
    client.delete_message(QueueUrl=url, ReceiptHandle=messages[0]["ReceiptHandle"])
    client.delete_queue(QueueUrl=url)

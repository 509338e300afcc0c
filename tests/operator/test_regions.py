"""Regions: the one in the signature counts, and the same name in two of them is two queues."""

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from operating import Start

from server_process import Server


def client(server: Server, region: str) -> Any:
    return replace(server, region=region).client()


def bodies(sqs: Any) -> list[str]:
    return [message["Body"] for message in sqs.receive_message(QueueUrl="orders").get("Messages", [])]


def test_the_same_name_in_two_regions_is_two_queues(start: Start) -> None:
    server = start('regions = ["us-east-1", "eu-west-1"]')
    for region in ("us-east-1", "eu-west-1"):
        sqs = client(server, region)
        url = sqs.create_queue(QueueName="orders")["QueueUrl"]
        assert url == f"{server.url}/000000000000/orders"
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
        assert found == {"QueueArn": f"arn:aws:sqs:{region}:000000000000:orders"}
    client(server, "eu-west-1").send_message(QueueUrl="orders", MessageBody="in Europe")
    assert bodies(client(server, "us-east-1")) == []
    assert bodies(client(server, "eu-west-1")) == ["in Europe"]
    with pytest.raises(ClientError, match="Credential should be scoped to a valid region, not 'ap-south-1'"):
        client(server, "ap-south-1").list_queues()


def test_a_server_has_one_region_unless_told_otherwise(server: Server) -> None:
    with pytest.raises(ClientError, match="SignatureDoesNotMatch") as refused:
        client(server, "eu-west-1").list_queues()
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_a_star_is_any_region(start: Start) -> None:
    server = start(regions="*")
    for region in ("us-east-1", "eu-central-2", "my-cellar-1"):
        sqs = client(server, region)
        assert "QueueUrls" not in sqs.list_queues()
        sqs.create_queue(QueueName=f"in-{region}")
        assert len(sqs.list_queues()["QueueUrls"]) == 1

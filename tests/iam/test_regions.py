"""IAM and STS are one for all regions: whatever region a server has, they may be signed for Amazon's first."""

from dataclasses import replace
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from server_process import Server


def test_a_server_of_one_region_takes_what_is_signed_for_the_first_by_services_without_one(tmp_path: Path) -> None:
    server = Server(tmp_path, region="eu-central-1")
    server.start()
    try:
        assert server.client("iam").create_user(UserName="anna")["User"]["UserName"] == "anna"
        first, elsewhere = replace(server, region="us-east-1"), replace(server, region="ap-south-1")
        assert first.client("iam").get_user(UserName="anna")["User"]["UserName"] == "anna"
        for of_here in (first, server):
            assert of_here.client("sts").get_caller_identity()["Account"] == "000000000000"
        for refused in (
            first.client("sqs").list_queues,
            elsewhere.client("sqs").list_queues,
            elsewhere.client("sts").get_caller_identity,
            elsewhere.client("iam").list_users,
        ):
            with pytest.raises(ClientError, match="Credential should be scoped to a valid region"):
                refused()
    finally:
        server.stop()

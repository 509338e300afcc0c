"""IAM and STS are one for all regions: whatever region a server has, they are signed for another."""

from dataclasses import replace
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from server_process import Server


def test_a_server_of_one_region_takes_what_is_signed_for_another_by_services_without_one(tmp_path: Path) -> None:
    server = Server(tmp_path, region="eu-central-1")
    server.start()
    try:
        assert server.client("iam").create_user(UserName="anna")["User"]["UserName"] == "anna"
        elsewhere = replace(server, region="ap-south-1")
        assert elsewhere.client("sts").get_caller_identity()["Account"] == "000000000000"
        assert elsewhere.client("iam").get_user(UserName="anna")["User"]["UserName"] == "anna"
        with pytest.raises(ClientError, match="Credential should be scoped to a valid region, not 'ap-south-1'"):
            elsewhere.client("sqs").list_queues()
    finally:
        server.stop()

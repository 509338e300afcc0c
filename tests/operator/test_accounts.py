"""Whose queues are whose: accounts from the settings file, and what remains of them with authentication off."""

import json
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from operating import Start, refusal

from server_process import Server

SHOP, BANK = "111122223333", "444455556666"
TOML = f"""
    [[accounts]]
    id = "{SHOP}"
    name = "shop"
    keys = [
        {{ access_key = "SHOP_ACCESS_KEY_1", secret_key = "the secret of shop, old" }},
        {{ access_key = "SHOP_ACCESS_KEY_2", secret_key = "the secret of shop, new" }},
    ]
    [[accounts]]
    id = "{BANK}"
    keys = [{{ access_key = "BANK_ACCESS_KEY_1", secret_key = "the secret of the bank" }}]
"""


def client(server: Server, access_key: str, secret_key: str = "x", service: str = "sqs") -> Any:
    return replace(server, access_key=access_key, secret_key=secret_key).client(service)


def listed(sqs: Any) -> list[str]:
    return [url.rpartition("/")[2] for url in sqs.list_queues().get("QueueUrls", [])]


def test_nobody_sees_another_account_s_queues(start: Start) -> None:
    server = start(TOML)
    shop = client(server, "SHOP_ACCESS_KEY_1", "the secret of shop, old")
    bank = client(server, "BANK_ACCESS_KEY_1", "the secret of the bank")
    url = shop.create_queue(QueueName="orders")["QueueUrl"]
    assert url == f"{server.url}/{SHOP}/orders"
    assert bank.create_queue(QueueName="orders")["QueueUrl"] == f"{server.url}/{BANK}/orders"
    shop.send_message(QueueUrl="orders", MessageBody="of the shop")
    assert "Messages" not in bank.receive_message(QueueUrl="orders")
    assert (listed(bank), listed(server.client())) == (["orders"], [])
    for name in (url, f"{server.url}/{SHOP}/never-made"):
        with pytest.raises(ClientError, match="AccessDenied") as refused:
            bank.receive_message(QueueUrl=name)
        assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
    with pytest.raises(ClientError, match="AccessDenied"):
        server.client().delete_queue(QueueUrl=url)
    identity = client(server, "BANK_ACCESS_KEY_1", "the secret of the bank", "sts").get_caller_identity()
    assert identity["Arn"] == f"arn:aws:iam::{BANK}:root"
    rotated = client(server, "SHOP_ACCESS_KEY_2", "the secret of shop, new")
    assert rotated.receive_message(QueueUrl=url)["Messages"][0]["Body"] == "of the shop"


def test_with_authentication_off_an_access_key_of_twelve_digits_is_an_account(start: Start) -> None:
    server = start(auth="off", store="memory://")
    assert "AUTHENTICATION IS OFF" in server.output()
    shop = client(server, SHOP)
    assert shop.create_queue(QueueName="orders")["QueueUrl"] == f"{server.url}/{SHOP}/orders"
    for anyone in ("test", "12345678901", "1234567890123"):
        sqs = client(server, anyone)
        assert sqs.create_queue(QueueName="jobs")["QueueUrl"] == f"{server.url}/000000000000/jobs"
        assert listed(sqs) == ["jobs"]
    assert listed(shop) == ["orders"]
    browser = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"{server.url}/", b"{}", {"X-Amz-Target": "AmazonSQS.ListQueues"})
    with browser.open(request) as reply:
        assert json.load(reply) == {"QueueUrls": [f"{server.url}/000000000000/jobs"]}
    with browser.open(f"{server.url}/000000000000/jobs?Action=SendMessage&MessageBody=unsigned") as reply:
        assert reply.status == 200
    assert client(server, "test").receive_message(QueueUrl="jobs")["Messages"][0]["Body"] == "unsigned"


def test_authentication_off_is_not_for_an_address_that_others_reach_unless_one_insists(
    start: Start, tmp_path: Path
) -> None:
    (line,) = refusal(tmp_path, auth="off", listen="0.0.0.0:0")
    assert 'auth "off"' in line
    assert "allow_open" in line
    server = start(auth="off", listen="0.0.0.0:0", allow_open="true")
    assert "AUTHENTICATION IS OFF" in server.output()


def test_plain_http_is_not_for_an_address_that_others_reach_unless_one_insists(start: Start, tmp_path: Path) -> None:
    (line,) = refusal(tmp_path, listen="0.0.0.0:0")
    assert 'listen "0.0.0.0:0"' in line
    assert "allow_plaintext" in line
    assert "PLAIN HTTP" in start(listen="0.0.0.0:0", allow_plaintext="true").output()


def test_a_server_with_authentication_says_nothing_of_the_kind(server: Server) -> None:
    assert "AUTHENTICATION" not in server.output()
    assert "PLAIN HTTP" not in server.output()

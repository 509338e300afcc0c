"""Temporary credentials and last uses over the lives of a real server: nothing is kept of the first, and the second is
written without a write for each request."""

import asyncio
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
from operating import Start, kill

from penstock.core.directory import AccessKey, read
from penstock.stores.sqlite import SqliteStore
from server_process import Server


def client(server: Server, service: str, made: dict[str, Any]) -> Any:
    session = boto3.Session(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"], server.region)
    return session.client(service, endpoint_url=server.url)


def test_a_session_outlives_the_server_that_gave_it_out(start: Start) -> None:
    server = start()
    made = server.client("sts").get_session_token()["Credentials"]
    assert 3500 < made["Expiration"].timestamp() - time.time() <= 3600
    kill(server)
    server.start()
    assert client(server, "sts", made).get_caller_identity()["Arn"] == "arn:aws:iam::000000000000:root"
    client(server, "sqs", made).create_queue(QueueName="orders")
    assert [url.rpartition("/")[2] for url in server.client().list_queues()["QueueUrls"]] == ["orders"]


def test_the_largest_token_goes_in_a_header_and_in_a_link(server: Server) -> None:
    tags = [{"Key": f"tag-{number}", "Value": "v" * 200} for number in range(19)]
    reply = server.client("sts").get_federation_token(Name="guest", Tags=tags)
    assert reply["PackedPolicySize"] > 95
    sts = client(server, "sts", reply["Credentials"])
    assert sts.get_caller_identity()["Arn"] == "arn:aws:sts::000000000000:federated-user/guest"
    link = sts.generate_presigned_url("get_caller_identity", HttpMethod="GET")
    browser = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with browser.open(link, timeout=10) as answered:
        assert b"federated-user/guest" in answered.read()


def stored_key(data: Path) -> AccessKey:
    async def found() -> AccessKey:
        store = SqliteStore(data / "penstock.db")
        await store.open()
        _, records = await store.records()
        await store.close()
        (key,) = [entity for entity in map(read, records) if isinstance(entity, AccessKey)]
        return key

    return asyncio.run(found())


def test_when_a_key_was_last_used_is_known_after_a_restart(start: Start) -> None:
    server = start(root_access_key="", root_secret_key="")
    lines = dict(line.split(" = ") for line in (server.data / "credentials").read_text().splitlines() if " = " in line)
    root = replace(server, access_key=lines["aws_access_key_id"], secret_key=lines["aws_secret_access_key"])
    for _ in range(3):
        root.client().list_queues()
    assert server.stop() == 0
    key = stored_key(server.data)
    assert (key.name, key.used_region, key.used_service) == (root.access_key, "us-east-1", "sqs")
    assert key.used is not None
    assert abs(key.used / 1000 - time.time()) < 60

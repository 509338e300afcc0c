"""What queue URLs start with: what the operator said, else the host that the client named, else what a proxy adds."""

import json
from http.client import HTTPConnection
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from operating import Start

from server_process import Server

FORWARDED = {"X-Forwarded-Host": "queues.example.org", "X-Forwarded-Proto": "https"}


def queue_url(server: Server, host: str, **headers: str) -> str:
    """The URL of a queue, as a client is told that named this host and sent these headers behind its signature."""
    body = json.dumps({"QueueName": "orders"})
    given = {"X-Amz-Target": "AmazonSQS.CreateQueue", "Content-Type": "application/x-amz-json-1.0", "Host": host}
    request = AWSRequest("POST", f"http://{host}/", given, body)
    SigV4Auth(Credentials(server.access_key, server.secret_key), "sqs", server.region).add_auth(request)
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    try:
        connection.request("POST", "/", body, dict(request.headers.items()) | headers)
        url: str = json.load(connection.getresponse())["QueueUrl"]
        return url
    finally:
        connection.close()


def test_a_queue_url_starts_with_the_host_that_the_client_named(server: Server) -> None:
    assert queue_url(server, "queues.internal:9324") == "http://queues.internal:9324/000000000000/orders"


def test_what_a_stranger_says_it_forwards_is_not_believed(server: Server) -> None:
    assert queue_url(server, "queues.internal", **FORWARDED) == "http://queues.internal/000000000000/orders"


def test_a_proxy_that_is_trusted_says_what_the_client_named(start: Start) -> None:
    server = start('trusted_proxies = ["127.0.0.0/8"]')
    expected = "https://queues.example.org/000000000000/orders"
    assert queue_url(server, "queues.internal", **FORWARDED) == expected
    twice = {"X-Forwarded-Host": "evil.example.com, queues.example.org", "X-Forwarded-Proto": "http, https"}
    assert queue_url(server, "queues.internal", **twice) == expected, "only the last proxy is ours"
    assert queue_url(server, "queues.internal") == "http://queues.internal/000000000000/orders"


def test_the_public_url_is_what_everyone_is_told(start: Start) -> None:
    server = start(public_url="https://sqs.example.org/")
    assert server.url.startswith("http://127.0.0.1:"), "the line says where it listens"
    expected = "https://sqs.example.org/000000000000/orders"
    assert queue_url(server, "queues.internal", **FORWARDED) == expected
    sqs = server.client()
    assert sqs.get_queue_url(QueueName="orders")["QueueUrl"] == expected
    assert sqs.list_queues()["QueueUrls"] == [expected]
    sqs.send_message(QueueUrl=expected, MessageBody="of a queue URL only the path counts")
    assert len(sqs.receive_message(QueueUrl="http://elsewhere/000000000000/orders")["Messages"]) == 1

"""Leaving politely at SIGTERM, and a new certificate at SIGHUP."""

import shutil
import signal
import socket
import ssl
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import SSLError
from operating import Start, page, until

from server_process import Server

OPENSSL = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2 -addext subjectAltName=IP:127.0.0.1"
)


def half_sent(server: Server, request: bytes, kept_back: int) -> tuple[socket.socket, bytes]:
    """A connection whose request is not yet whole, and the rest of it."""
    where = urlsplit(server.url)
    connection = socket.create_connection((where.hostname or "", where.port or 0), timeout=10)
    connection.sendall(request[:-kept_back])
    return connection, request[-kept_back:]


def finished(connection: socket.socket, rest: bytes) -> tuple[int, str]:
    """Status and body of the reply, and the connection is closed behind it."""
    with connection, connection.makefile("rb") as stream:
        connection.sendall(rest)
        reply = stream.read().decode()
    return int(reply.split()[1]), reply.partition("\r\n\r\n")[2]


def signed_send(server: Server, body: bytes) -> bytes:
    headers = {"X-Amz-Target": "AmazonSQS.SendMessage", "Content-Type": "application/x-amz-json-1.0"}
    request = AWSRequest("POST", f"{server.url}/", headers, body)
    SigV4Auth(Credentials(server.access_key, server.secret_key), "sqs", server.region).add_auth(request)
    fields = dict(request.headers.items()) | {"Host": urlsplit(server.url).netloc, "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST / HTTP/1.1\r\n{head}\r\n".encode() + body


def test_sigterm_answers_everyone_who_is_being_served_and_exits_0(start: Start) -> None:
    server = start()
    sqs = server.client()
    sqs.create_queue(QueueName="silent")
    sqs.create_queue(QueueName="letters")
    with ThreadPoolExecutor(1) as thread:
        poll = thread.submit(sqs.receive_message, QueueUrl="silent", WaitTimeSeconds=20)
        until(lambda: "\npenstock_waiters 1.0" in page(server, "/metrics")[1])
        sending = half_sent(server, signed_send(server, b'{"QueueUrl": "letters", "MessageBody": "just in time"}'), 9)
        asking = half_sent(server, b"GET /health/ready HTTP/1.1\r\nHost: here\r\n\r\n", 2)
        assert page(server, "/health/ready") == (200, "ready\n")
        server.process.send_signal(signal.SIGTERM)
        reply = poll.result(10)
    assert reply["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert "Messages" not in reply
    assert finished(*asking) == (503, "The server is stopping.\n")
    status, body = finished(*sending)
    assert (status, "MessageId" in body) == (200, True)
    assert server.process.wait(10) == 0
    with pytest.raises(OSError):
        half_sent(server, b"nobody is there", 1)
    server.start()
    assert server.client().receive_message(QueueUrl="letters")["Messages"][0]["Body"] == "just in time"


def test_nothing_waits_for_a_client_that_has_nothing_to_say(start: Start) -> None:
    server = start()
    sqs = server.client()
    sqs.list_queues()  # and keeps its connection open
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(10) == 0


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two self-signed certificates with their keys: old.pem, old.key, new.pem, new.key."""
    folder = tmp_path_factory.mktemp("certificates")
    for name in ("old", "new"):
        rest = f"-nodes -subj /CN={name} -out {name}.pem -keyout {name}.key"
        subprocess.run([*OPENSSL.split(), *rest.split()], cwd=folder, check=True, capture_output=True)
    return folder


def trusting(server: Server, certificate: Path) -> Any:
    session = boto3.Session(server.access_key, server.secret_key, region_name=server.region)
    return session.client("sqs", endpoint_url=server.url, verify=str(certificate))


def presented(server: Server) -> str:
    where = urlsplit(server.url)
    return ssl.get_server_certificate((where.hostname or "", where.port or 0), timeout=10)


def test_boto3_verifies_our_certificate_and_sighup_brings_a_new_one(
    start: Start, certificates: Path, tmp_path: Path
) -> None:
    def install(name: str) -> None:
        shutil.copy(certificates / f"{name}.pem", tmp_path / "server.pem")
        shutil.copy(certificates / f"{name}.key", tmp_path / "server.key")

    old, new = certificates / "old.pem", certificates / "new.pem"
    install("old")
    server = start('tls_certificate = "server.pem"\ntls_key = "server.key"')
    assert server.url.startswith("https://127.0.0.1:")
    sqs = trusting(server, old)
    assert sqs.create_queue(QueueName="sealed")["QueueUrl"] == f"{server.url}/000000000000/sealed"
    with pytest.raises(SSLError):
        trusting(server, new).list_queues()

    (tmp_path / "server.pem").write_text("not a certificate")
    server.process.send_signal(signal.SIGHUP)
    until(lambda: "TLS files not reloaded" in server.output())
    assert presented(server) == old.read_text()

    install("new")
    server.process.send_signal(signal.SIGHUP)
    until(lambda: presented(server) == new.read_text())
    assert trusting(server, new).list_queues()["QueueUrls"]
    sqs.send_message(QueueUrl="sealed", MessageBody="on the connection that was there")


def test_sighup_without_tls_is_harmless(start: Start) -> None:
    server = start()
    server.process.send_signal(signal.SIGHUP)
    until(lambda: "reloaded" in server.output())
    assert page(server, "/health/live") == (200, "ok\n")

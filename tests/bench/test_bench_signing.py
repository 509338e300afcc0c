"""Signatures of the load client, judged by botocore and by our own verifier."""

import datetime
from dataclasses import replace
from unittest import mock

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from penstock.bench.signing import RENEWAL_SECONDS, Signer, Template
from penstock.bench.target import Target
from penstock.bench.wire_json import JsonWire

NOW = 1_794_787_200.0  # 2026-11-16T00:00:00Z
TARGET = Target("127.0.0.1", 9324, access_key="AKIDEXAMPLE", secret_key="a secret", region="eu-west-1")


def made(target: Target = TARGET, epoch: float = NOW) -> tuple[Signer, Template]:
    signer = Signer(target)
    signer.renew(epoch)
    parts = JsonWire().send("http://127.0.0.1:9324/000000000000/q")
    return signer, Template(signer, JsonWire().headers("SendMessage"), *parts)


def read(request: bytes) -> tuple[dict[str, str], bytes]:
    head, _, body = request.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST / HTTP/1.1"
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}, body


def signature_by_botocore(headers: dict[str, str], body: bytes) -> str:
    signed = {name: headers[name] for name in ("content-type", "x-amz-target")}
    request = AWSRequest("POST", f"http://{headers['host']}/", headers=signed, data=body)
    moment = datetime.datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.UTC)
    with mock.patch("botocore.auth.get_current_datetime", return_value=moment):
        SigV4Auth(Credentials(TARGET.access_key, TARGET.secret_key), "sqs", TARGET.region).add_auth(request)
    return str(request.headers["Authorization"])


@pytest.mark.parametrize("varying", [b"", b"a", b"x" * 256, b"x" * (1 << 20)], ids=len)
def test_a_signature_is_the_one_that_botocore_makes(varying: bytes) -> None:
    _, template = made()
    headers, body = read(template.request(varying))
    assert headers["authorization"] == signature_by_botocore(headers, body)


def test_the_body_is_whole_and_its_length_is_told() -> None:
    _, template = made()
    for varying in (b"first", b"second!"):
        headers, body = read(template.request(varying))
        assert body == template.before + varying + template.after
        assert int(headers["content-length"]) == len(body)


def test_a_constant_request_is_the_same_until_the_date_is_renewed() -> None:
    signer, template = made()
    first = template.constant()
    signer.renew(NOW + RENEWAL_SECONDS - 1)
    assert template.constant() is first
    signer.renew(NOW + RENEWAL_SECONDS)
    headers, body = read(template.constant())
    assert headers["x-amz-date"] == "20261116T000100Z"
    assert headers["authorization"] == signature_by_botocore(headers, body)


def test_without_signing_there_is_no_trace_of_it() -> None:
    _, template = made(replace(TARGET, sign=False))
    headers, body = read(template.request(b"hello"))
    assert headers.keys() == {"host", "content-type", "x-amz-target", "content-length"}
    assert body == template.before + b"hello" + template.after


@pytest.mark.parametrize(
    ("target", "host"),
    [
        (TARGET, "127.0.0.1:9324"),
        (Target("sqs.example.com", 80), "sqs.example.com"),
        (Target("sqs.example.com", 443, "https"), "sqs.example.com"),
        (Target("::1", 9324), "[::1]:9324"),
    ],
)
def test_the_host_is_written_as_every_client_writes_it(target: Target, host: str) -> None:
    headers, _ = read(made(target)[1].request(b""))
    assert headers["host"] == host

"""The light client over TLS: who is trusted, and what is said of others."""

import subprocess
from collections.abc import Iterator

import pytest

from penstock.pipeline.http import NotTrusted
from penstock.pipeline.sources.queue.options import Settings, parse
from server_process import Server

OPENSSL = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2 -addext subjectAltName=IP:127.0.0.1 "
    "-nodes -subj /CN=queues -out server.pem -keyout server.key"
)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(OPENSSL.split(), cwd=folder, check=True, capture_output=True)
    files = {"PENSTOCK_TLS_CERTIFICATE": "server.pem", "PENSTOCK_TLS_KEY": "server.key"}
    server = Server(folder, files)
    server.start()
    yield server
    server.stop()


def settings(server: Server) -> Settings:
    return parse({"queueUrl": f"{server.url}/1/q", "accessKey": server.access_key, "secretKey": server.secret_key})


def test_a_bundle_names_whom_to_trust(secured: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(secured.folder / "server.pem"))
    with settings(secured).client() as client:
        assert client.call("CreateQueue", QueueName="sealed")["QueueUrl"].startswith("https://")
        assert client.call("ListQueues")["QueueUrls"]


def test_a_certificate_that_is_not_trusted_is_an_error_at_once(
    secured: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    with (
        settings(secured).client() as client,
        pytest.raises(NotTrusted, match="shows a certificate that is not trusted"),
    ):
        client.call("ListQueues")

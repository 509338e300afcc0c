"""The same server behind TLS: certificates from files, renewed without a restart."""

import asyncio
import shutil
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from penstock.aws.http import HttpRequest, HttpResponse
from penstock.listeners.http import HttpLimits, HttpListener, TlsFiles

from .wire import Parked, Running, Serve, Wire, echo, request, until

OPENSSL = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2 -addext subjectAltName=IP:127.0.0.1"
)


def make_certificate(folder: Path, name: str, protection: str = "-nodes") -> TlsFiles:
    files = TlsFiles(folder / f"{name}.crt", folder / f"{name}.key")
    rest = f"{protection} -subj /CN={name} -out {files.certificate} -keyout {files.key}"
    subprocess.run([*OPENSSL.split(), *rest.split()], check=True, capture_output=True)
    return files


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TlsFiles]:
    folder = tmp_path_factory.mktemp("tls")
    locked = make_certificate(folder, "locked", "-passout pass:secret")
    return {"first": make_certificate(folder, "first"), "second": make_certificate(folder, "second"), "locked": locked}


@pytest.fixture
def files(certificates: dict[str, TlsFiles], tmp_path: Path) -> TlsFiles:
    files = TlsFiles(tmp_path / "server.crt", tmp_path / "server.key")
    install(certificates["first"], files)
    return files


def install(source: TlsFiles, target: TlsFiles) -> None:
    shutil.copy(source.certificate, target.certificate)
    shutil.copy(source.key, target.key)


async def connect(server: Running, trusted: TlsFiles) -> Wire:
    return await server.open(ssl=ssl.create_default_context(cafile=trusted.certificate))


async def test_requests_over_tls_are_served_and_known_to_be_secure(
    serve: Serve, files: TlsFiles, certificates: dict[str, TlsFiles]
) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, f"{request.secure} {request.peer} {len(request.body)}".encode())

    server = await serve(handler, tls=files)
    wire = await connect(server, certificates["first"])
    for size in (0, 10, 1_000_000):
        assert (await wire.ask(request(b"x" * size))).body == b"True 127.0.0.1 %d" % size
    await wire.send(request(b"", b"Connection: close"))
    assert (await wire.reply()).status == 200
    assert await wire.rest() == b""


async def test_what_is_malformed_is_refused_over_tls_too(
    serve: Serve, files: TlsFiles, certificates: dict[str, TlsFiles]
) -> None:
    server = await serve(tls=files, limits=HttpLimits(linger_seconds=0.05))
    wire = await connect(server, certificates["first"])
    assert await wire.refused(b"GET / HTTP/1.1\r\n\r\n") == 400


async def test_a_client_that_leaves_cancels_its_request_at_once(
    serve: Serve, files: TlsFiles, certificates: dict[str, TlsFiles]
) -> None:
    parked = Parked()
    server = await serve(parked, tls=files, limits=HttpLimits(half_close_seconds=60))
    wire = await connect(server, certificates["first"])
    await wire.send(request())
    await until(lambda: parked.entered)
    await wire.close()
    await until(lambda: parked.cancelled)
    await until(lambda: server.connections[-1] == 0)


async def test_old_versions_of_tls_are_refused(serve: Serve, files: TlsFiles) -> None:
    server = await serve(tls=files)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with pytest.raises(OSError):
        await server.open(ssl=context)
    await until(lambda: server.connections[-1:] == [0])


@pytest.mark.parametrize("sent", [request(), b"\x16\x03\x01"], ids=["plain HTTP", "half a handshake"])
async def test_a_client_that_does_not_finish_its_handshake_is_let_go(
    serve: Serve, files: TlsFiles, sent: bytes
) -> None:
    server = await serve(tls=files, limits=HttpLimits(header_seconds=0.1))
    wire = await server.open()
    await wire.send(sent)
    await wire.rest()
    await until(lambda: server.connections[-1:] == [0])


@pytest.mark.parametrize("before", [0.0, 0.02])
async def test_a_client_that_leaves_during_its_handshake_is_forgotten(
    serve: Serve, files: TlsFiles, before: float
) -> None:
    server = await serve(tls=files)
    wire = await server.open()
    wire.writer.write(b"\x16\x03\x01")
    await asyncio.sleep(before)
    wire.reset()
    await until(lambda: server.connections[-1:] == [0])


async def test_a_connection_counts_before_its_handshake(serve: Serve, files: TlsFiles) -> None:
    server = await serve(tls=files, limits=HttpLimits(connections_per_address=1))
    silent = await server.open()
    await until(lambda: server.connections == [1])
    assert await (await server.open()).rest() == b""
    await silent.close()


async def test_a_new_certificate_is_used_by_new_connections_only(
    serve: Serve, files: TlsFiles, certificates: dict[str, TlsFiles]
) -> None:
    server = await serve(tls=files)
    old = await connect(server, certificates["first"])
    install(certificates["second"], files)
    server.listener.reload_tls()
    new = await connect(server, certificates["second"])
    for wire in (old, new):
        assert (await wire.ask(request(b"hello"))).body == b"hello"
    with pytest.raises(ssl.SSLCertVerificationError):
        await connect(server, certificates["first"])


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("missing", "No such file or directory"),
        ("rubbish", "give PEM files"),
        ("mismatched", "the key is that of another certificate"),
        ("locked", "give PEM files: the certificate with its chain, and its key without a passphrase"),
    ],
)
async def test_a_bad_certificate_is_named_and_the_old_one_stays(
    serve: Serve, files: TlsFiles, certificates: dict[str, TlsFiles], fault: str, why: str
) -> None:
    server = await serve(tls=files)
    if fault == "missing":
        files.certificate.unlink()
    elif fault == "rubbish":
        files.certificate.write_text("rubbish")
    elif fault == "mismatched":
        shutil.copy(certificates["second"].key, files.key)
    else:
        install(certificates["locked"], files)
    with pytest.raises(OSError, match=rf"cannot serve TLS with .*server\.crt and .*server\.key: {why}"):
        server.listener.reload_tls()
    wire = await connect(server, certificates["first"])
    assert (await wire.ask(request(b"hello"))).body == b"hello"
    with pytest.raises(OSError, match="cannot serve TLS"):
        await HttpListener("127.0.0.1", 0, echo, tls=files).start()


async def test_stopping_waits_for_no_handshake_and_finishes_requests(
    serve: Serve, files: TlsFiles, certificates: dict[str, TlsFiles]
) -> None:
    parked = Parked()
    server = await serve(parked, tls=files)
    silent, idle = await server.open(), await connect(server, certificates["first"])
    busy = await connect(server, certificates["first"])
    await busy.send(request(target=b"/busy"))
    await until(lambda: parked.entered)
    started = time.monotonic()
    stopping = asyncio.create_task(server.listener.stop(30))
    assert await silent.rest() == await idle.rest() == b""
    parked.gate.set()
    assert (await busy.reply()).headers[b"connection"] == b"close"
    await busy.close()
    await stopping
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("ticks", range(0, 24, 3))
async def test_a_client_that_comes_at_the_last_moment_is_let_go(serve: Serve, files: TlsFiles, ticks: int) -> None:
    server = await serve(tls=files)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    coming = asyncio.create_task(server.open(ssl=context))
    for _ in range(ticks):
        await asyncio.sleep(0)
    started = time.monotonic()
    await server.listener.stop(30)
    assert time.monotonic() - started < 1
    await asyncio.wait([coming])
    assert coming.exception() is not None or await coming.result().rest() == b""

"""The peers of the comparison, without the network: the table, and what is said when one cannot be had."""

import fcntl
import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from peers import PEERS, Peer, PeerUnavailable, running, stop
from peers.check import check
from peers.peer import installing, launch, run

from server_process import Server

COMMAND = Path(__file__).parents[2] / "bench" / "peers"
SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(int(sys.argv[2]))
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
PARENT_OF_A_STUBBORN_CHILD = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[2]])
time.sleep(3600)
"""
STUBBORN_CHILD = """
import fcntl, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
held = open(sys.argv[1], "w")
fcntl.flock(held, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(3600)
"""


def python(text: str, data: Path, *words: str) -> "subprocess.Popen[bytes]":
    return launch([sys.executable, "-c", text, *words], data)


def peer(text: str, *words: str) -> Peer:
    """A peer that is this Python program, given its port and these words."""

    def start(cache: Path, data: Path, port: int) -> "subprocess.Popen[bytes]":
        return python(text, data, str(port), *words)

    return Peer("stand-in", "A stand-in", durable=False, signs=False, install=lambda cache: None, start=start)


def status(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("POST", "/", b"{}")
        return connection.getresponse().status
    finally:
        connection.close()


def eventually(what: partial[bool]) -> bool:
    deadline = time.monotonic() + 30
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def is_free(lock: Path) -> bool:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def says(log: Path, word: str) -> bool:
    return word in log.read_text()


def test_the_table_holds_every_peer_under_its_name() -> None:
    assert all(name == peer.name for name, peer in PEERS.items())
    assert {"elasticmq", "elasticmq-h2", "fauxqs", "moto", "ministack", "goaws"} <= set(PEERS)


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_says_its_version_its_settings_and_its_protocol(name: str) -> None:
    peer = PEERS[name]
    assert peer.title
    assert peer.note
    assert all(part.isdigit() for part in peer.version.split("."))
    assert peer.protocol in {"json", "query"}


@pytest.mark.parametrize("name", PEERS)
def test_the_page_about_the_comparison_names_the_pinned_version(name: str) -> None:
    page = (COMMAND.parents[1] / "docs" / "explain" / "peers.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    assert len(rows) == 1
    assert f"| {PEERS[name].version} |" in rows[0]


@pytest.mark.parametrize(("name", "tool"), [("elasticmq", "java"), ("fauxqs", "npm"), ("goaws", "go")])
def test_a_missing_tool_is_named_with_what_installs_it(
    name: str, tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PeerUnavailable, match=f"^{tool} is not installed: apt-get install "):
        PEERS[name].install(tmp_path / "cache")


def test_an_installation_that_fails_says_why_and_is_tried_again_from_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "it"
    failing = "open('half', 'w'); print('fetching'); raise SystemExit('error: no such version')"
    with pytest.raises(PeerUnavailable, match=r"failed \(1\): error: no such version$"), installing(folder):
        run([sys.executable, "-c", failing], folder)
    assert (folder / "half").exists()
    with installing(folder) as wanted:
        assert wanted
        assert not (folder / "half").exists()
    with installing(folder) as wanted:
        assert not wanted


def test_a_peer_that_never_answers_is_reported_with_the_reason(tmp_path: Path) -> None:
    silent = peer("import time; print('warming up', flush=True); time.sleep(3600)")
    with (
        pytest.raises(PeerUnavailable, match=r"^it did not answer within 2 s \(.*refused\): warming up$"),
        running(silent, tmp_path, seconds=2),
    ):
        pass


def test_a_peer_that_ends_at_once_is_reported_with_its_last_error(tmp_path: Path) -> None:
    broken = peer("import sys; print('Error: port taken', flush=True); print('bye', flush=True); sys.exit(3)")
    with (
        pytest.raises(PeerUnavailable, match=r"^it ended with status 3: Error: port taken$"),
        running(broken, tmp_path),
    ):
        pass


def test_a_peer_that_only_refuses_is_reported_with_its_status(tmp_path: Path) -> None:
    with (
        pytest.raises(PeerUnavailable, match=r"\(HTTP 503 to ListQueues\)"),
        running(peer(SERVER, "503"), tmp_path, seconds=5),
    ):
        pass


def test_a_peer_answers_while_it_is_running_and_not_afterwards(tmp_path: Path) -> None:
    with running(peer(SERVER, "200"), tmp_path, tmp_path / "data") as port:
        assert status(port) == 200
    with pytest.raises(ConnectionRefusedError):
        status(port)


def test_stopping_ends_the_children_too_even_those_that_will_not(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    process = python(PARENT_OF_A_STUBBORN_CHILD, tmp_path, STUBBORN_CHILD, str(lock))
    try:
        assert eventually(partial(says, tmp_path / "server.log", "held"))
        assert not is_free(lock)
    finally:
        stop(process)
    assert eventually(partial(is_free, lock))


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("open"), {"PENSTOCK_AUTH": "off"})
    server.start()
    yield server
    server.stop()


def port_of(server: Server) -> int:
    return int(server.url.rsplit(":", 1)[1])


def test_the_check_passes_on_a_server_that_does_what_sqs_does(open_server: Server) -> None:
    check(port_of(open_server))


def test_the_check_tells_a_server_that_answers_but_not_as_sqs_does(server: Server) -> None:
    with pytest.raises(PeerUnavailable, match=r"^it answers, but not as SQS does: .*InvalidClientTokenId"):
        check(port_of(server))


def command(*words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, str(COMMAND), *words]
    return subprocess.run(line, env={**os.environ, **environ}, capture_output=True, text=True, check=False)


def test_the_command_lists_every_peer() -> None:
    done = command("--list")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(PEERS)


def test_the_command_refuses_a_name_that_no_peer_has() -> None:
    done = command("--check", "elasticsearch")
    assert done.returncode == 2
    assert f"no peer is called 'elasticsearch'; there are {', '.join(PEERS)}" in done.stderr


def test_the_command_reports_a_peer_it_cannot_have_and_fails(tmp_path: Path) -> None:
    done = command("--install", "goaws", PATH=str(tmp_path), PENSTOCK_BENCH_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert done.stderr == "goaws: unavailable: go is not installed: apt-get install golang\n"

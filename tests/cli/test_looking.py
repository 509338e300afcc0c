"""Commands that look at the data of a server that does not run leave every byte of it as it was."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from penstock.stores.sqlite.file import MIGRATIONS
from server_process import Server

from .conftest import Run

LOOKS = {
    "journal verify": ["journal", "verify"],
    "journal tail": ["journal", "tail"],
    "journal segments": ["journal", "segments"],
    "journal readers": ["journal", "readers"],
    "audit verify": ["audit", "verify"],
    "master-key list": ["master-key", "list"],
    "backup": ["backup", "copy.db"],
}
ENDS: dict[str, Callable[[Server], None]] = {"stopped": Server.stop, "killed": lambda server: _killed(server)}


def _killed(server: Server) -> None:
    server.process.kill()
    server.process.wait()


@pytest.fixture(scope="module", params=ENDS)
def left(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a server left that had a queue with a message in it, and whose reader knows nothing yet."""
    server = Server(tmp_path_factory.mktemp(request.param))
    server.start()
    server.client().create_queue(QueueName="orders")
    server.client().send_message(QueueUrl="orders", MessageBody="precious")
    server.client("penstock").register_journal_reader(ReaderName="spark")
    ENDS[request.param](server)
    return server.data


def everything(folder: Path) -> dict[str, bytes]:
    """But for the index of SQLite's log, which is made anew by whoever opens it."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.endswith("-shm")
    }


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_is_changed_made_or_removed(penstock: Run, left: Path, tmp_path: Path, look: str) -> None:
    shutil.copytree(left, tmp_path / "data")
    before = everything(tmp_path / "data")
    done = penstock(*LOOKS[look], "--data", "data")
    assert (done.returncode, done.stderr) == (0, "")
    assert everything(tmp_path / "data") == before


def test_a_store_of_an_older_schema_is_verified_and_stays_what_it_is(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    with closing(apsw.Connection(str(tmp_path / "penstock.db"))) as connection:
        connection.execute((MIGRATIONS / "001-initial.sql").read_text())
        connection.execute("PRAGMA user_version=1")
    before = everything(tmp_path)
    done = penstock("journal", "verify", "--data", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert everything(tmp_path) == before


def test_a_store_that_cannot_be_compared_is_told_in_one_line(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    (tmp_path / "penstock.db").write_bytes(b"no database at all, and longer than a header" * 9)
    done = penstock("journal", "verify", "--data", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("penstock: the store could not be copied, to be compared: ")
    assert done.stderr.count("\n") == 1

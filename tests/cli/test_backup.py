"""`penstock backup` and `penstock restore`: what was acknowledged is there again, and nothing is lost by a mistake."""

import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from server_process import Server

from .conftest import Run


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data of a stopped server, and a backup that was made while it ran."""
    folder = tmp_path_factory.mktemp("template")
    server = Server(folder)
    server.start()
    server.client().create_queue(QueueName="kept")
    server.client().send_message(QueueUrl="kept", MessageBody="precious")
    subprocess.run([sys.executable, "-m", "penstock", "backup", "copy.db"], cwd=folder, check=True, capture_output=True)
    server.stop()
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def backup(folder: Path) -> Path:
    return folder / "copy.db"


def bodies(server: Server) -> list[str]:
    return [message["Body"] for message in server.client("penstock").peek_messages(QueueUrl="kept")["Messages"]]


def rows(database: Path) -> list[list[tuple[object, ...]]]:
    with closing(apsw.Connection(str(database))) as connection:
        return [connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("queue", "message")]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def test_a_backup_of_a_running_server_can_be_restored_elsewhere_with_its_master_key(
    backup: Path, folder: Path, penstock: Run, tmp_path: Path
) -> None:
    data = tmp_path / "elsewhere" / "data"
    done = penstock("restore", backup, "--data", data)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{backup.stat().st_size:,} bytes" in done.stdout
    name, _, _ = penstock("master-key", "list").stdout.partition(" ")
    assert f"It opens with the master key {name}" in done.stdout
    refused = penstock("serve", "--data", data, "--listen", "127.0.0.1:0")
    assert refused.returncode == 1
    assert f"was written with the master key {name}" in refused.stderr
    shutil.copy(folder / "data" / "master.key", data)
    server = Server(tmp_path / "elsewhere")
    server.start()
    assert bodies(server) == ["precious"]
    assert server.stop() == 0


def test_a_backup_is_for_its_owner_alone(backup: Path) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_a_backup_never_overwrites(backup: Path, penstock: Run) -> None:
    before = backup.read_bytes()
    done = penstock("backup", backup)
    assert done.returncode == 1
    assert "exists already" in done.stderr
    assert backup.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("copy.db",), "there is no database at data/penstock.db"),
        (("copy.db", "--store", "memory://"), "is not the embedded store"),
    ],
)
def test_what_is_not_there_cannot_be_copied(penstock: Run, words: tuple[str, ...], expected: str) -> None:
    done = penstock("backup", *words)
    assert done.returncode == 1
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_database_that_is_there_is_only_moved_aside_when_told_to(backup: Path, folder: Path, penstock: Run) -> None:
    refused = penstock("restore", backup)
    assert refused.returncode == 1
    assert "--force" in refused.stderr
    old = (folder / "data" / "penstock.db").read_bytes()
    done = penstock("restore", backup, "--force")
    assert done.returncode == 0, done.stderr
    (aside,) = (folder / "data").glob("penstock-*.db")
    assert aside.name in done.stdout
    assert aside.read_bytes() == old
    assert rows(folder / "data" / "penstock.db") == rows(backup)


def test_a_log_that_was_left_behind_is_never_played_into_a_restored_database(
    backup: Path, folder: Path, penstock: Run
) -> None:
    (folder / "data" / "penstock.db").rename(folder / "elsewhere.db")
    log = folder / "data" / "penstock.db-wal"
    log.write_bytes(b"of another database")
    assert penstock("restore", backup).returncode == 1
    assert penstock("restore", backup, "--force").returncode == 0
    assert not log.exists()


def test_nothing_is_restored_under_a_running_server(backup: Path, folder: Path, penstock: Run) -> None:
    server = Server(folder)
    server.start()
    done = penstock("restore", backup, "--force")
    assert done.returncode == 1
    assert "in use" in done.stderr
    assert bodies(server) == ["precious"]
    server.stop()


def not_a_database(file: Path) -> None:
    file.write_text("hello")


def of_another_program(file: Path) -> None:
    file.unlink()
    apsw.Connection(str(file)).execute("CREATE TABLE queue (id)")


def of_a_newer_penstock(file: Path) -> None:
    apsw.Connection(str(file)).execute("PRAGMA user_version = 999")


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def damaged(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[8192:12288] = bytes(4096)
    file.write_bytes(content)


def in_use(file: Path) -> None:
    file.with_name(file.name + "-wal").touch()


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (not_a_database, "is not a database of Penstock"),
        (of_another_program, "is not a database of Penstock"),
        (of_a_newer_penstock, "has schema 999"),
        (cut_short, "is damaged"),
        (damaged, "is damaged"),
        (in_use, "is a database in use"),
        (Path.unlink, "there is no file"),
    ],
)
def test_a_bad_backup_changes_nothing(
    backup: Path, folder: Path, penstock: Run, spoil: Callable[[Path], None], expected: str
) -> None:
    before = contents(folder / "data")
    spoil(backup)
    done = penstock("restore", backup, "--force")
    assert done.returncode == 1
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert contents(folder / "data") == before


def test_a_restored_store_is_another_node_of_the_journal(backup: Path, penstock: Run, tmp_path: Path) -> None:
    with closing(apsw.Connection(str(backup))) as database:
        database.execute("INSERT OR REPLACE INTO keepsake VALUES ('journal-node', x'61')")
    restored = tmp_path / "elsewhere"
    assert penstock("restore", backup, "--data", restored).returncode == 0
    with closing(apsw.Connection(str(restored / "penstock.db"))) as database:
        assert database.execute("SELECT value FROM keepsake WHERE name='journal-node'").get == b"-a"

"""Makes the machine sick under a server that knows nothing of it: Python imports this file before anything else.

It is found through PYTHONPATH, which only the servers of `tests/faults` are given. What is wrong is read from files
in the folder SICK_FOLDER, so that a test can make it better and worse while the server runs:
  full     writes that make a file longer fail for lack of space
  broken   every write and every sync fails
  unwritten every write fails
  unsynced every sync fails
  slow     every sync takes this many seconds
  no-wal   from the start: a file system on which SQLite cannot share memory, and so cannot keep a log
  wall     this many seconds are added to the wall clock
"""

import os
import time
from pathlib import Path

import apsw

FOLDER = Path(os.environ["SICK_FOLDER"])
HONEST = "unix-none" if (FOLDER / "no-wal").exists() else "unix"


def has(ailment: str) -> bool:
    return (FOLDER / ailment).exists()


class File(apsw.VFSFile):
    def __init__(self, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        super().__init__(HONEST, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if has("broken") or has("unwritten"):
            raise apsw.IOError
        if has("full") and offset + len(data) > self.xFileSize():
            raise apsw.FullError
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if has("broken") or has("unsynced"):
            raise apsw.IOError
        if has("slow"):
            time.sleep(float((FOLDER / "slow").read_text()))
        super().xSync(flags)


class Disk(apsw.VFS):
    def __init__(self) -> None:
        super().__init__("sick", HONEST, makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> File:  # noqa: N802
        return File(name, flags)


disk = Disk()
honest_time_ns = time.time_ns


def time_ns() -> int:
    try:
        return honest_time_ns() + int(float((FOLDER / "wall").read_text()) * 1e9)
    except FileNotFoundError:
        return honest_time_ns()


time.time_ns = time_ns

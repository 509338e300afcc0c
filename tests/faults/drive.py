"""A drive that forgets: a block device with a file system on it, which may lose what was not flushed when it is cut.

`power` cuts what SQLite writes by its own means. This one cuts everything that a server keeps: the log that native code
writes past the cache, the journal's segments and their renames, the file system's own books. It is a file that a
process of its own serves (`platter`), with a loop device and ext4 on top.
"""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent
SIZE = 128 << 20


class NoDrives(Exception):
    """None can be made on this machine."""


class Drive:
    """As its user has it: its files are at `place` while it is on; the image of it is kept in `folder`."""

    def __init__(self, folder: Path, place: Path) -> None:
        if os.geteuid() or not Path("/dev/fuse").exists():
            raise NoDrives("it takes root and FUSE")
        self._image, self._file, self._place = folder / "image", folder / "drive", place
        self._file.touch()
        place.mkdir()
        with self._image.open("wb") as image:
            image.truncate(SIZE)
        run("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", self._image)

    def switch_on(self) -> None:
        words = [sys.executable, "-m", "faults.platter", self._image, self._file]
        self._process = subprocess.Popen(words, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._hear("on")
        run("mount", "-t", "ext4", "-o", "loop", self._file, self._place)

    def cut(self, seed: str, changes: int) -> None:
        """The power goes at the last of so many more writes and flushes. Whoever waits for the drive then is stuck
        until it is pulled out."""
        self._tell(f"cut {changes} {seed}")
        self._hear("cut")

    def lie(self) -> None:
        """From now on it says that it has flushed, and keeps nothing of what is written."""
        self._tell("lie")

    def pull_out(self) -> None:
        """After a cut, when those who were stuck are as good as dead."""
        self._process.communicate()
        run("umount", "--lazy", self._place)
        run("umount", "--lazy", self._file)

    def _tell(self, words: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{words}\n")
        self._process.stdin.flush()

    def _hear(self, word: str) -> None:
        assert self._process.stdout
        if self._process.stdout.readline() != f"{word}\n":
            raise NoDrives("FUSE does not let us")


def run(*words: str | Path) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoDrives(f"{words[0]}: {done.stderr.strip()}")

"""Room on the disk that is set aside for the day it is full: without any, not even a delete could be written down.

When the disk is full the reserve is given up. What makes room, or takes none, goes on in its place; the rest is refused
until the reserve can be set aside again.
"""

import os
from pathlib import Path

RESERVED_BYTES, LARGE_RESERVED_BYTES = 24 * 1024 * 1024, 80 * 1024 * 1024
"""More than the log may hold, and than a long one may: for a delete to find room in the log, what is in it must find
room in the database."""


class Reserve:
    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-reserve")
        self.bytes, self.kept = RESERVED_BYTES, False

    def enlarge(self) -> bool:
        """Set aside what a long log needs, if there is so much; else it stays as it is."""
        if self.kept and self.bytes < LARGE_RESERVED_BYTES:
            before, self.bytes, self.kept = self.bytes, LARGE_RESERVED_BYTES, False
            if not self.keep():
                self.bytes = before
                self.keep()
        return self.kept and self.bytes == LARGE_RESERVED_BYTES

    def keep(self) -> bool:
        """Set the room aside, if there is so much."""
        if not self.kept:
            try:
                file = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
                try:
                    os.posix_fallocate(file, 0, self.bytes)
                finally:
                    os.close(file)
                self.kept = True
            except OSError:
                self.give_up()
        return self.kept

    def give_up(self) -> None:
        self._path.unlink(missing_ok=True)
        self.kept = False

"""Room on the disk that is set aside for the day it is full: without any, not even a delete could be written down.

When the disk is full the reserve is given up. What makes room, or takes none, goes on in its place; the rest is refused
until the reserve can be set aside again.
"""

import os
from pathlib import Path

RESERVED_BYTES = 24 * 1024 * 1024
"""More than the log may hold: for a delete to find room in the log, what is in it must find room in the database."""


class Reserve:
    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-reserve")
        self.kept = False

    def keep(self) -> bool:
        """Set the room aside, if there is so much."""
        if not self.kept:
            try:
                file = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
                try:
                    os.posix_fallocate(file, 0, RESERVED_BYTES)
                finally:
                    os.close(file)
                self.kept = True
            except OSError:
                self.give_up()
        return self.kept

    def give_up(self) -> None:
        self._path.unlink(missing_ok=True)
        self.kept = False

"""Nodes of which there is rightly no file: retention took the last one, or nothing happened since the node began.

It is written down beside the nodes' folders, so that whoever verifies a journal can tell it from files that somebody
deleted. It is a note for that alone: a server neither reads it nor stops for it.
"""

import contextlib
from pathlib import Path

import msgspec

from penstock.journal.disk import Disk

FILE = "_absent.json"


class Absence:
    def __init__(self, directory: Path, disk: Disk | None = None) -> None:
        self._path, self._disk = directory / FILE, disk or Disk()

    def all(self) -> dict[str, int]:
        """Of each node, the number up to which nothing is here."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, int])
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return {}

    def note(self, absent: dict[str, int]) -> None:
        with contextlib.suppress(OSError):  # a full disk; what there is to do goes on
            self._disk.replace(self._path, msgspec.json.encode(self.all() | absent))

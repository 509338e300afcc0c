"""Registered readers, and how far each has committed: one small file, replaced as a whole.

A reader is a name. Nobody has to register to read: it is a promise that segments are kept until they are committed.
"""

import re
from pathlib import Path

import msgspec

from penstock.core.errors import invalid_value
from penstock.core.journal import ReaderState, UnknownReader
from penstock.core.store import StoreError
from penstock.journal.disk import Disk

FILE = "_readers.json"
NAME = re.compile(r"[A-Za-z0-9._-]{1,80}")


class Readers:
    def __init__(self, directory: Path, disk: Disk | None = None) -> None:
        self._path, self._disk = directory / FILE, disk or Disk()

    def all(self) -> dict[str, ReaderState]:
        try:
            states = msgspec.json.decode(self._path.read_bytes(), type=list[ReaderState])
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise StoreError(
                f"{self._path} is damaged ({error}): mend it, or remove it and let readers register again."
            ) from error
        return {state.name: state for state in states}

    def register(self, name: str, now: int) -> ReaderState:
        if not NAME.fullmatch(name):
            raise invalid_value(
                name, "ReaderName", "Can only include 1 to 80 alphanumeric characters, '.', '-' or '_'."
            )
        states = self.all()
        if name not in states:
            states[name] = ReaderState(name, now, {})
            self._save(states)
        return states[name]

    def commit(self, name: str, node: str, seq: int) -> ReaderState:
        states = self.all()
        state = self._find(states, name)
        states[name] = state._replace(committed={**state.committed, node: seq})
        self._save(states)
        return states[name]

    def remove(self, name: str) -> None:
        states = self.all()
        self._find(states, name)
        del states[name]
        self._save(states)

    def committed(self, node: str) -> int | None:
        """Up to where every reader has committed; None if there are no readers."""
        return min((state.committed.get(node, 0) for state in self.all().values()), default=None)

    def _find(self, states: dict[str, ReaderState], name: str) -> ReaderState:
        if name not in states:
            raise UnknownReader(name)
        return states[name]

    def _save(self, states: dict[str, ReaderState]) -> None:
        self._disk.replace(self._path, msgspec.json.encode(list(states.values())))

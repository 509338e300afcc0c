"""Which files a table consists of: an append-only log of commits, each of which appears whole or not at all.

    _manifest/00000000000000000007.json    one commit: files that came, files that went, who committed
    _manifest/00000000000000000040.whole   the sum of all commits up to this one, so that nobody reads more than fifty

A commit names its query and its batch. The same batch of the same query commits once, however often it is tried: that,
and the next number being free for one writer only, is all of exactly-once.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.pipeline.files import Files, Taken
from penstock.pipeline.told import Told

FOLDER = "_manifest"
EVERY = 50
"""Commits between two sums."""
TRIES = 20


@dataclass(frozen=True)
class Commit:
    query: str
    batch: int | None
    """None for upkeep, which brings no rows and may happen any number of times."""
    added: Sequence[str] = ()
    removed: Sequence[str] = ()
    rows: int = 0


@dataclass(frozen=True)
class State:
    """A table at one version."""

    version: int = 0
    live: Mapping[str, int] = field(default_factory=dict)
    """File → the version that added it."""
    batches: Mapping[str, int] = field(default_factory=dict)
    """Query → its last batch."""
    rows: int = 0

    def has(self, query: str, batch: int) -> bool:
        return self.batches.get(query, -1) >= batch

    def after(self, commit: Commit) -> "State":
        gone = set(commit.removed)
        live = {path: version for path, version in self.live.items() if path not in gone}
        live |= dict.fromkeys(commit.added, self.version + 1)
        return State(
            version=self.version + 1,
            live=live,
            batches=self.batches if commit.batch is None else {**self.batches, commit.query: commit.batch},
            rows=self.rows + commit.rows,
        )


class Manifest:
    def __init__(self, files: Files) -> None:
        self._files = files

    def state(self) -> State:
        names = sorted(found.path.rpartition("/")[2] for found in self._files.below(FOLDER))
        sums = [name for name in names if name.endswith(".whole")]
        state = State(**self._load(sums[-1])) if sums else State()
        for name in names:
            if name.endswith(".json") and int(name[:20]) > state.version:
                if int(name[:20]) != state.version + 1:
                    raise Broken(f"{self._files.url(FOLDER)} lacks commit {state.version + 1}: it was deleted by hand")
                state = state.after(Commit(**self._load(name)))
        return state

    def _load(self, name: str) -> Mapping[str, Any]:
        content = self._files.read(f"{FOLDER}/{name}")
        try:
            return json.loads(content or b"")
        except ValueError:
            raise Broken(f"{self._files.url(FOLDER)}/{name} is not a commit of a table") from None

    def commit(self, make: Callable[[State], Commit]) -> State:
        """Commit what `make` says for the newest state; it is asked again if another writer was quicker."""
        for _ in range(TRIES):
            state = self.state()
            commit = make(state)
            if commit.batch is not None and state.has(commit.query, commit.batch):
                return state
            new = state.after(commit)
            try:
                self._files.create(f"{FOLDER}/{new.version:020d}.json", _json(commit))
            except Taken:
                continue
            if new.version % EVERY == 0:
                self._sum_up(new)
            return new
        raise Broken(f"{self._files.url()} has too many writers")

    def _sum_up(self, state: State) -> None:
        self._files.replace(f"{FOLDER}/{state.version:020d}.whole", _json(state))
        for found in list(self._files.below(FOLDER)):
            name = found.path.rpartition("/")[2]
            if name[:20].isdigit() and int(name[:20]) <= state.version - EVERY:
                self._files.remove(found.path)


class Broken(Told):
    """The table's own files are not as they were written."""


def _json(what: Commit | State) -> bytes:
    return json.dumps(vars(what), separators=(",", ":")).encode()

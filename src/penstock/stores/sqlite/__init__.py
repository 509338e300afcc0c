"""The embedded store: one SQLite file, durable before every reply."""

from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

from penstock.stores.sqlite.store import SqliteStore


def from_url(url: str, native: ModuleType | None = None) -> SqliteStore:
    """`sqlite:///relative/path.db`, `sqlite:////absolute/path.db`."""
    store = SqliteStore(Path(unquote(urlsplit(url).path[1:])))
    store.native = native
    return store


__all__ = ["SqliteStore", "from_url"]

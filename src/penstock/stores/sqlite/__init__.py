"""The embedded store: one SQLite file, durable before every reply."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from penstock.stores.sqlite.store import SqliteStore


def from_url(url: str) -> SqliteStore:
    """`sqlite:///relative/path.db`, `sqlite:////absolute/path.db`."""
    return SqliteStore(Path(unquote(urlsplit(url).path[1:])))


__all__ = ["SqliteStore", "from_url"]

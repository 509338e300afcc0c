"""The embedded store: one SQLite file, durable before every reply."""

from penstock.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]

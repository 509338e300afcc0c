"""The reading copy of the rules: `contents` is what one queue does, `store` is how queues act on each other."""

from types import ModuleType

from penstock.stores.memory.store import MemoryStore


def from_url(url: str, native: ModuleType | None = None) -> MemoryStore:
    return MemoryStore()


__all__ = ["MemoryStore", "from_url"]

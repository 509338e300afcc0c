"""The reading copy of the rules: `contents` is what one queue does, `store` is how queues act on each other."""

from penstock.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]

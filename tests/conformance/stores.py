"""The stores under test. A new store is one more entry in `STORES`, and inherits every case in this folder."""

import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path

from penstock.core.store import Store
from penstock.stores.memory import MemoryStore


def _memory(folder: Path) -> Store:
    return MemoryStore()


def _sqlite(folder: Path) -> Store:
    from .encrypted import EncryptedStore

    return EncryptedStore(folder / "penstock.db")


def _native(folder: Path) -> Store:
    from .natively import NativeStore

    return NativeStore(folder / "penstock.db")


STORES: dict[str, Callable[[Path], Store]] = {"memory": _memory}
"""Name → a function that makes a store of what is in a folder: called again with the same folder, the same store."""
if importlib.util.find_spec("penstock.stores.sqlite"):
    STORES["sqlite"] = _sqlite
    STORES["native"] = _native


def new_folder() -> Path:
    """Rules are under test here, not disks: what is written goes to memory where there is such a place."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="penstock-", dir=memory if memory.is_dir() else None))

"""Families of interchangeable parts: a name, and where the part is. Loaded when first used."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.core.store import Store

SERVICES = {
    "sqs": "penstock.api.sqs",
    "sts": "penstock.api.sts",
    "iam": "penstock.api.iam",
    "cloudwatch": "penstock.api.cloudwatch",
    "penstock": "penstock.api.own",
}
"""Services on the wire: modules with a SERVICE and its OPERATIONS."""

STORES = {
    "memory": "penstock.stores.memory:from_url",
    "sqlite": "penstock.stores.sqlite:from_url",
}
"""Stores by the scheme of their URL: what makes one from the URL."""


def store_at(url: str, native: ModuleType | None = None) -> "Store":
    store: Store = load(STORES[url.partition(":")[0]])(url, native)
    return store


def native() -> ModuleType | None:
    """What is compiled (`native/`), if it was built; without it everything is done in Python."""
    try:
        return import_module("penstock.native")
    except ImportError:
        return None


def load(where: str) -> Any:
    module, _, attribute = where.partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded

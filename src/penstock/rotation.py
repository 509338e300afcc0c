"""Replacing the master key, step by step, each of which leaves everything readable whatever becomes of the next.

First the new key is there beside the old ones; then everything that lies in the store sealed is sealed anew; then the
store says that it is written with the new key; and only then, if that is wanted, the old ones go. Whoever was killed
on the way begins again: a rotation that is not finished is finished, without yet another key.

A key from the settings is the operator's to make and to take away: then the first of several is the new one.
"""

from collections.abc import AsyncIterator

from penstock.api.identities import Identities
from penstock.config import Settings
from penstock.core.keyring import Keyring
from penstock.core.store import Store, StoreError
from penstock.core.vault import Vault, name_of, sealer_of
from penstock.masterkey import KEPT, keys_of, make_key, remember, vault_of, write_keys


async def rotation(settings: Settings, store: Store, forget: bool = False) -> AsyncIterator[str]:
    """What has been done, after each step. The store is open, and nobody else has it."""
    await vault_of(settings, store)  # a wrong key is told before anything is changed
    keys = keys_of(settings)
    if sealer_of(await store.keep(KEPT, b"")) == name_of(keys[0]):
        if settings.master_key:
            raise StoreError("the first key of master_key is in force already; put the new one before it")
        keys = [make_key(settings, keys), *keys]
        yield f"The master key {name_of(keys[0]).hex()} was made."
    vault = Vault(keys)
    store.attach_keys(Keyring(vault))
    yield f"{await store.reseal()} data keys were sealed anew."
    yield f"{await Identities(store, vault, {}).reseal()} secret keys were sealed anew."
    await remember(vault, store)
    yield f"The store is written with {name_of(keys[0]).hex()}."
    if forget and not settings.master_key:
        write_keys(settings.master_key_file, keys[:1])
        yield f"Older keys are forgotten: {', '.join(name_of(key).hex() for key in keys[1:])}."

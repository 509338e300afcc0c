"""The master keys under which secrets lie in the store: from the settings, or from a file made at the first start.

The file has a key in each line, in base64, the one in force first; older ones only open what they sealed. Whoever has
the file and a copy of the store has everything, so they are best backed up apart.
"""

import base64
import binascii
import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path

from penstock.config import Settings
from penstock.core.store import Store, StoreError
from penstock.core.vault import KEY_BYTES, Unopenable, Vault, sealer_of

PUT_BACK = "put back master.key, or name the right one in master_key_file or PENSTOCK_MASTER_KEY"


KEPT = "master-key-check"
"""Under which name a store keeps a text that is sealed: who opens it has the right master key."""
_KNOWN = b"what was sealed with the master key"


async def vault_of(settings: Settings, store: Store) -> Vault:
    """The vault that the store was written with; a key is made for a store that was written with none. A wrong key is
    refused here, before anything is taken for damaged because it does not open."""
    sealed = await store.keep(KEPT, b"")
    keys = keys_of(settings)
    if not keys and sealed:
        raise StoreError(
            f"there is no {settings.master_key_file}, and the store was written with the master key "
            f"{sealer_of(sealed).hex()}; {PUT_BACK}"
        )
    vault = Vault(keys or [make_key(settings)])
    if not sealed:
        await remember(vault, store)
    elif not opens(vault, sealed):
        raise StoreError(
            f"the master key is not the one that the store was written with ({sealer_of(sealed).hex()}); {PUT_BACK}"
        )
    return vault


def opens(vault: Vault, sealed: bytes) -> bool:
    try:
        return vault.open(sealed, KEPT.encode()) == _KNOWN
    except Unopenable:
        return False


async def remember(vault: Vault, store: Store) -> None:
    """The store is written with this vault from now on."""
    await store.put(KEPT, vault.seal(_KNOWN, KEPT.encode()))


def keys_of(settings: Settings) -> list[bytes]:
    """Those there are, the one in force first."""
    if settings.master_key:
        return [decoded(text) for text in settings.master_key.split()]
    return read_keys(settings.master_key_file)


def read_keys(file: Path) -> list[bytes]:
    """None of them if there is no file."""
    try:
        lines = file.read_bytes().split()
    except FileNotFoundError:
        return []
    try:
        keys = [decoded(line.decode("latin-1")) for line in lines]
    except ValueError as error:
        raise StoreError(f"{file}: {error}; put back the file that the store was written with") from None
    if not keys:
        raise StoreError(f"{file} is empty; put back the file that the store was written with")
    return keys


def is_open(file: Path) -> bool:
    """Whether everybody on this machine can read it."""
    return file.is_file() and bool(stat.S_IMODE(file.stat().st_mode) & stat.S_IROTH)


def make_key(settings: Settings, older: Sequence[bytes] = ()) -> bytes:
    """A new key, which is in force from now on."""
    key = secrets.token_bytes(KEY_BYTES)
    write_keys(settings.master_key_file, [key, *older])
    return key


def write_keys(file: Path, keys: Sequence[bytes]) -> None:
    """Readable by its owner alone, and whole or not at all."""
    partial = file.with_name(f"{file.name}.partial")
    partial.unlink(missing_ok=True)
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as written:
        written.writelines(f"{base64.b64encode(key).decode()}\n" for key in keys)
        written.flush()
        os.fsync(written.fileno())
    partial.rename(file)
    folder = os.open(file.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def decoded(text: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise ValueError("a master key is 32 bytes in base64")
    return key

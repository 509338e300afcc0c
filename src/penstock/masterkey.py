"""The master keys under which secrets lie in the store: from the settings, or from a file made at the first start.

The file has a key in each line, in base64, the one in force first; older ones only open what they sealed. Whoever has
the file and a copy of the store has everything, so they are best backed up apart.
"""

import base64
import binascii
import os
import secrets
from pathlib import Path

from penstock.config import Settings
from penstock.core.store import StoreError
from penstock.core.vault import KEY_BYTES, Vault


def vault_of(settings: Settings) -> Vault:
    if settings.master_key:
        return Vault([decoded(text) for text in settings.master_key.split()])
    assert settings.master_key_file is not None, "the settings fill it in"
    return Vault(read_keys(settings.master_key_file) or [make_key(settings.master_key_file)])


def read_keys(file: Path) -> list[bytes]:
    """None if there is no file yet."""
    try:
        lines = file.read_text().split()
    except FileNotFoundError:
        return []
    try:
        keys = [decoded(line) for line in lines]
    except ValueError as error:
        raise StoreError(f"{file}: {error}; put back the file that the store was written with") from None
    if not keys:
        raise StoreError(f"{file} is empty; put back the file that the store was written with")
    return keys


def make_key(file: Path) -> bytes:
    key = secrets.token_bytes(KEY_BYTES)
    write_keys(file, [key])
    return key


def write_keys(file: Path, keys: list[bytes]) -> None:
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

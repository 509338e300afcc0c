"""What must not lie on a disk as it is: sealed with a master key, and opened again by whoever has it.

A sealed text names the master key that sealed it, so keys can be changed while texts of the old ones are about. It is
bound to what it is `about` (AES-256-GCM's associated data): moved elsewhere, it does not open. Where master keys come
from is not known here.
"""

import secrets
from collections.abc import Sequence
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
NONCE_BYTES = 12
NAME_BYTES = 4


class Unopenable(Exception):
    """It was sealed with a key that is not here, or it is not what was sealed."""


class Vault:
    """The first of `keys` seals; any of them opens."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = tuple(keys)
        self._ciphers = {name_of(key): AESGCM(key) for key in keys}
        self.name = name_of(keys[0])

    def seal(self, plain: bytes, about: bytes) -> bytes:
        nonce = secrets.token_bytes(NONCE_BYTES)
        return self.name + nonce + self._ciphers[self.name].encrypt(nonce, plain, about)

    def open(self, sealed: bytes, about: bytes) -> bytes:
        name, nonce = sealed[:NAME_BYTES], sealed[NAME_BYTES : NAME_BYTES + NONCE_BYTES]
        cipher = self._ciphers.get(name)
        if cipher is None:
            raise Unopenable(f"the master key {name.hex()} is not here")
        try:
            return cipher.decrypt(nonce, sealed[NAME_BYTES + NONCE_BYTES :], about)
        except (InvalidTag, ValueError):
            raise Unopenable("it is not what was sealed") from None

    def has(self, name: bytes) -> bool:
        """Whether what the key of this name sealed can be opened."""
        return name in self._ciphers

    def derived(self, label: str) -> "Vault":
        """A vault whose keys follow from these and from the label (HKDF), and tell nothing of these or of others."""
        return Vault([HKDF(SHA256(), KEY_BYTES, None, label.encode()).derive(key) for key in self._keys])


def sealer_of(sealed: bytes) -> bytes:
    """The name of the key that sealed it."""
    return sealed[:NAME_BYTES]


def name_of(key: bytes) -> bytes:
    return sha256(b"penstock master key " + key).digest()[:NAME_BYTES]

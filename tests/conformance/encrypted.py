"""The embedded store as a server has it: with keys. What it writes only when there is much, it writes often."""

from penstock.core.keyring import Keyring
from penstock.core.vault import KEY_BYTES, Vault
from penstock.stores.sqlite import SqliteStore

KEYRING = Keyring(Vault([b"c" * KEY_BYTES]), ["alias/orders"])


class EncryptedStore(SqliteStore):
    async def open(self) -> None:
        await super().open()
        self.attach_keys(KEYRING)
        self._runs.most_new_runs = 4

"""The root account's key: who may do everything, from the first start on."""

import json
import os
import re
from pathlib import Path

import structlog

from penstock.api.identities import Identities
from penstock.config import Settings
from penstock.core.directory import AccessKey
from penstock.core.identifiers import new_key
from penstock.core.store import Store, StoreError
from penstock.masterkey import PUT_BACK

log = structlog.get_logger("penstock")

KEPT = "root-key"
"""Under which name stores of earlier versions keep it, as it is."""


class RootCredentials:
    """The root account's key: from the settings, or made at the first start and kept in the store, sealed.

    `file` is a copy in the form that AWS tools read, for the operator alone."""

    def __init__(self, access_key: str, secret_key: str, file: Path) -> None:
        self.access_key, self.secret_key, self.file = access_key, secret_key, file
        self.made_now = False

    @classmethod
    async def of(cls, settings: Settings, identities: Identities, store: Store, now: int) -> "RootCredentials":
        credentials = cls(settings.root_access_key, settings.root_secret_key, settings.data / "credentials")
        if not credentials.access_key:
            await credentials._find(settings.root_account, identities, store, now)
        credentials.write()
        return credentials

    async def _find(self, account: str, identities: Identities, store: Store, now: int) -> None:
        """The key that the file names, or else the newest that may be used; one is made if there is none."""
        async with identities.changing() as directory:
            keys = [key.name for key in directory.keys_of(account, "") if key.active]
            if keys:
                named = self._named()
                self.access_key = named if named in keys else keys[-1]
                known = identities.get(self.access_key)
                if known is None:
                    raise StoreError(f"the master key does not open the root account's key; {PUT_BACK}")
                self.secret_key = known.secret
                return
            earlier = await store.keep(KEPT, b"")
            self.access_key, self.secret_key = json.loads(earlier) if earlier else new_key()
            sealed = identities.sealed(self.access_key, self.secret_key)
            await identities.save(AccessKey(account=account, name=self.access_key, created=now, secret=sealed))
            self.made_now = not earlier
            if earlier:
                await store.put(KEPT, b"")

    def change(self, access_key: str, secret_key: str) -> None:
        """The key is another one from now on. If the copy cannot be written, the next start writes it."""
        self.access_key, self.secret_key = access_key, secret_key
        try:
            self.write()
        except OSError as error:
            log.warning("the root account's key is not in its file", file=str(self.file), reason=str(error))

    def _named(self) -> str:
        """The id of the key in the file, if there is one."""
        try:
            found = re.search(r"^aws_access_key_id = (\S+)$", self.file.read_text(), re.MULTILINE)
        except (OSError, UnicodeDecodeError):
            return ""
        return found[1] if found else ""

    def write(self) -> None:
        text = f"[default]\naws_access_key_id = {self.access_key}\naws_secret_access_key = {self.secret_key}\n"
        try:
            if self.file.read_text() == text:
                return
        except (FileNotFoundError, UnicodeDecodeError):  # damaged is as good as gone: what counts is elsewhere
            pass
        partial = self.file.with_name("credentials.partial")
        partial.unlink(missing_ok=True)
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        partial.rename(self.file)

"""The root account's key: who may do everything, from the first start on."""

import json
import os
import secrets
from pathlib import Path

from penstock.config import Settings
from penstock.core.store import Store


class RootCredentials:
    """The root account's key: from the settings, or made at the first start and kept in the store.

    `file` is a copy in the form that AWS tools read, for the operator alone."""

    def __init__(self, access_key: str, secret_key: str, file: Path) -> None:
        self.access_key, self.secret_key, self.file = access_key, secret_key, file
        self.made_now = False

    @classmethod
    async def of(cls, settings: Settings, store: Store) -> "RootCredentials":
        if settings.root_access_key:
            access_key, secret_key = settings.root_access_key, settings.root_secret_key
        else:
            made = [f"AKIA{secrets.token_hex(8).upper()}", secrets.token_urlsafe(30)]
            access_key, secret_key = json.loads(await store.keep("root-key", json.dumps(made).encode()))
        credentials = cls(access_key, secret_key, settings.data / "credentials")
        credentials.made_now = credentials.write() and not settings.root_access_key
        return credentials

    def write(self) -> bool:
        """Whether the file did not say so already."""
        text = f"[default]\naws_access_key_id = {self.access_key}\naws_secret_access_key = {self.secret_key}\n"
        try:
            if self.file.read_text() == text:
                return False
        except (FileNotFoundError, UnicodeDecodeError):  # damaged is as good as gone: what counts is elsewhere
            pass
        partial = self.file.with_name("credentials.partial")
        partial.unlink(missing_ok=True)
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        partial.rename(self.file)
        return True

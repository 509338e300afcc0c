"""The copy of the root account's key in the data directory."""

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.api.identities import Identities
from penstock.config import Settings
from penstock.core.directory import AccessKey
from penstock.core.store import StoreError
from penstock.core.vault import KEY_BYTES, Vault
from penstock.credentials import KEPT, RootCredentials
from penstock.stores.memory import MemoryStore

ACCOUNT = "000000000000"


class Life:
    """One start of a server after the other, on one store and one directory."""

    def __init__(self, data: Path) -> None:
        self.settings, self.store = replace(Settings(), data=data), MemoryStore()
        self.vault = Vault([b"m" * KEY_BYTES])

    async def start(self) -> RootCredentials:
        self.identities = Identities(self.store, self.vault, {})
        await self.identities.refresh()
        return await RootCredentials.of(self.settings, self.identities, self.store, 1)

    async def add(self, name: str, created: int) -> None:
        async with self.identities.changing():
            secret = self.identities.sealed(name, f"secret of {name}")
            await self.identities.save(AccessKey(account=ACCOUNT, name=name, created=created, secret=secret))


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path)


async def test_a_key_is_made_once_and_shown_once(life: Life) -> None:
    first, second = await life.start(), await life.start()
    assert (first.made_now, second.made_now) == (True, False)
    assert (first.access_key, first.secret_key) == (second.access_key, second.secret_key)


async def test_a_key_that_was_made_later_does_not_take_the_place_of_the_one_in_the_file(life: Life) -> None:
    first = await life.start()
    await life.add("AKIALATER", 2)
    assert (await life.start()).access_key == first.access_key


async def test_without_the_file_it_is_the_newest_key_and_its_secret_is_not_shown(life: Life) -> None:
    first = await life.start()
    await life.add("AKIALATER", 2)
    first.file.unlink()
    found = await life.start()
    assert (found.access_key, found.secret_key, found.made_now) == ("AKIALATER", "secret of AKIALATER", False)
    assert "AKIALATER" in found.file.read_text()


async def test_the_key_of_an_earlier_version_is_sealed_and_its_clear_text_is_gone(life: Life) -> None:
    await life.store.put(KEPT, b'["AKIAEARLIER","plain"]')
    found = await life.start()
    assert (found.access_key, found.secret_key, found.made_now) == ("AKIAEARLIER", "plain", False)
    assert await life.store.keep(KEPT, b"") == b""


async def test_another_master_key_is_told_before_anything_is_changed(life: Life) -> None:
    await life.start()
    life.vault = Vault([b"x" * KEY_BYTES])
    with pytest.raises(StoreError, match=r"put back master\.key"):
        await life.start()


def test_a_changed_key_is_in_the_file(tmp_path: Path) -> None:
    credentials = RootCredentials("AKIAOLD", "old", tmp_path / "credentials")
    credentials.write()
    credentials.change("AKIANEW", "new")
    text = (tmp_path / "credentials").read_text()
    assert "AKIANEW" in text
    assert "AKIAOLD" not in text


def test_a_file_that_cannot_be_written_stops_nobody_who_changes_the_key(tmp_path: Path) -> None:
    credentials = RootCredentials("AKIAOLD", "old", tmp_path / "gone" / "credentials")
    credentials.change("AKIANEW", "new")
    assert (credentials.access_key, credentials.secret_key) == ("AKIANEW", "new")

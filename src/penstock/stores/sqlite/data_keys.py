"""Data keys: what the contents of an encrypted queue's messages are encrypted with (AES-256-GCM).

A content that is encrypted begins with a byte that no packed content begins with, and the number of its data key. It is
bound to that number and to its message's id: as the content of another message it does not open.

A data key is made when a queue is first sent something after a start, and serves until its time is over (a day, or
what the queue says of its key of KMS), until it has encrypted so many messages that random nonces are still far from
meeting, until the queue names another key of KMS, or until the server stops. It is kept as long as its queue may hold
a message of it. It is made in the transaction of the first message that needs it: after a rollback there is no trace of
it, and it must never be used again, so everything that is known here is forgotten.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from os import urandom
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from penstock.core.keyring import KeyRefused, Keyring, plain_name
from penstock.core.store import StoreError
from penstock.core.vault import KEY_BYTES, NONCE_BYTES, Unopenable
from penstock.stores.sqlite.catalogue import Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.runs import Runs

MARK = b"\xc1"
"""MessagePack never uses it."""
HEADER_BYTES = 7
_CONTENT = HEADER_BYTES + NONCE_BYTES
MOST_MESSAGES = 2**28
"""Under one data key: two of so many random nonces are the same once in 2 to the power of 41 keys."""
OPENED_AT_MOST = 20_000
"""Of those that encrypt no more. Each takes two and a half kilobytes."""


class DataKey:
    """One that encrypts. `native` does the same in native code, if there is any."""

    __slots__ = ("_header", "cipher", "left", "master", "native", "number", "until")

    def __init__(self, number: int, master: str, cipher: AESGCM, native: Any, until: int) -> None:
        self._header, self.native = MARK + number.to_bytes(HEADER_BYTES - 1), native
        self.number, self.cipher, self.master, self.until, self.left = number, cipher, master, until, MOST_MESSAGES

    def serves(self, master: str, now: int) -> bool:
        return self.master == master and now < self.until and self.left > 0

    def encrypted(self, identity: bytes, content: bytes) -> bytes:
        self.left -= 1
        nonce, header = urandom(NONCE_BYTES), self._header
        return header + nonce + self.cipher.encrypt(nonce, content, header + identity)


class DataKeys:
    """`native_cipher` makes what encrypts and decrypts in native code, if there is any, of a number and a secret."""

    def __init__(self, db: Database, runs: Runs) -> None:
        self._db, self._runs = db, runs
        self._keyring: Keyring | None = None
        self.native_cipher: Callable[[int, bytes], Any] | None = None
        self.forget()

    def attach(self, keyring: Keyring) -> None:
        if missing := self._missing(keyring):
            raise StoreError(
                f"messages are encrypted under a master key that is not here ({', '.join(sorted(missing))}); put it "
                "back into master.key, or into PENSTOCK_MASTER_KEY after the one in force"
            )
        self._keyring = keyring

    def _missing(self, keyring: Keyring) -> set[str]:
        """Names of master keys that data keys were sealed with, and that are not there."""
        sealers = self._db.execute("SELECT DISTINCT master, substr(sealed, 1, 4) FROM data_key").fetchall()
        return {f"{name.hex()} of {master}" for master, name in sealers if not keyring.any_vault(master).has(name)}

    def forget(self) -> None:
        """After a rollback."""
        self._in_use: dict[int, DataKey] = {}
        self._ciphers: dict[int, AESGCM] = {}
        """Of those in use, by number: what encrypts a message also decrypts it."""
        self.natives: dict[int, Any] = {}
        """Of those in use, too, by number."""
        self._opened = lru_cache(OPENED_AT_MOST)(self._open)

    def left(self, queue_id: int) -> None:
        """The queue is gone, or is empty for good: nothing that its keys encrypted is ever read again."""
        self._drop(queue_id)
        self._db.execute("DELETE FROM data_key WHERE queue=?", (queue_id,))

    def usable(self, entry: Entry) -> bool:
        """Whether a message can be stored in this queue now."""
        master = entry.queue.encrypted_by
        with suppress(KeyRefused):
            if master and self._keyring is not None:
                self._keyring.check(master)
            return True
        return False

    def is_settled(self, entry: Entry, now: int) -> bool:
        """Whether messages that come into the queue now are in clear, or what encrypts them is there already."""
        master, key = entry.queue.encrypted_by, self._in_use.get(entry.id)
        return not master or self._keyring is None or (key is not None and key.serves(master, now))

    def key_for(self, entry: Entry, now: int) -> DataKey | None:
        """What encrypts messages that come into the queue now; None if they are to be in clear."""
        master = entry.queue.encrypted_by
        if not master or self._keyring is None:
            return None
        key = self._in_use.get(entry.id)
        if key is None or not key.serves(master, now):
            key = self._made(entry, master, self._keyring, now)
            self._drop(entry.id)
            entry.revise()
            self._in_use[entry.id], self._ciphers[key.number] = key, key.cipher
            if key.native is not None:
                self.natives[key.number] = key.native
        return key

    def _drop(self, queue_id: int) -> None:
        if key := self._in_use.pop(queue_id, None):
            del self._ciphers[key.number]
            self.natives.pop(key.number, None)

    def _made(self, entry: Entry, master: str, keyring: Keyring, now: int) -> DataKey:
        vault, secret = keyring.vault(master), urandom(KEY_BYTES)
        self._retire(entry, now)
        self._db.execute(
            "INSERT INTO data_key (queue, master, sealed) VALUES (?,?,?)",
            (entry.id, plain_name(master), vault.seal(secret, _about(entry.id))),
        )
        number: int = self._db.execute("SELECT last_insert_rowid()").get
        native = self.native_cipher(number, secret) if self.native_cipher else None
        return DataKey(number, master, AESGCM(secret), native, now + entry.queue.data_key_seconds * 1000)

    def _retire(self, entry: Entry, now: int) -> None:
        """Nothing is encrypted with the queue's earlier keys any more, and those that no message can need are dropped.
        A message may be of a later time than this if the system's clock was put back."""
        oldest, newest = self._runs.oldest(entry.shelf), self._runs.newest(entry.shelf)
        retired = max(now, newest or 0)
        self._db.execute("UPDATE data_key SET retired=? WHERE queue=? AND retired IS NULL", (retired, entry.id))
        if oldest is None:
            self._db.execute("DELETE FROM data_key WHERE queue=?", (entry.id,))
        else:
            self._db.execute("DELETE FROM data_key WHERE queue=? AND retired<?", (entry.id, oldest))

    def decrypted(self, identity: bytes, content: bytes) -> bytes:
        """Raises Unopenable if it is not what was encrypted, KeyRefused if its key must not be used now."""
        header = content[:HEADER_BYTES]
        number = int.from_bytes(header[1:])
        cipher = self._ciphers.get(number) or self._opened(number)
        try:
            return cipher.decrypt(content[HEADER_BYTES:_CONTENT], content[_CONTENT:], header + identity)
        except (InvalidTag, ValueError):
            raise Unopenable("it is not what was encrypted") from None

    def _open(self, number: int) -> AESGCM:
        row = self._db.execute("SELECT queue, master, sealed FROM data_key WHERE number=?", (number,)).get
        if row is None:
            raise Unopenable("its data key is gone")
        queue, master, sealed = row
        if self._keyring is None:
            raise KeyRefused("KmsInvalidState", "There is no master key.")
        return AESGCM(self._keyring.vault(master).open(sealed, _about(queue)))

    def reseal(self) -> int:
        """Also those whose key of KMS refuses: nobody reads them now, but they must open when it is back."""
        assert self._keyring is not None, "there is nothing to seal with"
        self._db.execute("PRAGMA secure_delete=ON")
        rows = self._db.execute("SELECT number, queue, master, sealed FROM data_key").fetchall()
        for number, queue, master, sealed in rows:
            vault, about = self._keyring.any_vault(master), _about(queue)
            anew = vault.seal(vault.open(sealed, about), about)
            self._db.execute("UPDATE data_key SET sealed=? WHERE number=?", (anew, number))
        return len(rows)


def _about(queue_id: int) -> bytes:
    return f"data key of queue {queue_id}".encode()

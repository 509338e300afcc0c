"""The directory of principals, kept in step with the store: whose a key is, and which policies hold for whom.

What is asked on every request is answered from memory. A change is written to the store first, all of it or nothing,
and is in force here when the call that made it returns; what another process changed is seen by `refresh`, which a
loop calls every half second.

An operation that changes something looks and changes while it holds `changing`, so that what it saw still holds:

    async with identities.changing() as directory:
        if directory.user(account, name): raise …
        await identities.save(User(…))
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache

from msgspec.structs import replace

from penstock.api.grants import Standing, grants_of
from penstock.core import session
from penstock.core.directory import AccessKey, Directory, Entity, read, written
from penstock.core.errors import ServiceError
from penstock.core.identity import Principal, root_of
from penstock.core.policy import Grants
from penstock.core.store import RecordsChanged, Store
from penstock.core.vault import Unopenable, Vault

STANDINGS_REMEMBERED = 10_000
"""At once: anyone may make as many sessions as they like."""
ANSWERS_REMEMBERED = 100_000
"""Each takes some 150 bytes: ten thousand queues, and what is asked of each by a few callers."""
TOKENS_REMEMBERED = 1024
"""Only those that are good: nobody can push them out, or take memory, with tokens of his own making."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a request that names this access key is verified against, and who has made it then."""

    secret: str
    principal: Principal


class Identities:
    """`fixed` are keys that the settings name; no operation can change them."""

    def __init__(self, store: Store, vault: Vault, fixed: Mapping[str, Key]) -> None:
        self._store, self._vault, self._fixed = store, vault, dict(fixed)
        self._lock = asyncio.Lock()
        self.directory = Directory()
        self.version = -1
        """Grows with every change: what was worked out from the directory holds as long as this is the same."""
        self._keys: dict[str, Key | None] = dict(self._fixed)
        self._standings: dict[tuple[str, str, tuple[str, ...] | None], Standing] = {}
        self.allowed: set[tuple[object, ...]] = set()
        """What was asked and answered with yes, a standing being part of each question. No is never remembered."""
        self._session = lru_cache(TOKENS_REMEMBERED)(self._opened_session)

    async def refresh(self) -> None:
        """Read everything again if anything has changed since."""
        if self.version != await self._store.records_version():
            version, records = await self._store.records()
            directory = Directory()
            for record in records:
                directory.take(read(record))
            self.directory = directory
            self._changed(version)

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[Directory]:
        async with self._lock:
            await self.refresh()
            yield self.directory

    async def save(self, *entities: Entity, removed: Sequence[Entity] = ()) -> None:
        """Only while `changing`. Write these as they are now, remove those, at once."""
        assert self._lock.locked(), "a change that looks at nothing overwrites what others changed"
        try:
            version = await self._store.change_records(
                self.version, [written(entity) for entity in entities], [entity.key for entity in removed]
            )
        except RecordsChanged:
            raise ServiceError(
                "ConcurrentModificationException",
                "The request was rejected because multiple requests to change this object were submitted "
                "simultaneously. Wait a few minutes and submit your request again.",
            ) from None
        for entity in removed:
            self.directory.drop(entity)
        for entity in entities:
            self.directory.take(entity)
        self._changed(version)

    def _changed(self, version: int) -> None:
        self.version = version
        self._keys, self._standings, self.allowed = dict(self._fixed), {}, set()

    # Keys

    def get(self, access_key: str) -> Key | None:
        """None for a key that nobody has, or that is not to be used."""
        known = self._keys.get(access_key)
        if known is None and access_key in self.directory.keys:
            known = self._keys[access_key] = self._opened(self.directory.keys[access_key])
        return known

    def temporary(self, access_key: str, token: str) -> Key | None:
        """The same for a key that comes with a token, whether or not its time is over."""
        try:
            return self._session(access_key, token, self.version)
        except Unopenable:
            return None

    def issue(self, ticket: session.Ticket) -> session.Credentials:
        return session.issue(self._vault, ticket)

    def sealed(self, access_key: str, secret: str) -> bytes:
        return self._vault.seal(secret.encode(), access_key.encode())

    async def reseal(self) -> int:
        """Seal every secret key anew, with what seals now: how many there were."""
        async with self.changing() as directory:
            opened = []
            for key in directory.keys.values():
                with suppress(Unopenable):  # it has been of no use before, and is of none now
                    opened.append((key, self._vault.open(key.secret, key.name.encode()).decode()))
            await self.save(*(replace(key, secret=self.sealed(key.name, secret)) for key, secret in opened))
            return len(opened)

    def _opened(self, key: AccessKey) -> Key | None:
        principal = self._owner_of(key) if key.active else None
        try:
            return Key(self._vault.open(key.secret, key.name.encode()).decode(), principal) if principal else None
        except Unopenable:
            return None

    def _opened_session(self, access_key: str, token: str, version: int) -> Key:
        """Good for one version of the directory: a role that is deleted takes its sessions with it."""
        ticket = session.opened(self._vault, access_key, token)
        principal = session.bearer(ticket, self.directory)
        if principal is None or not (ticket.owner or self.get(ticket.owner_id)):
            raise Unopenable("whose it was is gone")
        return Key(ticket.secret, principal)

    def _owner_of(self, key: AccessKey) -> Principal | None:
        if not key.user:
            return root_of(key.account)
        user = self.directory.user(key.account, key.user)
        return user.principal if user else None

    def declared(self) -> Iterable[str]:
        """For each key that the settings name, whose it is."""
        return (key.principal.account for key in self._fixed.values())

    # Policies

    def grants(self, principal: Principal) -> Grants:
        """Which policies hold for a principal."""
        return self.standing(principal).grants

    def standing(self, principal: Principal) -> Standing:
        """The same, ready to decide by. Worked out when first asked for, until something changes."""
        session = principal.session
        key = principal.arn, principal.owner, session.policies if session else None
        known = self._standings.get(key)
        if known is None:
            if len(self._standings) >= STANDINGS_REMEMBERED:
                self._standings.clear()
            known = self._standings[key] = Standing(grants_of(principal, self.directory))
        return known

    def remember(self, question: tuple[object, ...]) -> None:
        if len(self.allowed) >= ANSWERS_REMEMBERED:
            self.allowed.clear()
        self.allowed.add(question)

    def has_account(self, account: str) -> bool:
        """Whether it was declared or made."""
        return account in self.directory.accounts or account in self.declared()

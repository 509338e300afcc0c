"""One request on its way through the pipeline, and what operations have to work with."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from penstock.api.addresses import Addresses
from penstock.api.identities import Identities
from penstock.api.waiting import WaitingRoom
from penstock.aws.http import HttpRequest
from penstock.core.audit import AuditLog
from penstock.core.clock import Clock
from penstock.core.errors import no_such_queue
from penstock.core.identity import NOBODY, Principal
from penstock.core.journal import Archive
from penstock.core.keyring import Keyring
from penstock.core.limits import Limits
from penstock.core.neighbourhood import neighbourhood_of
from penstock.core.queue import Queue, QueueKey
from penstock.core.store import Store
from penstock.core.thinning import REFUSED, Thinning


@dataclass(frozen=True)
class Site:
    """Where operations happen: everything that outlives a request."""

    store: Store
    clock: Clock
    room: WaitingRoom
    handle_key: bytes
    identities: Identities
    keyring: Keyring
    limits: Limits = field(default_factory=Limits)
    addresses: Addresses = field(default_factory=Addresses)
    move_started: Callable[[], None] = lambda: None
    recreate_wait_seconds: int = 60
    purge_wait_seconds: int = 60
    journal: Archive | None = None
    audit: AuditLog | None = None
    denials: Thinning = field(default_factory=lambda: Thinning(*REFUSED))
    """How many refusals become events of the journal."""
    root_account: str = "000000000000"
    refusals_take_ms: int = 5
    """More than deciding ever takes."""
    every_account_exists: bool = False
    """So it is with authentication off."""
    declared_accounts: Mapping[str, str] = field(default_factory=dict)
    """Those that the settings file has, and what it calls them."""
    root_key_changed: Callable[[str, str], None] = lambda access_key, secret: None
    """Told the key that the root account has from now on."""

    def trouble(self) -> str | None:
        """Why not all is well, if so."""
        parts = (self.store, self.journal, self.audit)
        return next((said for part in parts if part and (said := part.trouble())), None)


class Call(msgspec.Struct):
    """A request on its way: what is known of it is filled in as the gateway finds it out, and written down when it has
    been answered. `started` is for measuring how long that took, `arrived` is what the system's clock said then, and
    `moment` what ours did: it is the same for all that arrived together, and the time of what they do at once.
    `resource` is the queue that the request names, whether or not it exists, and `found` is that queue if it does.
    `version` is that of the directory by which the caller was made out, and `readmit` lets it in anew. Where it is
    `lasting`, whoever asks the same is let in as well, for as long as nothing changes."""

    site: Site
    http: HttpRequest
    id: str
    started: float = 0.0
    arrived: int = 0
    moment: int = 0
    version: int = 0
    wire: Any = None
    readmit: Any = None
    principal: Principal = NOBODY
    region: str = ""
    access_key: str = ""
    action: str = "Unknown"
    resource: QueueKey | None = None
    found: Queue | None = None
    service: Any = None
    operation: Any = None
    run: Any = None
    right: Any = None
    request: Any = None
    refusal: Exception | None = None
    result: str = "ok"
    status: int = 200
    lasting: bool = False

    def now(self) -> int:
        return self.site.clock.now()

    def queue(self) -> Queue:
        """The queue that the request names, as it was when the request was let in; it is an error if there is none."""
        if self.found is None:
            raise no_such_queue()
        return self.found

    def readable_queue(self) -> Queue:
        """The queue that the request names, if its messages may be written and read: its key of KMS must be usable."""
        queue = self.queue()
        self.check_readable(queue)
        return queue

    def check_readable(self, queue: Queue) -> None:
        if queue.kms_key:
            self.site.keyring.check(queue.kms_key)

    def url_of(self, queue: Queue) -> str:
        return f"{self.site.addresses.base_url(self.http)}/{queue.key.account}/{queue.key.name}"

    @property
    def crowd(self) -> str:
        """As one of whom a refused caller counts: its account, or of one who is not known its address."""
        return self.principal.account or neighbourhood_of(self.site.addresses.peer_of(self.http))

    @property
    def trace(self) -> str | None:
        given = self.http.headers.get(b"x-amzn-trace-id")
        return given.decode("latin-1") if given else None


Operation = Callable[[Call, Any], Awaitable[Any]]

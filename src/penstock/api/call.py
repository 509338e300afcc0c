"""One request on its way through the pipeline, and what operations have to work with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.api.waiting import WaitingRoom
from penstock.core.clock import Clock
from penstock.core.errors import no_such_queue
from penstock.core.identity import Principal
from penstock.core.limits import Limits
from penstock.core.queue import Queue, QueueKey
from penstock.core.store import Store


@dataclass(frozen=True)
class Site:
    """Where operations happen: everything that outlives a request."""

    store: Store
    clock: Clock
    room: WaitingRoom
    handle_key: bytes
    limits: Limits = field(default_factory=Limits)
    move_started: Callable[[], None] = lambda: None
    recreate_wait_seconds: int = 60
    purge_wait_seconds: int = 60


@dataclass(slots=True)
class Call:
    """An authenticated request. `base_url` is what queue URLs start with for this caller; `resource` is the queue that
    the request names, whether or not it exists."""

    site: Site
    principal: Principal
    region: str
    action: str
    base_url: str
    trace: str | None = None
    resource: QueueKey | None = None

    def now(self) -> int:
        return self.site.clock.now()

    async def queue(self) -> Queue:
        found = await self.site.store.find_queue(self.resource) if self.resource else None
        if found is None:
            raise no_such_queue()
        return found

    def url_of(self, queue: Queue) -> str:
        return f"{self.base_url}/{queue.key.account}/{queue.key.name}"


Operation = Callable[[Call, Any], Awaitable[Any]]

"""Queues declared in the settings file: created at start, or brought to what the file says; nothing is ever deleted."""

from collections.abc import Sequence

from penstock.api.call import Call, Site
from penstock.api.sqs.attributes import check_key, check_redrive
from penstock.aws.http import HttpRequest
from penstock.config import DeclaredQueue
from penstock.core import attributes
from penstock.core.errors import ServiceError
from penstock.core.identity import root_of
from penstock.core.journal import check_journal_tag
from penstock.core.naming import FIFO_SUFFIX
from penstock.core.queue import QueueKey


class DeclarationError(Exception):
    """Declared queues cannot be made; the message names each and why."""


async def declare(site: Site, queues: Sequence[DeclaredQueue]) -> None:
    """First all queues, then their attributes, so that a dead-letter queue may come after its sources."""
    problems = []
    for declared in queues:
        fifo = declared.name.endswith(FIFO_SUFFIX)
        first = {"FifoQueue": "true"} if fifo else {}
        await site.store.create_queue(_key(declared), first, dict(declared.tags), site.clock.now())
    for declared in queues:
        try:
            await _adjust(site, declared)
        except ServiceError as error:
            problems.append(f"queue {declared.name}: {error.message}")
    if problems:
        raise DeclarationError("; ".join(problems))


async def _adjust(site: Site, declared: DeclaredQueue) -> None:
    key = _key(declared)
    queue = await site.store.find_queue(key)
    if queue is None:
        return
    wanted = attributes.checked(declared.attributes, queue.fifo, site.limits)
    check_journal_tag(declared.tags)
    call = Call(site, HttpRequest("", b"", {}), "declared", principal=root_of(key.account), region=key.region)
    await check_redrive(call, key, queue.fifo, wanted, declared.attributes)
    changed = attributes.merged(queue.attributes, wanted)
    if changed.get("KmsMasterKeyId") != queue.attributes.get("KmsMasterKeyId"):  # one that it has may be disabled
        check_key(site, changed)
    tags = queue.tags | dict(declared.tags)
    if changed != queue.attributes or tags != queue.tags:
        await site.store.alter_queue(queue.id, changed, tags, site.clock.now())


def _key(declared: DeclaredQueue) -> QueueKey:
    return QueueKey(declared.region, declared.account, declared.name)

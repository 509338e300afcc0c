"""Which queue a request is about, read from its URL, its name or its ARN. Of a queue URL only the path counts: the host
may be a proxy's, or Amazon's."""

from functools import lru_cache
from typing import Any

from penstock.core.errors import ServiceError
from penstock.core.queue import QueueKey

LONGEST_REMEMBERED = 500
"""Characters. The name of a host may have 253, that of a queue 80; but strangers write URLs, too, and they may be as
long as a request."""


def key_of_url(url: str, region: str, account: str) -> QueueKey:
    """Takes `scheme://host/account/name`, `/account/name` and a bare queue name."""
    path = url.partition("://")[2].partition("/")[2] if "://" in url else url
    parts = path.partition("?")[0].strip("/").split("/")
    if len(parts) == 1 and parts[0] and "://" not in url:
        return QueueKey(region, account, parts[0])
    if len(parts) == 2 and all(parts):
        return QueueKey(region, parts[0], parts[1])
    raise ServiceError("InvalidAddress", f"The address {url} is not valid for this endpoint.")


remembered_key = lru_cache(maxsize=20_000)(key_of_url)


def queue_at(url: str, region: str, account: str) -> QueueKey:
    find = remembered_key if len(url) + len(region) <= LONGEST_REMEMBERED else key_of_url
    return find(url, region, account)


def resource_of(request: Any, region: str, account: str) -> QueueKey | None:
    """The queue a decoded request names; None for a request about the account as a whole."""
    if url := getattr(request, "QueueUrl", None):
        return queue_at(url, region, account)
    if name := getattr(request, "QueueName", None):
        return QueueKey(region, getattr(request, "QueueOwnerAWSAccountId", None) or account, name)
    if arn := getattr(request, "SourceArn", None):
        return QueueKey.from_arn(arn)
    return None

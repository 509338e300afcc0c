"""Whom to count as one caller where callers are slowed down: nobody should get more by having more addresses."""

from functools import lru_cache
from ipaddress import IPv6Network


@lru_cache(maxsize=4096)
def neighbourhood_of(peer: str) -> str:
    """An IPv4 address, or the /64 that every IPv6 customer has to himself."""
    try:
        return str(IPv6Network((peer.partition("%")[0], 64), strict=False)) if ":" in peer else peer
    except ValueError:
        return peer

"""Kinds of values that conditions compare: numbers, dates, truths, bytes, addresses. Each is read from text.

A reader raises `ValueError` for a text of another kind. What then becomes of the condition is not decided here. What
requests repeat, and takes long to read, is remembered.
"""

import base64
import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?")
_EPOCH = re.compile(r"-?[0-9]{5,11}(\.[0-9]{1,9})?|0")
_DATE = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})"
    r"(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(Z|[+-][0-9]{2}:?[0-9]{2}))?)?)?"
)
_START = datetime(1970, 1, 1, tzinfo=UTC)
_MAPPED = IPv6Network("::ffff:0:0/96")


def number(text: str) -> Decimal:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return Decimal(text)


@lru_cache(1024)
def date(text: str) -> int:
    """Microseconds since 1970, of a date as ISO 8601 writes it (a year, a month, a day or a time with its zone) or of
    seconds since 1970. Four digits are a year."""
    if _EPOCH.fullmatch(text):
        return int(Decimal(text) * 1_000_000)
    found = _DATE.fullmatch(text)
    if not found:
        raise ValueError(text)
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    moment = datetime(
        int(year),
        int(month or 1),
        int(day or 1),
        int(hour or 0),
        int(minute or 0),
        int(second or 0),
        tzinfo=_zone(zone),
    )
    return (moment - _START) // timedelta(microseconds=1) + int((fraction or "0").ljust(6, "0")[:6])


def _zone(text: str | None) -> timezone:
    if text in (None, "Z"):
        return UTC
    assert text is not None
    hours, minutes = int(text[1:3]), int(text[-2:])
    if minutes > 59:
        raise ValueError(text)
    away = timedelta(hours=hours, minutes=minutes)
    return timezone(-away if text[0] == "-" else away)


def truth(text: str) -> bool:
    try:
        return {"true": True, "false": False}[text.lower()]
    except KeyError:
        raise ValueError(text) from None


def octets(text: str) -> bytes:
    """Bytes, of their base64."""
    return base64.b64decode(text.encode("ascii"), validate=True)


@lru_cache(1024)
def address(text: str) -> Address:
    found = ip_address(text)
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


def network(text: str) -> Network:
    """A range, or one address. An IPv4 range written inside IPv6 is the IPv4 range."""
    if "%" in text or text.count("/") > 1 or ("/" in text and not text.rpartition("/")[2].isdigit()):
        raise ValueError(text)
    found = ip_network(text, strict=False)
    if isinstance(found, IPv6Network) and found.subnet_of(_MAPPED):
        return IPv4Network((int(found.network_address) & 0xFFFF_FFFF, found.prefixlen - 96))
    return found

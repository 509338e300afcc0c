"""How the text of a setting becomes its value.

Each parser takes what an operator wrote and returns the value, or raises ValueError with a sentence that says what
would be right. None of them looks at another setting, at the environment, or at the disk.
"""

import base64
import re
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

Parser = Callable[[str], Any]
Network = IPv4Network | IPv6Network

_ACCOUNT = re.compile(r"[0-9]{12}")
_ACCESS_KEY = re.compile(r"[A-Za-z0-9_]{16,128}")
_REGION = re.compile(r"[a-z0-9-]{1,63}")
_KEY_NAME = re.compile(r"(alias/)?[A-Za-z0-9/_-]{1,250}")
_HOST_PORT = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:\s/]+)):(?P<port>[0-9]{1,5})")


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Only what is surely this machine: any other name may resolve to anything."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def address(text: str) -> Address:
    found = _HOST_PORT.fullmatch(text)
    right = "give host:port, as in 127.0.0.1:9324 or [::1]:9324 (0.0.0.0 is every address, port 0 any free one)"
    if not found or int(found["port"]) > 65_535:
        raise ValueError(right)
    if found["v6"]:
        try:
            ip_address(found["v6"])
        except ValueError:
            raise ValueError(right) from None
    return Address(found["v6"] or found["name"], int(found["port"]))


def whole(least: int) -> Parser:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text) >= least):
            raise ValueError(f"give a whole number, {least} or more")
        return int(text)

    return parse


def one_of(*choices: str) -> Parser:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"give one of {', '.join(choices)}")
        return text

    return parse


def boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("give true or false")
    return text == "true"


def text(text: str) -> str:
    return text


def folder(text: str) -> Path:
    if not text:
        raise ValueError("give the path of a directory")
    return _path(text)


def optional_file(text: str) -> Path | None:
    return _path(text) if text else None


def _path(text: str) -> Path:
    """SQLite takes names in UTF-8 alone, and no system one with a zero in it."""
    if "\0" in text or not _is_utf8(text):
        raise ValueError("give a path in UTF-8, without zeros")
    return Path(text)


def _is_utf8(text: str) -> bool:
    """Bytes of a variable or a flag that are not come as halves of pairs, which cannot be written."""
    return text == text.encode(errors="replace").decode()


def account_id(text: str) -> str:
    return _matching(_ACCOUNT, text, "give 12 digits")


def access_key(text: str) -> str:
    return _matching(_ACCESS_KEY, text, "give 16 to 128 letters, digits or underscores")


def secret_key(text: str) -> str:
    if len(text) < 16 or not text.isprintable():
        raise ValueError("give at least 16 printable characters")
    return text


def master_keys(text: str) -> str:
    for key in text.split() or [""]:  # blank is what a keeper of secrets gives that failed, and no wish for a new key
        try:
            size = len(base64.b64decode(key, validate=True))
        except ValueError:
            size = 0
        if size != 32:
            raise ValueError("give 32 bytes in base64, as `openssl rand -base64 32` prints them")
    return text


def key_names(text: str) -> tuple[str, ...]:
    names = tuple(listed(text))
    if not all(_KEY_NAME.fullmatch(name) for name in names):
        raise ValueError("give names such as alias/orders, with commas between")
    return names


def optional(parse: Parser) -> Parser:
    """Nothing is allowed too, and means that the setting is not used."""
    return lambda text: parse(text) if text else ""


def region(text: str) -> str:
    return _matching(_REGION, text, "give a region's name, such as eu-central-1")


def regions(text: str) -> frozenset[str] | None:
    """None is any region; nothing is the default region alone, which whoever knows it fills in."""
    return None if text == "*" else frozenset(region(name) for name in listed(text))


def networks(text: str) -> tuple[Network, ...]:
    found = []
    for name in listed(text):
        try:
            found.append(ip_network(name))
        except ValueError as error:
            raise ValueError(f"give networks such as 10.0.0.0/8 or fd00::/8, with commas between ({error})") from None
    return tuple(found)


def hosts(text: str) -> tuple[bytes, ...]:
    names = listed(text)
    if not all(name.isascii() and name.isprintable() and "/" not in name for name in names):
        raise ValueError("give host names, with their port if it is not the usual one, with commas between")
    return tuple(name.encode() for name in names)


def base_url(text: str) -> str:
    url = text.removesuffix("/")
    right = "give a URL without a path, such as https://queues.example.org"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(right) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or "@" in parts.netloc:
        raise ValueError(right)
    if url != f"{parts.scheme}://{parts.netloc}" or re.search(r"[\s\\]", url):
        raise ValueError(right)
    return url


def listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _matching(pattern: re.Pattern[str], text: str, right: str) -> str:
    if not pattern.fullmatch(text):
        raise ValueError(right)
    return text

"""Under which address a client knows this server, and from which address it calls.

Forwarding headers are believed only from the proxies that the settings trust: anyone else can write what they like.
"""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from penstock.aws.http import HttpRequest


@dataclass(frozen=True)
class Addresses:
    """What queue URLs start with: the configured URL, or the host that the client named."""

    public_url: str = ""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()

    def base_url(self, http: HttpRequest) -> str:
        if self.public_url:
            return self.public_url
        headers, scheme = http.headers, "https" if http.secure else "http"
        host = headers.get(b"host", b"localhost")
        if self.trusted_proxies and self._trusts(http.peer):
            host = headers.get(b"x-forwarded-host", host).rpartition(b",")[2].strip()
            scheme = headers.get(b"x-forwarded-proto", scheme.encode()).rpartition(b",")[2].strip().decode("latin-1")
        return f"{scheme}://{host.decode('latin-1')}"

    def peer_of(self, http: HttpRequest) -> str:
        """The address that the request comes from: going back from hop to hop, the first that is no proxy of ours. A
        hop that is no address ends the way, as does the first of all."""
        peer = plain(http.peer)
        if not self.trusted_proxies or not self._trusts(peer):
            return peer
        hops = http.headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")
        for hop in reversed(hops):
            address = plain(hop.strip())
            if _address(address) is None:
                return peer
            peer = address
            if not self._trusts(peer):
                return peer
        return peer

    def secure(self, http: HttpRequest) -> bool:
        """Whether nobody could read the request on its way to us, or to the proxy that says so."""
        if self.trusted_proxies and self._trusts(http.peer):
            said = http.headers.get(b"x-forwarded-proto")
            if said is not None:
                return said.rpartition(b",")[2].strip().lower() == b"https"
        return http.secure

    def _trusts(self, peer: str) -> bool:
        address = _address(plain(peer))
        return address is not None and any(address in network for network in self.trusted_proxies)


@lru_cache(maxsize=4096)
def plain(peer: str) -> str:
    """An IPv4 address that comes in the clothes of IPv6 is an IPv4 address; a zone is none of our business."""
    address = _address(peer.partition("%")[0])
    if address is None:
        return peer
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None

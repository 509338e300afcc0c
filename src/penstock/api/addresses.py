"""Under which address a client knows this server."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address

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
        if self.trusted_proxies and self._behind_proxy(http):
            host = headers.get(b"x-forwarded-host", host).rpartition(b",")[2].strip()
            scheme = headers.get(b"x-forwarded-proto", scheme.encode()).rpartition(b",")[2].strip().decode("latin-1")
        return f"{scheme}://{host.decode('latin-1')}"

    def _behind_proxy(self, http: HttpRequest) -> bool:
        try:
            peer = ip_address(http.peer)
        except ValueError:
            return False
        return any(peer in network for network in self.trusted_proxies)

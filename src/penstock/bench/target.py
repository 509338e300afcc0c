"""Where the load goes and who sends it. Knows no requests."""

from dataclasses import dataclass
from urllib.parse import urlsplit


class BenchError(Exception):
    """The measurement cannot be made; the message is one line for the person who asked."""


DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Target:
    host: str
    port: int
    scheme: str = "http"
    access_key: str = "AKIABENCHBENCHBENCH0"
    secret_key: str = "bench-secret-bench-secret-bench"
    region: str = "us-east-1"
    protocol: str = "json"
    sign: bool = True
    ca_file: str | None = None

    @property
    def authority(self) -> str:
        """As every client writes it in the Host header: the scheme's own port is not named."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def endpoint(self) -> str:
        return f"{self.scheme}://{self.authority}"


def at(endpoint: str) -> Target:
    """The server that a URL names, reached with the keys of the bench itself."""
    parts = urlsplit(endpoint if "://" in endpoint else f"http://{endpoint}")
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or port == -1:
        raise BenchError(f"{endpoint} is not the URL of an endpoint: give http://HOST:PORT")
    return Target(parts.hostname, port or DEFAULT_PORTS[parts.scheme], parts.scheme)

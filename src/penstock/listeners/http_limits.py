"""What an HTTP client may ask of us, and how we say no."""

from dataclasses import dataclass


@dataclass(frozen=True)
class HttpLimits:
    """What one client, and all of them together, may ask of a listener."""

    body_bytes: int = 4 * 1024 * 1024
    header_bytes: int = 16 * 1024
    header_count: int = 64
    line_bytes: int = 8 * 1024
    chunk_extension_bytes: int = 64
    chunks: int = 8_192  # a body of one-byte chunks costs us more than it costs its sender
    read_ahead_bytes: int = 64 * 1024  # pipelined bytes held behind a running request before reading stops
    header_seconds: float = 10
    body_grace_seconds: float = 5
    body_floor_bytes_per_second: int = 1_024  # asked for once the grace is over
    idle_seconds: float = 75
    write_seconds: float = 60  # for a client to read a reply that did not fit the kernel's buffer
    linger_seconds: float = (
        2  # for a refused client to read why, a TLS client to say goodbye, a cancelled request to end
    )
    half_close_seconds: float = 0.2
    drain_seconds: float = 25
    connections_per_address: int = 200
    connections: int = 10_000
    backlog: int = 1_024


class Refused(Exception):
    """The request is answered by this status and the connection closed: where the next one starts is not known."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def too_large(limits: HttpLimits) -> Refused:
    return Refused(413, f"A request body has at most {limits.body_bytes} bytes, in at most {limits.chunks} chunks.")

"""From where a request comes, and whether it could be read on its way: what headers say counts only from a proxy that
the operator trusts, and only the last hop that is not one."""

from ipaddress import ip_network

import pytest

from penstock.api.addresses import Addresses
from penstock.aws.http import HttpRequest

PROXIES = ("10.0.0.0/8", "fd00::/8")
PROXY, CLIENT, STRANGER = "10.0.0.1", "198.51.100.7", "203.0.113.9"


def addresses(*proxies: str) -> Addresses:
    return Addresses(trusted_proxies=tuple(map(ip_network, proxies)))


def request(peer: str, forwarded: str | None = None, proto: str | None = None, secure: bool = False) -> HttpRequest:
    headers = {b"host": b"queue.test"}
    if forwarded is not None:
        headers[b"x-forwarded-for"] = forwarded.encode("latin-1")
    if proto is not None:
        headers[b"x-forwarded-proto"] = proto.encode()
    return HttpRequest("POST", b"/", headers, b"", peer, secure)


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        (CLIENT, None, CLIENT),
        (CLIENT, STRANGER, CLIENT),  # no proxy of ours: it can write what it likes
        (CLIENT, f"{STRANGER}, {PROXY}", CLIENT),
        (PROXY, CLIENT, CLIENT),
        (PROXY, f"{STRANGER}, {CLIENT}", CLIENT),  # the caller wrote the first itself
        (PROXY, f"{STRANGER},{CLIENT}, 10.9.9.9", CLIENT),  # two proxies of ours
        (PROXY, f"127.0.0.1, {CLIENT}", CLIENT),
        (PROXY, f"10.9.9.9, {CLIENT}", CLIENT),  # a trusted address that the caller made up does not hide it
        (PROXY, None, PROXY),
        (PROXY, "", PROXY),
        (PROXY, "10.9.9.9", "10.9.9.9"),  # a caller on the proxies' own network
        (PROXY, "unknown", PROXY),
        (PROXY, f"{CLIENT}, unknown", PROXY),  # what stands before something unreadable is anyone's
        (PROXY, f"{CLIENT}, unknown, 10.9.9.9", "10.9.9.9"),
        (PROXY, f"{CLIENT},", PROXY),
        (PROXY, "999.1.1.1", PROXY),
        (PROXY, "198.51.100.7\xe9", PROXY),
        (PROXY, "2001:db8::1", "2001:db8::1"),
        (PROXY, "2001:0DB8:0::1", "2001:db8::1"),
        (PROXY, f"::ffff:{CLIENT}", CLIENT),
        ("fd00::1", CLIENT, CLIENT),
        (f"::ffff:{PROXY}", CLIENT, CLIENT),  # a socket for both families shows IPv4 so
        (f"::ffff:{CLIENT}", STRANGER, CLIENT),
    ],
)
def test_the_caller_is_the_last_hop_that_is_no_proxy_of_ours(peer: str, forwarded: str | None, found: str) -> None:
    assert addresses(*PROXIES).peer_of(request(peer, forwarded)) == found


@pytest.mark.parametrize("peer", [CLIENT, PROXY, "127.0.0.1", "::1", ""])
def test_without_trusted_proxies_no_header_is_believed(peer: str) -> None:
    assert addresses().peer_of(request(peer, STRANGER)) == peer
    assert not addresses().secure(request(peer, proto="https"))
    assert addresses().secure(request(peer, proto="http", secure=True))


@pytest.mark.parametrize(
    ("peer", "proto", "tls", "secure"),
    [
        (CLIENT, None, False, False),
        (CLIENT, None, True, True),
        (CLIENT, "https", False, False),  # a stranger says so
        (CLIENT, "http", True, True),
        (PROXY, "https", False, True),
        (PROXY, "HTTPS", False, True),
        (PROXY, "http", False, False),
        (PROXY, "http", True, False),  # TLS from the proxy to us does not help who came to it in clear
        (PROXY, "https, http", False, False),  # only what the last proxy says counts
        (PROXY, "http, https", False, True),
        (PROXY, "", False, False),
        (PROXY, "httpsx", False, False),
        (PROXY, None, False, False),
    ],
)
def test_a_request_is_secure_over_tls_or_if_the_last_proxy_of_ours_says_so(
    peer: str, proto: str | None, tls: bool, secure: bool
) -> None:
    assert addresses(*PROXIES).secure(request(peer, CLIENT, proto, tls)) is secure

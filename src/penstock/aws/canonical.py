"""The canonical request: the bytes that both sides of Signature Version 4 hash.

Decides how a method, a target, headers and a payload hash are written down, so that two spellings of one request come
out alike and two different requests never do. Knows nothing of keys, clocks or errors.

The rules are Amazon's for every service but S3. All work starts from the raw request target: a path that a framework
has decoded cannot be put back together. (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html)
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import itemgetter
from urllib.parse import quote_from_bytes, unquote_to_bytes

from penstock.aws.http import Headers

SPACE, TAB = b" \t"
"""As numbers: `b" " in …` takes ten times as long, because it is tried for a number first, and fails."""


def canonical_request(
    method: str, target: bytes, headers: Headers, signed_headers: tuple[bytes, ...], payload_hash: str
) -> bytes:
    """Every one of `signed_headers` must be in `headers`. `payload_hash` is the hex SHA-256 of the body as it came."""
    path, _, query = target.partition(b"?")
    form, values_of = _form(method, path, signed_headers)
    asked, values = canonical_query(query), values_of(headers)
    written = form % (asked, *values)
    if SPACE in written or TAB in written:
        written = form % (asked, *(b" ".join(value.split()) for value in values))
    return written + payload_hash.encode()


@lru_cache(maxsize=512)
def _form(
    method: str, path: bytes, signed_headers: tuple[bytes, ...]
) -> tuple[bytes, Callable[[Headers], tuple[bytes, ...]]]:
    """What stands before the payload's hash, but for the query and the values; and where to find the values."""
    first = b"%b\n%b\n" % (method.encode(), canonical_path(path))
    lines = b"".join(name.replace(b"%", b"%%") + b":%b\n" for name in signed_headers)
    names = b";".join(signed_headers).replace(b"%", b"%%")
    one_or_more = itemgetter(*signed_headers)
    values_of = one_or_more if len(signed_headers) > 1 else lambda headers: (one_or_more(headers),)
    return first.replace(b"%", b"%%") + b"%b\n" + lines + b"\n" + names + b"\n", values_of


def canonical_path(path: bytes) -> bytes:
    """Dots and doubled slashes are resolved; then every byte outside the unreserved set is encoded, so that what came
    encoded (`%20`) is encoded twice (`%2520`)."""
    if b"//" in path or b"/." in path:
        path = _resolved(path)
    return quote_from_bytes(path, safe="/").encode() or b"/"


def canonical_query(query: bytes) -> bytes:
    """Pairs sorted by encoded name, then value; empty and repeated ones stay. A plus is a plus, never a space.

    `X-Amz-Signature` cannot sign itself. It is left out for good: a request that has it beside an Authorization header
    is refused before anyone asks for its canonical form.
    """
    if not query:
        return b""
    pairs = sorted((_encoded(name), _encoded(value)) for name, value in split_query(query))
    return "&".join(f"{name}={value}" for name, value in pairs if name != "X-Amz-Signature").encode()


def split_query(query: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names and values with their percent-encoding undone, in the order they came."""
    for pair in query.split(b"&"):
        name, _, value = pair.partition(b"=")
        yield unquote_to_bytes(name), unquote_to_bytes(value)


def _encoded(text: bytes) -> str:
    return quote_from_bytes(text, safe="")


def _resolved(path: bytes) -> bytes:
    """As the SDKs do it: unlike RFC 3986, `/a/b/..` becomes `/a`, without a slash at its end."""
    kept: list[bytes] = []
    for segment in path.split(b"/"):
        if segment == b"..":
            del kept[-1:]
        elif segment not in (b"", b"."):
            kept.append(segment)
    last = b"/" if kept and path.endswith(b"/") else b""
    return b"/" + b"/".join(kept) + last

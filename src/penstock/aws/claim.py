"""What a request claims about who signed it: read from its Authorization header or its query, and not yet believed.

Decides what is well formed and refuses the rest, in Amazon's recorded words: people search the web for them. Knows no
secrets and no clock; `aws.signature` decides whether a claim holds.

Two signatures at once, a part that comes twice, any algorithm but AWS4-HMAC-SHA256 and all of Signature Version 2 are
refused: each lets two readers of one request see two different requests.
"""

import hmac
from contextlib import suppress
from datetime import datetime
from email.utils import mktime_tz, parsedate_tz
from functools import lru_cache
from time import gmtime, strftime

import msgspec

from penstock.aws.canonical import split_query
from penstock.aws.http import Headers, HttpRequest
from penstock.core.errors import ServiceError

ALGORITHM = "AWS4-HMAC-SHA256"
TERMINATOR = "aws4_request"
MISMATCH = "SignatureDoesNotMatch"
LONGEST_EXPIRY_SECONDS = 7 * 24 * 3600
COMMA = ord(",")
_HEADER_PARTS = ("Credential", "Signature", "SignedHeaders")
_QUERY_PARTS = ("Algorithm", "Credential", "Signature", "SignedHeaders", "Date", "Expires")
_QUERY_NAMES = {f"X-Amz-{part}".encode(): part for part in (*_QUERY_PARTS, "Security-Token")}
_VERSION_2_NAMES = frozenset((b"AWSAccessKeyId", b"SignatureVersion"))

SignedHeaders = tuple[bytes, ...]
Scope = tuple[str, str, str, str, SignedHeaders]  # access key, date, region, service


class Signature(msgspec.Struct, frozen=True):  # a frozen dataclass takes 1.3 µs to build, this 0.1
    """`timestamp` is in ISO 8601 basic format; `signed_headers` are sorted and distinct; `signature` is 64 hexadecimal
    digits; `expires` (seconds) says something only if the request is presigned."""

    access_key: str
    date: str
    region: str
    service: str
    timestamp: str
    signed_headers: SignedHeaders
    signature: bytes
    presigned: bool
    expires: int
    token: str | None


def read(request: HttpRequest) -> Signature | None:
    """None if the request carries no signature at all."""
    headers = request.headers
    authorization = headers.get(b"authorization")
    query = request.target.partition(b"?")[2]
    parameters = _signature_parameters(query) if query else {}
    if authorization is None and not parameters:
        return None
    if authorization is not None and parameters:
        raise mismatch("Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.")
    if COMMA in headers.get(b"host", b""):
        raise incomplete("The request has more than one 'Host' header.")
    return _from_query(parameters, headers) if authorization is None else _from_header(authorization, headers)


def _from_header(authorization: bytes, headers: Headers) -> Signature:
    # But for the digits of the signature, the header is the same in every request of a client: that is parsed once.
    before, name, after = authorization.partition(b"Signature=")
    access_key, date, region, service, signed_headers = _scope_of_header(before + name + after[64:])
    timestamp = _date(headers)
    epoch_seconds(timestamp)
    token = headers.get(b"x-amz-security-token")
    return Signature(
        access_key, date, region, service, timestamp, signed_headers, _digest(after[:64]), False, 0,
        None if token is None else _text(token),
    )  # fmt: skip


def _from_query(parameters: dict[str, str], headers: Headers) -> Signature:
    missing = [part for part in _QUERY_PARTS if not parameters.get(part)]
    if missing:
        problems = "".join(f"AWS query-string parameters must include 'X-Amz-{part}'. " for part in missing)
        raise incomplete(problems + "Re-examine the query-string parameters.")
    if parameters["Algorithm"] != ALGORITHM:
        raise _unsupported(parameters["Algorithm"])
    access_key, day, region, service, signed = _scope(parameters["Credential"], parameters["SignedHeaders"])
    timestamp = parameters["Date"]
    epoch_seconds(timestamp)
    digest, expires = _digest(parameters["Signature"].encode()), _expires(parameters["Expires"])
    token = parameters.get("Security-Token")
    if token is None and b"x-amz-security-token" in headers:
        token = _text(headers[b"x-amz-security-token"])
    return Signature(access_key, day, region, service, timestamp, signed, digest, True, expires, token)


def _signature_parameters(query: bytes) -> dict[str, str]:
    """What the query says of its signature; names without their `X-Amz-`."""
    parameters: dict[str, str] = {}
    for name, value in split_query(query):
        if name in _VERSION_2_NAMES:
            raise _unsupported("AWS Signature Version 2")
        part = _QUERY_NAMES.get(name)
        if part is None:
            continue
        if part in parameters:
            raise incomplete(f"AWS query-string parameter 'X-Amz-{part}' comes more than once.")
        parameters[part] = _text(value)
    return parameters


@lru_cache(maxsize=512)
def _scope_of_header(header: bytes) -> Scope:
    """`header` is an Authorization header whose signature has been cut out."""
    algorithm, _, rest = _text(header).partition(" ")
    if algorithm != ALGORITHM:
        raise _unsupported(algorithm)
    parts: dict[str, str] = {}
    for part in rest.split(","):
        name, equals, value = part.strip(" ").partition("=")
        if not equals:
            raise incomplete(f"{name!r} not a valid key=value pair (missing equal-sign) in Authorization header.")
        if name in parts or name not in _HEADER_PARTS:
            raise incomplete(f"Authorization header has an unknown or repeated parameter {name!r}.")
        parts[name] = value
    missing = [part for part in _HEADER_PARTS if part not in parts]
    if missing:
        raise incomplete("".join(f"Authorization header requires '{part}' parameter. " for part in missing))
    if parts["Signature"]:
        raise _not_a_digest()
    return _scope(parts["Credential"], parts["SignedHeaders"])


def _scope(credential: str, signed_headers: str) -> Scope:
    elements = credential.split("/")
    if len(elements) != 5 or not all(elements):
        raise incomplete(
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, "
            f"got {credential!r}"
        )
    access_key, date, region, service, terminator = elements
    if terminator != TERMINATOR:
        raise mismatch(f"Credential should be scoped with a valid terminator: '{TERMINATOR}', not {terminator!r}. ")
    names = signed_headers.split(";")
    if signed_headers != signed_headers.lower() or not all(names) or names != sorted(set(names)):
        raise incomplete("SignedHeaders must be header names in lower case, sorted, each of them once.")
    return access_key, date, region, service, tuple(name.encode() for name in names)


def _date(headers: Headers) -> str:
    """`X-Amz-Date`, else `Date`: in Amazon's form, or in that of RFC 1123 (told by its one comma)."""
    if (date_of_amazon := headers.get(b"x-amz-date")) is not None:
        return _text(date_of_amazon)
    if b"date" not in headers:
        raise incomplete("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
    date = _text(headers[b"date"])
    if date.count(",") == 1 and (parsed := parsedate_tz(date)) is not None:
        with suppress(ValueError, OverflowError, OSError):
            return iso(int(mktime_tz(parsed)))
    return date


def _digest(text: bytes) -> bytes:
    """The signature as it is written, once it can only be one."""
    if len(text) != 64 or text.strip(b"0123456789abcdef"):
        raise _not_a_digest()
    return text


def _expires(text: str) -> int:
    if text.isdigit() and len(text) <= 6 and 1 <= int(text) <= LONGEST_EXPIRY_SECONDS:
        return int(text)
    raise incomplete(f"X-Amz-Expires must be a number of seconds from 1 to {LONGEST_EXPIRY_SECONDS}.")


@lru_cache(maxsize=256)
def epoch_seconds(timestamp: str) -> int:
    if len(timestamp) == 16 and timestamp[8] == "T" and timestamp[15] == "Z":
        with suppress(ValueError):
            if (timestamp[:8] + timestamp[9:15]).isdigit():  # fromisoformat also takes weeks and fractions
                return int(datetime.fromisoformat(timestamp).timestamp())
    raise incomplete(
        f"Date must be in ISO-8601 'basic format'. Got {timestamp!r}. See http://en.wikipedia.org/wiki/ISO_8601"
    )


def iso(seconds: int) -> str:
    return strftime("%Y%m%dT%H%M%SZ", gmtime(seconds))


def _text(value: bytes) -> str:
    if not value.isascii():
        raise incomplete("The parts of a signature must be ASCII.")
    return value.decode()


def _not_a_digest() -> ServiceError:
    return incomplete("Signature must be 64 hexadecimal digits in lower case.")


def _unsupported(algorithm: str) -> ServiceError:
    if algorithm.startswith("AWS"):
        return incomplete(f"Unsupported AWS 'algorithm': {algorithm!r} (only {ALGORITHM} for now). ")
    return ServiceError("MissingAuthenticationToken", "Request is missing Authentication Token")


def incomplete(message: str) -> ServiceError:
    return ServiceError("IncompleteSignature", message)


def mismatch(message: str) -> ServiceError:
    return ServiceError(MISMATCH, message)


def signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    """What a secret signs with, on one day, in one region and for one service."""
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, TERMINATOR):
        key = hmac.digest(key, part.encode(), "sha256")
    return key

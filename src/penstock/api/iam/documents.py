"""Policy documents as they come and go: refused unless they can be understood, measured, and written for XML."""

from urllib.parse import quote

from penstock.core.errors import ServiceError
from penstock.core.policy import PolicyError, Use, read_policy


def checked(document: str, use: Use = Use.IDENTITY) -> str:
    try:
        read_policy(document, use)
    except PolicyError as error:
        raise ServiceError("MalformedPolicyDocumentException", str(error)) from None
    return document


def encoded(document: str) -> str:
    """As Amazon hands documents out: percent-encoded, which SDKs undo."""
    return quote(document, safe="")


def size_of(document: str) -> int:
    """White space is not counted."""
    return len("".join(document.split()))

"""What is known of requests with heads alike: how one more is confirmed, who sends them, and what they ask for.

It is what a connection remembers for the handler (`HttpRequest.lesson`). Nothing in it lets anybody in: the signature
of every request is checked, with the secret that its key has then, and what the caller may do is decided anew.
"""

from typing import Any

from penstock.aws.familiar import Familiar
from penstock.aws.http import Headers


class Acquaintance:
    """`caller` holds as long as the key is the very same object. `asked` is the service, the operation, and how it is
    run and by what right; None until it was found once, and always if it is not the head that says it. `headers` are
    those of one of the heads, once they are needed."""

    __slots__ = ("asked", "caller", "familiar", "headers", "key")

    def __init__(self, familiar: Familiar) -> None:
        self.familiar = familiar
        self.key: Any = None
        self.caller: Any = None
        self.asked: Any = None
        self.headers: Headers = {}

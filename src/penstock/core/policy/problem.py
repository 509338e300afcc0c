"""What is wrong with a policy document, and where in it. How that is told to a caller is decided by who asked."""

LONGEST = 250
"""Characters of a reason or a place: a document's own texts are in them."""


class PolicyError(Exception):
    """`place` is a path such as `Statement[0].Condition.StringEquals`, or a line and column, or the whole document."""

    def __init__(self, reason: str, place: str = "the document") -> None:
        super().__init__(reason, place)
        self.reason = _shown(reason)
        self.place = _shown(place)

    def __str__(self) -> str:
        return f"{self.reason}, in {self.place}."


class UnknownPrincipal(PolicyError):
    """The document is in order, but there is nobody of whom it speaks."""

    def __init__(self, principal: str, place: str) -> None:
        super().__init__(f"There is no principal {principal!r}", place)
        self.principal = _shown(principal)


def _shown(text: str) -> str:
    """The text as every protocol and log can carry it."""
    start = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in start)

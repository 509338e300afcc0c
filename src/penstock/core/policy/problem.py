"""What is wrong with a policy document, and where in it. How that is told to a caller is decided by who asked."""


class PolicyError(Exception):
    """`place` is a path such as `Statement[0].Condition.StringEquals`, or a line and column, or the whole document."""

    def __init__(self, reason: str, place: str = "the document") -> None:
        super().__init__(reason, place)
        self.reason = reason
        self.place = place

    def __str__(self) -> str:
        return f"{self.reason}, in {self.place}."

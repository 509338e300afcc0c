"""Pieces of statements that take any number of values."""


def listed(values: int) -> str:
    """Places for so many values, in brackets."""
    return f"({','.join('?' * values)})"


def rows(number: int, columns: int) -> str:
    """Places for so many rows of so many values each."""
    return ",".join([listed(columns)] * number)

"""What a command prints in the end: the server's reply as JSON, or the same in lines for people.

It refuses to know what the lines say; but for those who write them it has what makes any text fit for a terminal.
"""

import argparse
import base64
import json
from collections.abc import Iterable
from typing import Any

METADATA = "ResponseMetadata"
"""What the client adds to every reply: how it came, and nothing of what was asked for."""


def answer(arguments: argparse.Namespace, reply: Any, lines: Iterable[str]) -> int:
    """Print the one or the other, as asked for. The command has done what it should: exit status 0."""
    print(pretty(reply) if arguments.json else "\n".join(lines))
    return 0


def pretty(reply: Any) -> str:
    said = {name: value for name, value in reply.items() if name != METADATA} if isinstance(reply, dict) else reply
    return json.dumps(said, indent=4, ensure_ascii=False, default=_blob)


def _blob(value: object) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def harmless(text: str) -> str:
    """On one line, and nothing in it that a terminal would obey."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

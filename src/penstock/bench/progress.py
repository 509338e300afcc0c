"""How far it is: one line that is written again and again, or nothing where nobody looks at a terminal."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CLEAR = "\r\x1b[K"


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    stream = sys.stderr
    if not stream.isatty():
        yield lambda line: None
        return
    width = (os.get_terminal_size(stream.fileno()).columns or 80) - 1  # some terminals say 0

    def tell(line: str) -> None:
        stream.write(f"{CLEAR}{line[:width]}")
        stream.flush()

    try:
        yield tell
    finally:
        tell("")

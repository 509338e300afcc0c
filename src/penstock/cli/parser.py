"""How every command's help and complaints look."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn


class CommandError(Exception):
    """The command cannot do what it was asked to; the message is one line for the person who asked."""

    def __str__(self) -> str:
        return f"penstock: {super().__str__()}"


class Refusal(CommandError):
    """The server said no, in its own words."""

    def __str__(self) -> str:
        return Exception.__str__(self)


class Parser(argparse.ArgumentParser):
    """A parser with examples, exact option names, and complaints of one line."""

    def __init__(
        self, prog: str, usage: str = "[options]", description: str = "", examples: Sequence[str] = ()
    ) -> None:
        super().__init__(
            prog=prog,
            usage=f"{prog} {usage}",
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.examples: list[str] = list(examples)

    def format_help(self) -> str:
        lines = ["examples:", *(f"  {example}" for example in self.examples)]
        self.epilog = "\n".join(lines) if self.examples else None
        return super().format_help()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """What is not known is complained of by the subcommand that was given it: its help has what it would take."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message} (see {self.prog} --help)\n")
        raise SystemExit(2)


def count(text: str) -> int:
    """The value of an option that says how many."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a whole number, 1 or more")
    return int(text)

"""Commands that take something away: what would go is shown first, and a person says yes, or has said it already."""

import argparse
import sys
from collections.abc import Iterable

from penstock.cli.parser import CommandError, Parser


def add_asking(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would go, and do nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask first")


def ask(arguments: argparse.Namespace, going: Iterable[str], question: str, otherwise: str) -> None:
    """Show what is going. Ends the command, in the words of `otherwise`, unless the answer is yes. What is said goes to
    standard error, so that standard output has the reply alone."""
    if arguments.yes:
        return
    if not sys.stdin.isatty():
        raise CommandError("nobody is here to be asked: give --yes, or --dry-run to look first")
    for line in going:
        sys.stderr.write(f"{line}\n")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError(otherwise)

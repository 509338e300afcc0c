"""A command's actions as a table: what each is called, says of itself, takes and runs."""

import argparse
from collections.abc import Callable, Mapping
from typing import NamedTuple

from penstock.cli.client import add_connection
from penstock.cli.parser import Parser


class Subcommand(NamedTuple):
    """`words` are the positional arguments as its usage has them; `fill` adds them and the options to its parser."""

    summary: str
    words: str
    fill: Callable[[Parser], None]
    run: Callable[[argparse.Namespace], int]
    examples: tuple[str, ...]


def add_subcommands(parser: Parser, table: Mapping[str, Subcommand]) -> None:
    """Each calls the server, and prints its reply as JSON if asked to."""
    parser.usage = f"{parser.prog} ACTION [options]"
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions", prog=parser.prog)
    for name, action in table.items():
        child: Parser = actions.add_parser(name, help=action.summary, description=action.summary)
        child.usage = f"{child.prog} {action.words} [options]".replace("  ", " ")
        child.examples = list(action.examples)
        action.fill(child)
        child.add_argument("--json", action="store_true", help="print the reply as JSON")
        add_connection(child)
        child.set_defaults(run=action.run)

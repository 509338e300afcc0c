"""`penstock version`."""

import argparse

from penstock import __version__, registry
from penstock.cli.parser import Parser


def build(parser: Parser) -> None:
    parser.examples += ["penstock version"]
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    print(told())
    return 0


def told() -> str:
    return f"Penstock {__version__}{'' if registry.native() else ', without native code'}"

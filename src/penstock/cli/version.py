"""`penstock version`."""

import argparse

from penstock import __version__
from penstock.cli.parser import Parser


def build(parser: Parser) -> None:
    parser.examples += ["penstock version"]
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    print(f"Penstock {__version__}")
    return 0

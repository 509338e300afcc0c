"""`penstock serve`."""

import argparse

from penstock.cli.options import add_settings, loaded
from penstock.cli.parser import Parser


def build(parser: Parser) -> None:
    parser.description = (
        "Run the server until SIGTERM or Ctrl-C. Every option is also an environment variable (--public-url is\n"
        "PENSTOCK_PUBLIC_URL) and a key of penstock.toml (public_url); an option wins over both."
    )
    parser.examples += [
        "penstock serve",
        "penstock serve --listen 0.0.0.0:9324 --tls-certificate chain.pem --tls-key key.pem",
        "penstock serve --auth off --store memory://",
    ]
    add_settings(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    settings = loaded(arguments)
    from penstock.app import serve

    return serve(settings)

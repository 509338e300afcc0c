"""The settings as options of a command, and the settings that its options make."""

import argparse
import sys
from collections.abc import Collection
from pathlib import Path

from penstock.cli.parser import Parser
from penstock.config import ConfigError, Loaded, environment, load
from penstock.config.table import Row, rows


def add_settings(parser: Parser, names: Collection[str] | None = None) -> None:
    """An option for each setting (or for those named), in the groups of the table."""
    parser.add_argument(
        "--config", metavar="FILE", type=Path, help="the settings file (default: penstock.toml, if there)"
    )
    groups: dict[str, argparse._ArgumentGroup] = {}
    for row in rows().values():
        if names is None or row.name in names:
            group = groups.get(row.group) or groups.setdefault(row.group, parser.add_argument_group(row.group))
            _add(group, row)


def _add(group: argparse._ArgumentGroup, row: Row) -> None:
    default = f" (default: {row.default})" if row.default else ""
    text = f"{row.help}{default}".replace("%", "%%")
    if row.default == "false":
        group.add_argument(row.flag, nargs="?", const="true", metavar="BOOL", default=argparse.SUPPRESS, help=text)
    else:
        group.add_argument(row.flag, metavar="VALUE", default=argparse.SUPPRESS, help=text)


def loaded(arguments: argparse.Namespace) -> Loaded:
    """What the options, the environment and the file say together; if there are mistakes, all of them and exit 1."""
    flags = {name: value for name, value in vars(arguments).items() if name in rows()}
    try:
        return load(flags, environment(), arguments.config)
    except ConfigError as error:
        for problem in error.problems:
            sys.stderr.write(f"penstock: {problem}\n")
        raise SystemExit(1) from None

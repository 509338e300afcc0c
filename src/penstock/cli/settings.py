"""`penstock config`: what `penstock serve` with the same options would run with, and why."""

import argparse
import json

from penstock.cli.options import add_settings, loaded
from penstock.cli.parser import Parser
from penstock.config import Loaded
from penstock.config.table import rows, shown


def build(parser: Parser) -> None:
    parser.description = (
        "Show every setting, its value, and where that came from. Exits 1 with all mistakes if there are any."
    )
    parser.examples += ["penstock config", "penstock config --listen [::1]:9324 --json"]
    parser.add_argument("--json", action="store_true", help="print JSON instead of columns")
    add_settings(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    report = described(loaded(arguments))
    if arguments.json:
        print(json.dumps(report, indent=4, ensure_ascii=False))
        return 0
    print("\n".join(_columns(report)))
    return 0


def described(loaded: Loaded) -> dict[str, object]:
    settings = loaded.settings
    return {
        "settings": {
            name: {"value": shown(settings, row), "origin": loaded.origin[name]} for name, row in rows().items()
        },
        "accounts": [
            {"id": account.id, "name": account.name, "keys": [key.access_key for key in account.keys]}
            for account in settings.accounts
        ],
        "queues": [
            {
                "name": queue.name,
                "account": queue.account,
                "region": queue.region,
                "attributes": dict(queue.attributes),
                "tags": dict(queue.tags),
            }
            for queue in settings.queues
        ],
    }


def _columns(report: dict[str, object]) -> list[str]:
    settings = report["settings"]
    assert isinstance(settings, dict)
    wide = max(map(len, settings))
    wider = max(len(row["value"]) for row in settings.values())
    lines = [f"{name:{wide}}  {row['value']:{wider}}  {row['origin']}" for name, row in settings.items()]
    for kind in ("accounts", "queues"):
        entries = report[kind]
        assert isinstance(entries, list)
        lines += [f"{kind:{wide}}  {json.dumps(entry, ensure_ascii=False)}" for entry in entries]
    return lines

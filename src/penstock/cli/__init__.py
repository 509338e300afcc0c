"""The command line: which commands there are, and how each of them ends.

A command is a function that fills a parser and says what to run; its module is imported when the command is used,
so that `penstock --help` is quick. What a command cannot do it says by raising `CommandError`: one line on standard
error, exit status 1. Wrong usage is 2, Ctrl-C 130, and a reader who has gone away 141, as a shell has them.
"""

import os
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from penstock import registry
from penstock.cli.parser import CommandError, Parser
from penstock.cli.version import told


class Command(NamedTuple):
    build: str
    summary: str


COMMANDS = {
    "serve": Command("penstock.cli.serve:build", "Run the server."),
    "config": Command("penstock.cli.settings:build", "Show every setting and where its value came from."),
    "sqs": Command("penstock.cli.sqs:build", "Call any action of Amazon SQS, on any endpoint."),
    "peek": Command("penstock.cli.peek:build", "Show messages of a queue without receiving them."),
    "admin": Command("penstock.cli.admin:build", "Look after the queues and move tasks of every account."),
    "account": Command("penstock.cli.account:build", "Make, list, bound and delete accounts."),
    "metrics": Command("penstock.cli.metrics:build", "Show what queues did, window by window."),
    "journal": Command("penstock.cli.journal:build", "Look at the journal of every change, and check it."),
    "user": Command("penstock.cli.user:build", "Make, list and remove users, and put them into groups."),
    "group": Command("penstock.cli.group:build", "Make, list and remove groups of users."),
    "key": Command("penstock.cli.key:build", "Make, list, switch off and remove access keys of users."),
    "policy": Command("penstock.cli.policy:build", "Say who may do what with which queue, and ask why."),
    "audit": Command("penstock.cli.audit:build", "Show who was refused, and who changed what, and check the log."),
    "backup": Command("penstock.cli.backup:build", "Copy the embedded store to a file, also while the server runs."),
    "restore": Command("penstock.cli.restore:build", "Put a backup in the place of the embedded store."),
    "master-key": Command(
        "penstock.cli.master_key:build", "Show the master keys, or put a new one in place of the one in force."
    ),
    "bench": Command(
        "penstock.cli.bench:build", "Measure an SQS endpoint, ours or another, and check what it answers."
    ),
    "pipeline": Command("penstock.cli.pipeline:build", "Bring what went through the queues into tables, with Spark."),
    "demo": Command("penstock.cli.demo:build", "See the pipeline at work: a server, traffic, tables and a page."),
    "dlq": Command("penstock.cli.dlq:build", "Bring dead letters back to where they came from, by a plan."),
    "version": Command("penstock.cli.version:build", "Print the version."),
}

EXAMPLES = (
    "penstock serve --listen 127.0.0.1:9324 --data ./data",
    "penstock sqs send-message --queue-url orders --message-body hello",
)


def main(argv: Sequence[str] | None = None) -> int:
    try:
        status = _status(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains as it leaves
        return 141


def _status(argv: Sequence[str]) -> int:
    try:
        return _run(argv)
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except SystemExit as left:  # argparse's way of having said everything
        return left.code if isinstance(left.code, int) else 1


def _run(argv: Sequence[str]) -> int:
    name = top_parser().parse_args(argv[:1]).command
    arguments = parser_of(name).parse_args(argv[1:])
    run: Callable[..., int] = arguments.run
    return run(arguments)


def top_parser() -> Parser:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {command.summary}" for name, command in COMMANDS.items())
    parser = Parser(
        "penstock",
        "COMMAND …",
        f"The Amazon SQS API as a durable, secured, observable server.\n\ncommands:\n{commands}",
        EXAMPLES,
    )
    parser.add_argument("--version", action="version", version=told())
    parser.add_argument("command", metavar="COMMAND", choices=COMMANDS, help="one of those above; each has its --help")
    return parser


def parser_of(name: str) -> Parser:
    command = COMMANDS[name]
    parser = Parser(f"penstock {name}", description=command.summary)
    registry.load(command.build)(parser)
    return parser

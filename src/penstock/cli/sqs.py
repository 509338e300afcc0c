"""`penstock sqs ACTION`: every action of Amazon SQS, as its service model has it."""

import argparse

from botocore import xform_name

from penstock.aws.contract import load
from penstock.cli.actions import add_options, example, option, request, summary
from penstock.cli.answering import METADATA, pretty
from penstock.cli.client import add_connection, calling, sqs_client
from penstock.cli.parser import Parser


def build(parser: Parser) -> None:
    service = load("sqs")
    parser.usage = f"{parser.prog} ACTION [options]"
    parser.description = (
        "Call any action of Amazon SQS, with the options of the AWS CLI, and print the reply as JSON. A queue may be\n"
        "given by its URL or its name. Values may be file://FILE; structures are JSON or Name=Value,Name=Value."
    )
    parser.examples += [example(service, action) for action in ("CreateQueue", "SendMessage", "ReceiveMessage")]
    add_connection(parser)
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions", prog=parser.prog)
    for action in sorted(service.operations):
        words = summary(service, action)
        child = actions.add_parser(option(action), help=words.replace("%", "%%"), description=words)
        child.examples = [example(service, action)]
        add_options(child, service, action)
        add_connection(child)
        child.set_defaults(run=run, action=action, parser=child)


def run(arguments: argparse.Namespace) -> int:
    parameters = request(arguments.parser, load("sqs"), arguments.action, arguments)
    client = sqs_client(arguments)
    reply = calling(lambda: getattr(client, xform_name(arguments.action))(**parameters))
    if reply.keys() - {METADATA}:
        print(pretty(reply))
    return 0

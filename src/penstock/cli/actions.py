"""An action of a service as a command: options from the shape of its request, and the request from the options.

Names are those of the AWS CLI: ReceiveMessage is receive-message, and its QueueUrl is --queue-url.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from botocore import xform_name

from penstock.aws.contract import Service
from penstock.cli.parser import Parser
from penstock.cli.shorthand import from_json, json_or, read

FORMS = {"map": "NAME=VALUE,…", "structure": "NAME=VALUE,…", "blob": "BASE64", "integer": "NUMBER", "long": "NUMBER"}
SAMPLES = {
    "QueueUrl": "orders",
    "QueueName": "orders",
    "MessageBody": "hello",
    "Label": "partner",
    "AWSAccountIds": "111122223333",
    "Actions": "SendMessage",
    "Attributes": "VisibilityTimeout=60,DelaySeconds=5",
    "Tags": "team=shop,stage=test",
    "TagKeys": "team stage",
    "ReceiptHandle": '"$HANDLE"',
    "TaskHandle": '"$HANDLE"',
    "VisibilityTimeout": "120",
    "SourceArn": "arn:aws:sqs:us-east-1:000000000000:orders-dead",
    "SendMessageBatch.Entries": "Id=1,MessageBody=one Id=2,MessageBody=two,DelaySeconds=5",
    "DeleteMessageBatch.Entries": 'Id=1,ReceiptHandle="$HANDLE"',
    "ChangeMessageVisibilityBatch.Entries": 'Id=1,ReceiptHandle="$HANDLE",VisibilityTimeout=0',
}
EXTRAS = {
    "ReceiveMessage": "--max-number-of-messages 10 --wait-time-seconds 20 --attribute-names All",
    "GetQueueAttributes": "--attribute-names All",
    "ListQueues": "--queue-name-prefix ord",
}


def option(name: str) -> str:
    return str(xform_name(name, "-"))


def members(service: Service, action: str) -> dict[str, Any]:
    found: dict[str, Any] = service.shape(service.operations[action].input_shape)["members"]
    return found


def required(service: Service, action: str) -> list[str]:
    found: list[str] = service.shape(service.operations[action].input_shape).get("required", [])
    return found


def example(service: Service, action: str) -> str:
    given = (
        f"--{option(name)} {SAMPLES.get(f'{action}.{name}') or SAMPLES[name]}" for name in required(service, action)
    )
    return " ".join([f"penstock {service.name} {option(action)}", *given, EXTRAS.get(action, "")]).strip()


def summary(service: Service, action: str) -> str:
    """The first sentence of what the model says of an action."""
    text = re.sub(r"<[^>]*>", "", service.model["operations"][action].get("documentation", ""))
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]


def form(service: Service, shape_name: str) -> str:
    """What to call a value of a shape in help; of a list, one of its items."""
    shape = service.shape(shape_name)
    return form(service, shape["member"]["shape"]) if shape["type"] == "list" else FORMS.get(shape["type"], "TEXT")


def add_options(parser: Parser, service: Service, action: str) -> None:
    must = required(service, action)
    parser.add_argument(
        "--cli-input-json", metavar="JSON", help="the whole request as JSON or file://FILE; options add to it"
    )
    for name, reference in members(service, action).items():
        kind = service.shape(reference["shape"])["type"]
        flag, text = f"--{option(name)}", "required" if name in must else None
        if kind == "boolean":
            parser.add_argument(flag, dest=name, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            several = "+" if kind in ("list", "map", "structure") else None
            parser.add_argument(flag, dest=name, metavar=form(service, reference["shape"]), nargs=several, help=text)


def request(parser: Parser, service: Service, action: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """What to send. Ends the command, naming the option, if that cannot be made out."""
    result = _whole(parser, service, action, arguments.cli_input_json)
    for name, reference in members(service, action).items():
        given = getattr(arguments, name)
        if given is not None:
            try:
                result[name] = _value(service, reference["shape"], given)
            except (ValueError, OSError) as error:
                parser.error(f"--{option(name)}: {error}")
    missing = [f"--{option(name)}" for name in required(service, action) if name not in result]
    if missing:
        parser.error(f"missing {', '.join(missing)}")
    return result


def _whole(parser: Parser, service: Service, action: str, given: str | None) -> dict[str, Any]:
    if given is None:
        return {}
    try:
        document = from_json(service, service.operations[action].input_shape, json.loads(_content(given)))
    except (ValueError, OSError) as error:
        parser.error(f"--cli-input-json: {error}")
    if not isinstance(document, dict):
        parser.error("--cli-input-json: give a JSON object")
    return document


def _value(service: Service, shape_name: str, given: Any) -> Any:
    if not isinstance(given, list):
        return given if isinstance(given, bool) else _plain(service, shape_name, _content(given))
    words = [_content(word) for word in given]
    shape = service.shape(shape_name)
    if shape["type"] != "list":
        return _merged([read(service, shape_name, word) for word in words])
    if len(words) == 1 and isinstance(json_or(words[0]), list):
        return read(service, shape_name, words[0])
    element = shape["member"]["shape"]
    structured = service.shape(element)["type"] in ("structure", "map", "list")
    return [read(service, element, word) if structured else _plain(service, element, word) for word in words]


def _plain(service: Service, shape_name: str, word: str) -> Any:
    """A value that has a word of the command line to itself: text is taken as it is, quotes and all."""
    return word if service.shape(shape_name)["type"] == "string" else read(service, shape_name, word)


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


def _content(word: str) -> str:
    return Path(word.removeprefix("file://")).expanduser().read_text() if word.startswith("file://") else word

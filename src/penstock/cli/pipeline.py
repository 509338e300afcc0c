"""`penstock pipeline JOB`: the data pipeline, on Spark."""

import argparse
from collections.abc import Callable
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from penstock.cli.parser import CommandError, Parser
from penstock.pipeline import formats
from penstock.pipeline.ask import Ask
from penstock.pipeline.catalogue import JOBS, SPARK, Option
from penstock.pipeline.session import session
from penstock.pipeline.told import Told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = {"from": "start_ms", "to": "end_ms"}
"""Options whose name Python keeps for itself, or that say less than the job wants."""
SPARK_NAMES = {option.name for option in SPARK}


def build(parser: Parser) -> None:
    parser.usage = f"{parser.prog} JOB [options]"
    parser.description = (
        "Run a job of the data pipeline on Spark. Jobs that follow the journal go on until they are stopped, unless\n"
        "--once is given; any of them may be killed at any moment and started again: nothing is lost or done twice."
    )
    parser.examples += [example for job in JOBS.values() for example in job.examples[:1]]
    jobs = parser.add_subparsers(metavar="JOB", required=True, title="jobs", prog=parser.prog)
    for name, job in JOBS.items():
        child = jobs.add_parser(name, help=job.summary, description=job.summary)
        child.examples = list(job.examples)
        own = [option.name for option in job.own]
        for option in chain(job.own, *job.groups):
            _add(child, option)
        child.set_defaults(run=run, job=name, own=own)


def _add(parser: argparse.ArgumentParser, option: Option) -> None:
    if not option.metavar:
        parser.add_argument(option.flag, action="store_true", help=option.text)
        return
    parser.add_argument(
        option.flag,
        metavar=option.metavar,
        type=_kind(option),
        default=[] if option.many else option.default,
        required=option.required,
        choices=option.choices,
        action="append" if option.many else "store",
        help=option.text,
    )


def _kind(option: Option) -> Callable[[str], Any]:
    def kind(text: str) -> Any:
        try:
            return option.kind(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return kind


def run(arguments: argparse.Namespace) -> int:
    ask = asked(arguments)
    try:
        settings = formats.settings(ask.format, ask.out, dict(arguments.conf))
        spark = session(ask.job, arguments.master, arguments.remote, settings, arguments.verbose)
    except Told as error:
        raise CommandError(str(error)) from None
    try:
        return carried_out(spark, ask)
    finally:
        spark.stop()


def carried_out(spark: "SparkSession", ask: Ask) -> int:
    job = import_module(f"penstock.pipeline.jobs.{ask.job}")
    try:
        status: int = job.run(spark, ask)
    except Told as error:
        raise CommandError(f"{ask.job}: {error}") from None
    except OSError as error:  # a disk that is full, a folder that is a file or somebody else's
        place = f"{error.filename}: " if error.filename else ""
        raise CommandError(f"{ask.job}: {place}{error.strerror or error}") from None
    return status


def asked(arguments: argparse.Namespace) -> Ask:
    given: dict[str, Any] = {
        NAMES.get(name, name): tuple(value) if isinstance(value, list) else value
        for name, value in vars(arguments).items()
        if name not in SPARK_NAMES and name not in ("run", "own")
    }
    own = {name: given.pop(name) for name in arguments.own}
    return Ask(**given, own=own)

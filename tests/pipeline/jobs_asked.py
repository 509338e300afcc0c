"""What a job is asked when a person types its options."""

from penstock.cli import parser_of
from penstock.cli.pipeline import asked as of_arguments
from penstock.pipeline.ask import Ask


def asked(*words: str) -> Ask:
    return of_arguments(parser_of("pipeline").parse_args(words))

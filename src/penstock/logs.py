"""Structured logs on standard error: one JSON object a line for machines, columns for people.

What other libraries say through the standard `logging` comes out in the same form, from warnings upwards.
"""

import logging
import sys
from typing import Any

import structlog

PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def configure_logs(form: str, level: str) -> None:
    """`form` is json, console, or auto: console on a terminal, JSON elsewhere."""
    people = form == "console" or (form == "auto" and sys.stderr.isatty())
    ending: list[Any] = [structlog.dev.ConsoleRenderer()]
    if not people:
        ending = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    structlog.configure(
        processors=[*PROCESSORS, *ending],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.getLogger("penstock").setLevel(level.upper())
    foreign = logging.StreamHandler(sys.stderr)
    foreign.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=PROCESSORS,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *ending],
        )
    )
    logging.basicConfig(handlers=[foreign], level=logging.WARNING, force=True)

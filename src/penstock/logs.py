"""Structured logs on standard error: one JSON object a line for machines, columns for people."""

import logging
import sys

import structlog


def configure_logs(form: str, level: str) -> None:
    """`form` is json, console, or auto: console on a terminal, JSON elsewhere."""
    logging.basicConfig(stream=sys.stderr, level=level.upper(), format="%(message)s")
    logging.getLogger("penstock").setLevel(level.upper())
    people = form == "console" or (form == "auto" and sys.stderr.isatty())
    renderer = structlog.dev.ConsoleRenderer() if people else structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            *([] if people else [structlog.processors.format_exc_info]),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )

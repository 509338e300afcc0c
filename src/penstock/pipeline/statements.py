"""SQL that a person gave: what Spark has against it, in one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from penstock.pipeline.streaming import JobFailed, cause

CLASS = re.compile(r"\[[A-Z0-9_.]+\] ")
STATE = re.compile(r"\s*SQLSTATE: \w+")
PLACE = re.compile(r"line (\d+),? pos (\d+)")


@contextmanager
def told(option: str) -> Iterator[None]:
    """What goes wrong inside is the fault of what was given with this option, or is said as Spark says it."""
    try:
        yield
    except PySparkException as error:
        raise JobFailed(f"{option}: {words(str(error))}") from None
    except Py4JJavaError as error:
        raise JobFailed(f"{option}: {cause(str(error))}") from None


def words(complaint: str) -> str:
    """Without the class of the error, the plan and the state; with the place."""
    text = complaint.strip()
    first = STATE.split(text)[0].split("\n\n")[0].split("\n== ")[0]
    said = CLASS.sub("", " ".join(first.split()), count=1)
    place = PLACE.search(text)
    return f"{said} (line {place[1]}, column {int(place[2]) + 1})" if place else said

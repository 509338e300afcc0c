"""Conditions on events: from options and from Spark's filters, to the segments that need no look and the rows that go.

A condition is data: a column, a test by name, a value. Tests are applied to columns as SQL would, so that Spark has
nothing to do again; and to the ranges that a segment's name tells, where they may only say no when no event can pass.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource as spark

from penstock.pipeline.sources.journal.columns import ARROW
from penstock.pipeline.sources.journal.plan import Gap, Piece

NAMES = ("node", "region", "account", "queue", "event", "date")
NUMBERS = ("seq", "ts_ms")
DAY_MS = 86_400_000


class Test(NamedTuple):
    """On a column, where null is neither; and on the lowest and highest value that there can be."""

    passes: Callable[[Any, Any], Any]
    can_pass: Callable[[Any, Any, Any], bool]
    columns: tuple[str, ...] = NUMBERS


def _among(column: Any, values: Iterable[Any]) -> Any:
    known = [value for value in values if value is not None]
    return pc.is_in(column, pa.array(known, column.type))


TESTS: Mapping[str, Test] = {
    "EqualTo": Test(pc.equal, lambda low, high, value: low <= value <= high, NAMES + NUMBERS),
    "In": Test(_among, lambda low, high, of: any(low <= v <= high for v in of if v is not None), NAMES + NUMBERS),
    "IsNotNull": Test(lambda column, _: pc.is_valid(column), lambda low, high, value: True, NAMES + NUMBERS),
    "GreaterThan": Test(pc.greater, lambda low, high, value: high > value),
    "GreaterThanOrEqual": Test(pc.greater_equal, lambda low, high, value: high >= value),
    "LessThan": Test(pc.less, lambda low, high, value: low < value),
    "LessThanOrEqual": Test(pc.less_equal, lambda low, high, value: low <= value),
}


class Condition(NamedTuple):
    column: str
    test: str
    value: Any

    @classmethod
    def of(cls, wanted: spark.Filter) -> "Condition | None":
        """What a filter of Spark's asks, if it can be done here exactly as Spark would."""
        test, path = type(wanted).__name__, tuple[str, ...](getattr(wanted, "attribute", ()))
        if test not in TESTS or len(path) != 1 or path[0] not in TESTS[test].columns:
            return None
        value: Any = getattr(wanted, "value", None)
        if value is None and test != "IsNotNull":
            return None
        return cls(path[0], test, tuple(value) if test == "In" else value)

    def mask(self, table: Any) -> Any:
        column = table.column(self.column)
        value = self.value if self.test in ("In", "IsNotNull") else pa.scalar(self.value, ARROW.field(self.column).type)
        return TESTS[self.test].passes(column, value)


def passing(table: Any, asked: Iterable[Condition], filters: Iterable[Condition]) -> Any:
    """The rows that are wanted. What was asked for by options is about events: it never hides that some are bad or
    missing. Filters are SQL, and are taken at their word."""
    for condition in asked:
        table = table.filter(pc.or_kleene(condition.mask(table), pc.is_valid(table.column("_corrupt"))))
    for condition in filters:
        table = table.filter(condition.mask(table))
    return table


def can_pass(part: Piece | Gap, conditions: Iterable[Condition]) -> bool:
    """Whether there can be an event in it that meets all conditions."""
    told = _told(part)
    return all(TESTS[c.test].can_pass(*told[c.column], c.value) for c in conditions if c.column in told)


def _told(part: Piece | Gap) -> dict[str, tuple[Any, Any]]:
    """Column → lowest and highest value, as far as names of files tell."""
    node = part.node if isinstance(part, Gap) else part.segment.node
    told: dict[str, tuple[Any, Any]] = {"node": (node, node), "seq": (part.start, part.end)}
    date = None if isinstance(part, Gap) else part.segment.date
    if date is not None:
        # A segment is begun on its date and may end after midnight; a day more on each side is for clocks set anew.
        midnight = int(dt.datetime.combine(date, dt.time(), dt.UTC).timestamp() * 1000)
        told |= {"date": (date, date), "ts_ms": (midnight - DAY_MS, midnight + 2 * DAY_MS)}
    return told

"""The columns of `penstock.journal`: the journal's fields, the date of the file, and what could not be read.

`extra` holds the whole line where it has fields that are not known here. `_corrupt` and `_source` are of rows that are
not events: a line that could not be read, or `_GAP`, events that are missing.
"""

from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from penstock.pipeline.schemas import JOURNAL

GAP = "_GAP"
"""The event of a row that stands for events that are missing: `seq` the first of them, `count` how many."""

PLACE = StructType().add("file", "string").add("offset", "long")

COLUMNS = (
    StructType([*JOURNAL]).add("extra", "string").add("date", "date").add("_corrupt", "string").add("_source", PLACE)
)

REQUIRED = ("node", "seq", "ts_ms", "event")
"""A line without one of these is no event, whatever else it says."""

ARROW = to_arrow_schema(COLUMNS, timezone="UTC")


def chosen(schema: StructType) -> list[str]:
    """The columns that a program wants: all, or those of the schema it gave, whose types must be ours."""
    ours = {field.name: field.dataType for field in COLUMNS}
    for field in schema:
        if ours.get(field.name) != field.dataType:
            known = ", ".join(f"{name} {kind.simpleString()}" for name, kind in ours.items())
            raise ValueError(
                f"penstock.journal has no column {field.name} of type {field.dataType.simpleString()}; it has {known}"
            )
    return [field.name for field in schema]


def arrow_schema(columns: list[str]) -> Any:
    return pa.schema([ARROW.field(name) for name in columns])

"""The columns of `penstock.journal`: the journal's fields, the date of the file, and what could not be read.

`extra` holds the whole line where it has fields that are not known here. `_corrupt` and `_source` are of rows that are
not events: a line that could not be read, or `_GAP`, events that are missing.
"""

from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, MapType, StringType, StructType

GAP = "_GAP"
"""The event of a row that stands for events that are missing: `seq` the first of them, `count` how many."""

FIELDS = (
    StructType()
    .add("node", "string")
    .add("seq", "long")
    .add("ts_ms", "long")
    .add("event", "string")
    .add("region", "string")
    .add("account", "string")
    .add("queue", "string")
    .add("message_id", "string")
    .add("group", "string")
    .add("type", "string")
    .add("endpoint", "string")
    .add("size", "long")
    .add("receive_count", "integer")
    .add("sent_ms", "long")
    .add("first_receive_ms", "long")
    .add("principal", "string")
    .add("duration_ms", "long")
    .add("reason", "string")
    .add("trace", "string")
    .add("count", "long")
    .add("visible", "long")
    .add("in_flight", "long")
    .add("delayed", "long")
    .add("successor", "string")
    .add("attributes", MapType(StringType(), ArrayType(StringType())))
    .add("body", "string")
)
"""What a line can have."""

PLACE = StructType().add("file", "string").add("offset", "long")

COLUMNS = (
    StructType([*FIELDS.fields])
    .add("extra", "string")
    .add("date", "date")
    .add("_corrupt", "string")
    .add("_source", PLACE)
)

REQUIRED = ("node", "seq", "ts_ms", "event")
"""A line without one of these is no event, whatever else it says."""

EVENTS = (
    "SENT",
    "DEDUPLICATED",
    "RECEIVED",
    "EMPTY_RECEIVE",
    "DELETED",
    "VISIBILITY_CHANGED",
    "EXPIRED",
    "DAMAGED",
    "PURGED",
    "DEAD_LETTERED",
    "MOVED",
    "REROUTED",
    "QUEUE_CREATED",
    "QUEUE_CHANGED",
    "QUEUE_DELETED",
    "DENIED",
    "GAUGE",
)
"""Those that can be asked for by name; others are read all the same."""

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

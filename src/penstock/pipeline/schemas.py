"""What is in each table: columns, and the version of their list.

A version grows when columns are added, at the end; nothing is renamed, retyped or taken away. So older files are read
with the newest list, and the columns that they lack are null.
"""

from typing import NamedTuple

from pyspark.sql.types import StructField, StructType

PARTITION = "date"


class Schema(NamedTuple):
    name: str
    version: int
    columns: StructType
    """Without the partition, `date`, which every table has: the day, in UTC, of what a row is about."""

    @property
    def all(self) -> StructType:
        return StructType([*self.columns, StructField(PARTITION, StructType.fromDDL("d date")[0].dataType)])


JOURNAL = StructType.fromDDL(
    "node string, seq bigint, ts_ms bigint, event string, region string, account string, queue string, "
    "message_id string, `group` string, type string, endpoint string, size bigint, receive_count int, sent_ms bigint, "
    "first_receive_ms bigint, principal string, duration_ms bigint, reason string, trace string, count bigint, "
    "visible bigint, in_flight bigint, delayed bigint, successor string, attributes map<string, array<string>>, "
    "body string"
)
"""A line of the journal, field by field: docs/explain/journal.md."""

KNOWN_EVENTS = (
    "SENT", "DEDUPLICATED", "RECEIVED", "EMPTY_RECEIVE", "DELETED", "VISIBILITY_CHANGED",
    "EXPIRED", "DAMAGED", "PURGED", "DEAD_LETTERED", "MOVED", "REROUTED",
    "QUEUE_CREATED", "QUEUE_CHANGED", "QUEUE_DELETED", "DENIED", "GAUGE",
)  # fmt: skip

EVENTS = Schema("events", 1, StructType([*JOURNAL, StructField("extra", StructType.fromDDL("e string")[0].dataType)]))
"""`extra` is the whole line where the server wrote fields that this version does not know, else null."""

CORRUPT = Schema(
    "_corrupt",
    1,
    StructType.fromDDL(
        "found_ms bigint, job string, file string, offset bigint, node string, first bigint, last bigint, "
        "reason string, line string"
    ),
)
"""What could not be read: a line with its file and offset, or events `first` to `last` of a node that are missing."""

"""What is in each table: columns, and the version of their list.

A version grows when columns are added, at the end; nothing is renamed, retyped or taken away. So older files are read
with the newest list, and the columns that they lack are null.
"""

import re
from typing import NamedTuple

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

PARTITION = "date"
KINDS: dict[str, DataType] = {
    "string": StringType(),
    "int": IntegerType(),
    "bigint": LongType(),
    "double": DoubleType(),
    "boolean": BooleanType(),
    "date": DateType(),
    "timestamp": TimestampType(),
    "array<string>": ArrayType(StringType()),
    "map<string, array<string>>": MapType(StringType(), ArrayType(StringType())),
}
COLUMN = re.compile(rf"(\w+) ({'|'.join(map(re.escape, sorted(KINDS, reverse=True)))})(?:, |$)")


def columns(text: str) -> StructType:
    """`name kind, name kind`, as SQL writes them. Spark's own parser of this needs a JVM, and a module must not."""
    found = COLUMN.findall(text)
    assert "".join(match[0] for match in COLUMN.finditer(text)) == text, f"not columns: {text}"
    return StructType([StructField(name, KINDS[kind]) for name, kind in found])


class Schema(NamedTuple):
    name: str
    version: int
    columns: StructType
    """Without the partition, `date`, which every table has: the day, in UTC, of what a row is about."""

    @property
    def all(self) -> StructType:
        return StructType([*self.columns, StructField(PARTITION, DateType())])


JOURNAL = columns(
    "node string, seq bigint, ts_ms bigint, event string, region string, account string, queue string, "
    "message_id string, group string, type string, endpoint string, size bigint, receive_count int, sent_ms bigint, "
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

EVENTS = Schema("events", 1, StructType([*JOURNAL, StructField("extra", StringType())]))
"""`extra` is the whole line where the server wrote fields that this version does not know, else null."""

CORRUPT = Schema(
    "_corrupt",
    1,
    columns(
        "found_ms bigint, job string, file string, offset bigint, node string, first bigint, last bigint, "
        "reason string, line string"
    ),
)
"""What could not be read: a line with its file and offset, or events `first` to `last` of a node that are missing."""

WINDOW = "window_start timestamp, window_ms bigint, period_seconds int, region string, account string, queue string"

QUEUE_METRICS = Schema(
    "queue_metrics",
    1,
    columns(f"{WINDOW}, metric string, unit string, sample_count bigint, sum bigint, minimum bigint, maximum bigint"),
)
"""Amazon's nine metrics by window: docs/explain/metrics.md says what each counts."""

QUEUE_LATENCY = Schema(
    "queue_latency",
    1,
    columns(
        f"{WINDOW}, type string, deliveries bigint, redelivered bigint, deleted bigint, dead_lettered bigint, "
        "expired bigint, failures bigint, success_ratio double, dwell_p50_ms bigint, dwell_p95_ms bigint, "
        "dwell_p99_ms bigint, handling_p50_ms bigint, handling_p95_ms bigint, handling_p99_ms bigint, "
        "groups bigint, fairness double"
    ),
)
"""How long messages waited and were handled, and what became of them: all types of a window, and each type it had."""

LATE = Schema(
    "_late",
    1,
    columns(
        "minute_ms bigint, region string, account string, queue string, measure string, events bigint, closed_ms bigint"
    ),
)
"""Events that came when their minute was closed up to `closed_ms`, and are in no window."""

TALLIES = Schema(
    "tallies",
    1,
    columns(
        "minute_ms bigint, region string, account string, queue string, measure string, type string, group string, "
        "value bigint, n bigint, last_ms bigint"
    ),
)
"""The state of `metrics` between batches: what has been counted in windows that are open."""

REPLAYS = Schema(
    "replays",
    1,
    columns("node string, seq bigint, message_id string, replay string, target string, replayed_ms bigint"),
)
"""What replays have sent: the event that a message came from, by which replay, to which queue, and when."""

_STAY = (
    "region string, account string, queue string, arn string, message_id string, group string, type string, "
    "endpoint string, size bigint, origin string, origin_queue string, predecessor string, sent_ms bigint, "
    "entered_ms bigint, first_receive_ms bigint, last_receive_ms bigint, visibility_changes int, sender string, "
    "receiver string"
)

LIFECYCLE = Schema(
    "lifecycle",
    1,
    columns(
        f"{_STAY}, attempts int, ended_ms bigint, outcome string, reason string, dwell_ms bigint, handling_ms bigint, "
        "total_ms bigint, next_queue string, successor string"
    ),
)
"""A message's stay in one queue, from when it came to how it ended; `date` is the day of the end."""

LIFECYCLE_OPEN = Schema(
    "lifecycle_open", 1, columns(f"{_STAY}, seen_ms bigint, receive_count int, received_before int")
)
"""Stays that have not ended: what the job `lifecycle` remembers. `date` is the day of the first event of each."""

DEAD_LETTERS = Schema(
    "dead_letters",
    1,
    columns(
        "signature string, region string, account string, queue string, arn string, dead_letter_queue string, "
        "reason string, type string, version string, error string, receiver string, first_ms bigint, last_ms bigint, "
        "count bigint, waiting bigint, sample_ids array<string>, sample_bodies array<string>"
    ),
)
"""Dead letters of one cause, as the last run of the job `dlq` found them; `date` is the day of the last of them."""

"""Messages as rows: the columns of a read, and how a reply of ReceiveMessage becomes an Arrow batch.

`receipt_handle` is among the columns because a program that reads in batch may want to delete for itself. In a stream
it is of no use: the source deletes.
"""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

Message = Mapping[str, Any]

ATTRIBUTE = StructType(
    [
        StructField("data_type", StringType()),
        StructField("string_value", StringType()),
        StructField("binary_value", BinaryType()),
    ]
)
SCHEMA = StructType(
    [
        StructField("message_id", StringType()),
        StructField("body", StringType()),
        StructField("md5", StringType()),
        StructField("receive_count", IntegerType()),
        StructField("sent_ms", LongType()),
        StructField("first_receive_ms", LongType()),
        StructField("sender", StringType()),
        StructField("group_id", StringType()),
        StructField("deduplication_id", StringType()),
        StructField("sequence_number", StringType()),
        StructField("attributes", MapType(StringType(), ATTRIBUTE)),
        StructField("receipt_handle", StringType()),
        StructField("queue_url", StringType()),
    ]
)
ARROW = to_arrow_schema(SCHEMA, timezone="UTC")

PARTS = {"message_id": "MessageId", "body": "Body", "md5": "MD5OfBody", "receipt_handle": "ReceiptHandle"}
WORDS = {
    "sender": "SenderId",
    "group_id": "MessageGroupId",
    "deduplication_id": "MessageDeduplicationId",
    "sequence_number": "SequenceNumber",
}
NUMBERS = {
    "receive_count": "ApproximateReceiveCount",
    "sent_ms": "SentTimestamp",
    "first_receive_ms": "ApproximateFirstReceiveTimestamp",
}


def check_schema(schema: StructType) -> None:
    """A program may name fewer columns, or another order; not other ones."""
    for wanted in schema.fields:
        if wanted.name not in SCHEMA.names or SCHEMA[wanted.name].dataType != wanted.dataType:
            have = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in SCHEMA.fields)
            raise ValueError(
                f"penstock.queue has no column {wanted.name} {wanted.dataType.simpleString()}; it has {have}"
            )


def batch_of(messages: Sequence[Message], queue_url: str) -> pa.RecordBatch:
    system = [message.get("Attributes") or {} for message in messages]
    columns: dict[str, Sequence[Any]] = {
        **{column: [message.get(part) for message in messages] for column, part in PARTS.items()},
        **{column: [one.get(name) for one in system] for column, name in WORDS.items()},
        **{column: [_number(one.get(name)) for one in system] for column, name in NUMBERS.items()},
        "attributes": [_attributes(message.get("MessageAttributes")) for message in messages],
        "queue_url": [queue_url] * len(messages),
    }
    arrays = [pa.array(columns[field.name], type=field.type) for field in ARROW]
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _attributes(given: Mapping[str, Mapping[str, str]] | None) -> list[tuple[str, dict[str, Any]]]:
    return [
        (
            name,
            {
                "data_type": value.get("DataType"),
                "string_value": value.get("StringValue"),
                "binary_value": b64decode(value["BinaryValue"]) if "BinaryValue" in value else None,
            },
        )
        for name, value in (given or {}).items()
    ]

"""The journal as a DataFrame. Spark's own reader parses the files, in the JVM; Python only says which.

Every frame here has the columns of a journal line and three more:

    extra      the whole line, where it has fields that this version does not know; else null
    _corrupt   the whole line, where it is no JSON object of these fields; else null
    _file      where it was read

Which fields a server writes is in `_format.json` beside its segments. Only if that names one we do not know, or is not
there, is every line looked through for others: that costs as much again as parsing it.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from penstock.pipeline.files import files
from penstock.pipeline.schemas import JOURNAL
from penstock.pipeline.told import Told

FORMAT = "_format.json"
SEGMENTS = "node=*/date=*"
NAMES = "*.jsonl*"
SEGMENT = re.compile(r"node=([^/]+)/date=([^/]+)/(\d{20})-(\d{20})\.jsonl(?:\.gz)?$")
CORRUPT = "_corrupt"
FILE = "_file"
WITH_CORRUPT = StructType([*JOURNAL, StructField(CORRUPT, StringType())])
FORGIVING = {"columnNameOfCorruptRecord": CORRUPT, "mode": "PERMISSIVE"}
HOLES_ARE_COUNTED = {"ignoreMissingFiles": "true", "ignoreCorruptFiles": "true"}
"""A file that is gone or torn must not stop the stream for ever: what it should have had is missed in `density`."""


class JournalError(Told):
    """The journal cannot be read; the message is for the person who started the job."""


class Segment(NamedTuple):
    node: str
    first: int
    last: int
    date: str
    path: str
    size: int = 0

    @classmethod
    def named(cls, path: str, size: int = 0) -> "Segment | None":
        found = SEGMENT.search(path)
        return cls(found[1], int(found[3]), int(found[4]), found[2], path, size) if found else None


def segments(spark: SparkSession, journal: str) -> list[Segment]:
    """Published ones, in order."""
    folder = files(journal, spark)
    found = (Segment.named(folder.url(file.path), file.size) for file in folder.below())
    return sorted(segment for segment in found if segment)


def unknown_fields(spark: SparkSession, journal: str) -> list[str] | None:
    """Fields that the server writes and we do not know; None if nothing says which it writes."""
    content = files(journal, spark).read(FORMAT)
    if content is None:
        return None
    try:
        written = json.loads(content)["fields"]
    except (ValueError, KeyError, TypeError):
        raise JournalError(f"{journal}/{FORMAT} does not say which fields the journal has") from None
    return [name for name in written if name not in JOURNAL.names]


def check_there(spark: SparkSession, journal: str) -> None:
    """A server notes what it writes before it publishes anything."""
    if unknown_fields(spark, journal) is None and not segments(spark, journal):
        raise JournalError(f"there is no journal in {journal}: name the folder that has {FORMAT} and node=… in it")


def stream(spark: SparkSession, journal: str, segments_at_once: int) -> DataFrame:
    reader = spark.readStream.option("maxFilesPerTrigger", segments_at_once).option("maxFileAge", "3650d")
    return _read(reader, spark, journal, f"{journal.rstrip('/')}/{SEGMENTS}")


def batch(spark: SparkSession, journal: str, start_ms: int | None = None, end_ms: int | None = None) -> DataFrame:
    """What happened in [start, end), and lines of those days that are no events."""
    chosen = [segment.path for segment in of_time(segments(spark, journal), start_ms, end_ms)]
    if not chosen:
        return spark.createDataFrame([], StructType([*WITH_CORRUPT, _text("extra"), _text(FILE)]))
    return _read(spark.read, spark, journal, *chosen).where(between(start_ms, end_ms) | F.col(CORRUPT).isNotNull())


def of_time(found: Iterable[Segment], start_ms: int | None, end_ms: int | None) -> list[Segment]:
    """A segment's date is that of its first line, so those of the day before may have some, too."""
    return [
        segment
        for segment in found
        if (start_ms is None or segment.date >= _day(start_ms, -1)) and (end_ms is None or segment.date <= _day(end_ms))
    ]


def has_lines(spark: SparkSession, segment: Segment) -> bool:
    return not spark.read.options(**HOLES_ARE_COUNTED).text(segment.path).isEmpty()


def between(start_ms: int | None, end_ms: int | None) -> Column:
    wanted = F.lit(True)
    if start_ms is not None:
        wanted = wanted & (F.col("ts_ms") >= start_ms)
    if end_ms is not None:
        wanted = wanted & (F.col("ts_ms") < end_ms)
    return wanted


def _day(ms: int, days: int = 0) -> str:
    from datetime import UTC, datetime, timedelta

    return str((datetime.fromtimestamp(ms / 1000, UTC) + timedelta(days=days)).date())


def _text(name: str) -> StructField:
    return StructField(name, StringType())


def _read(reader: Any, spark: SparkSession, journal: str, *paths: str) -> DataFrame:
    reader = reader.options(**HOLES_ARE_COUNTED, pathGlobFilter=NAMES)
    where = list(paths) if isinstance(reader, type(spark.read)) else paths[0]
    file = F.col("_metadata.file_path").alias(FILE)
    if unknown_fields(spark, journal) == []:
        lines = reader.schema(WITH_CORRUPT).options(**FORGIVING).json(where)
        return lines.select("*", F.lit(None).cast("string").alias("extra"), file)
    lines = reader.schema("value string").text(where).select("value", file)
    parsed = lines.select(
        F.from_json("value", WITH_CORRUPT, FORGIVING).alias("line"), _if_unknown(F.col("value")).alias("extra"), FILE
    )
    return parsed.select("line.*", "extra", FILE)


def _if_unknown(line: Column) -> Column:
    known = F.array(*map(F.lit, JOURNAL.names))
    return F.when(F.size(F.array_except(F.json_object_keys(line), known)) > 0, line)


def readable(frame: DataFrame) -> DataFrame:
    """The lines that are events, with the date of their time."""
    good = frame.where(F.col(CORRUPT).isNull() & F.col("seq").isNotNull() & F.col("ts_ms").isNotNull())
    return good.drop(CORRUPT, FILE).withColumn("date", F.to_date(F.timestamp_millis("ts_ms")))


def unreadable(frame: DataFrame) -> DataFrame:
    bad = F.col(CORRUPT).isNotNull() | F.col("seq").isNull() | F.col("ts_ms").isNull()
    return frame.where(bad).select(FILE, F.coalesce(CORRUPT, "extra", F.to_json(F.struct("*"))).alias("line"))


def named(paths: Iterable[str]) -> Iterator[Segment]:
    for path in paths:
        if segment := Segment.named(path):
            yield segment

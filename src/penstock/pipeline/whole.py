"""The quick way of a batch in which nothing is wrong: segments of one day, written as Spark's reader gives them.

A look at every row, for what is no event and for its date, costs more than half of what reading and writing it do. So
rows are written unseen, and counted meanwhile. They are as many as the segments' names say, each with a number and a
time, all times are of the day that the names say: then they may be committed. Otherwise nothing has happened, and the
batch goes the careful way, which says what is wrong. Whatever is not plain here, the careful way decides.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline.density import Count
from penstock.pipeline.events import HOLES_ARE_COUNTED, Segment
from penstock.pipeline.files import Files
from penstock.pipeline.ranges import total
from penstock.pipeline.schemas import EVENTS
from penstock.pipeline.tables import Day

DAY_MS = 86_400_000
READ = EVENTS.columns
"""With `extra`, which no line has here: to add a column later would copy every row."""


class Whole:
    def __init__(self, lines: DataFrame, segments: Sequence[Segment]) -> None:
        self._segments, self._observation = segments, Observation()
        self.rows = lines.observe(
            self._observation,
            F.count(F.lit(1)).alias("lines"),
            F.expr("count(seq, ts_ms)").alias("events"),
            F.count("extra").alias("extra"),
            F.min("ts_ms").alias("first_ms"),
            F.max("ts_ms").alias("last_ms"),
        )

    @property
    def count(self) -> Count:
        return Count(total((one.first, one.last) for one in self._segments), 0, self._segments)

    def day(self) -> Day | None:
        """When the rows have been read: their day, if everything is as it should be."""
        got, date = self._observation.get, self._segments[0].date
        start = round(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp() * 1000)
        whole = got["lines"] == got["events"] == self.count.lines and not got["extra"]
        of_day = whole and start <= got["first_ms"] and got["last_ms"] < start + DAY_MS
        return Day(date, self.count.lines) if of_day else None


def whole(spark: SparkSession, wanted: Iterable[Segment | None], listed: Iterable[Segment]) -> Whole | None:
    there = {one[:4]: one for one in listed}
    segments = [there.get(one[:4]) if one else None for one in wanted]
    known = sorted(one for one in segments if one)
    if not known or len(known) < len(segments) or len({one.date for one in known}) > 1:
        return None
    reader = spark.read.schema(READ).options(**HOLES_ARE_COUNTED, mode="DROPMALFORMED")
    try:
        return Whole(reader.json([one.path for one in known]), known)
    except AnalysisException:  # one has gone since
        return None


def planned(checkpoint: Files, batch: int) -> list[Segment | None]:
    """The files of a batch, as Spark's file source has noted them before it began; nothing if it notes otherwise."""
    try:
        first, last = (_log_offset(checkpoint, number) for number in (batch - 1, batch))
        return [one for number in range(first + 1, last + 1) for one in _noted(checkpoint, number)]
    except (LookupError, TypeError, ValueError):
        return []


def _log_offset(checkpoint: Files, batch: int) -> int:
    if batch < 0:
        return -1
    offsets = (checkpoint.read(f"offsets/{batch}") or b"").decode().splitlines()
    return int(json.loads(offsets[2])["logOffset"])


def _noted(checkpoint: Files, number: int) -> list[Segment | None]:
    """Every tenth note repeats all before it."""
    place = f"sources/0/{number}"
    version, *entries = (checkpoint.read(place) or checkpoint.read(f"{place}.compact") or b"").decode().splitlines()
    if version != "v1":
        raise ValueError(version)
    found = [entry for entry in map(json.loads, entries) if entry["batchId"] == number]
    return [Segment.named(entry["path"]) for entry in found]

"""From when to when a source has events: a range that it has only half of must not take the place of whole windows."""

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline.events import JournalError, Segment, segments
from penstock.pipeline.files import Files, files


class Extent(NamedTuple):
    what: str
    begins: Mapping[str, int]
    """Node → its first event that is there, for nodes whose first event of all is not."""
    last_ms: int

    def must_cover(self, start_ms: int) -> None:
        for node, first in self.begins.items():
            if first > start_ms:
                since = datetime.fromtimestamp(first / 1000, UTC).isoformat(timespec="seconds")
                raise JournalError(f"{self.what} has lost what node {node} did before {since}, after --from")


def of_table(table: DataFrame, what: str) -> Extent:
    ends = table.groupBy("node").agg(F.min("seq"), F.min("ts_ms"), F.max("ts_ms")).collect()
    if not ends:
        raise JournalError(f"{what} has no events: `penstock pipeline land` fills it")
    return Extent(what, {row[0]: row[2] for row in ends if row[1] > 1}, max(row[3] for row in ends))


def of_journal(spark: SparkSession, journal: str) -> Extent:
    found = segments(spark, journal)
    if not found:
        raise JournalError(f"there is no journal in {journal}")
    folder, nodes = files(journal, spark), {segment.node for segment in found}
    firsts = [next(segment for segment in found if segment.node == node) for node in nodes]
    begins = {segment.node: _edges(folder, segment)[0] for segment in firsts if segment.first > 1}
    return Extent(f"the journal in {journal}", begins, max(_edges(folder, last)[1] for last in _newest(found)))


def _newest(found: Sequence[Segment]) -> list[Segment]:
    last = {segment.node: segment for segment in found}
    day = max(segment.date for segment in last.values())
    return [segment for segment in last.values() if segment.date == day]


def _edges(folder: Files, segment: Segment) -> tuple[int, int]:
    """The times of a segment's first and last line."""
    content = folder.read(segment.path) or b""
    try:
        lines = (gzip.decompress(content) if segment.path.endswith(".gz") else content).splitlines()
        return json.loads(lines[0])["ts_ms"], json.loads(lines[-1])["ts_ms"]
    except (OSError, EOFError, zlib.error, ValueError, LookupError):
        raise JournalError(f"{segment.path} cannot be read: --source events has what was read of it before") from None

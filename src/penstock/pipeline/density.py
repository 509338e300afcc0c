"""Nothing goes missing in silence: what a batch should have had, by the names of its files, against what it had.

A segment's name tells its first and last number, and between them there is a line for each. So a batch is whole if it
has as many lines as the names say and its files follow on those before. Counting costs one pass that is made anyway;
only where the count is off is the batch looked through again, for rows of the table `_corrupt`.
"""

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline.events import CORRUPT as LINE
from penstock.pipeline.events import FILE, Segment, has_lines, named, unreadable
from penstock.pipeline.files import files
from penstock.pipeline.ranges import Range, gaps, joined, total
from penstock.pipeline.schemas import CORRUPT
from penstock.pipeline.unpacking import Damaged, unpacked

Covered = Mapping[str, Sequence[Range]]
"""Node → what has been read of it."""

MOST_LINES = 10_000
"""Corrupt lines of one batch that are kept one by one; a batch with more has another kind of trouble."""


class Finding(NamedTuple):
    """A row of `_corrupt`, without its time and job. What is about a range of numbers says which."""

    reason: str
    file: str | None = None
    offset: int | None = None
    node: str | None = None
    first: int | None = None
    last: int | None = None
    line: str | None = None


class Count(NamedTuple):
    lines: int
    bad: int
    found: Sequence[Segment]
    """The files that had some."""


class Census:
    """Counts a batch while it is being written."""

    def __init__(self) -> None:
        self._observation = Observation()

    def of(self, frame: DataFrame) -> DataFrame:
        return frame.observe(
            self._observation,
            F.count(F.lit(1)).alias("lines"),
            F.count(F.when(F.col(LINE).isNotNull() | F.col("seq").isNull() | F.col("ts_ms").isNull(), 1)).alias("bad"),
            F.collect_set(FILE).alias("files"),
        )

    def result(self) -> Count:
        got = self._observation.get
        return Count(got["lines"], got["bad"], sorted(named(got["files"])))


def examine(
    frame: DataFrame, count: Count, covered: Covered, listed: Sequence[Segment], planned: Iterable[Segment | None] = ()
) -> tuple[list[Finding], dict[str, list[Range]]]:
    """What is wrong with a batch, and what has been read with it. `listed` are the segments that the journal has now:
    what is not in the batch may come in the next, for files are not always taken in order. `planned` are those that
    the batch should have had, as far as that is known."""
    lines, bad, found = count
    now = {node: list(ranges) for node, ranges in covered.items()}
    for segment in found:
        now[segment.node] = joined([*now.get(segment.node, []), (segment.first, segment.last)])
    wanted = {one[:4] for one in planned if one} - {one[:4] for one in found}
    between = {one for node, ranges in now.items() for one in _between(ranges, node, listed)}
    passed_over = [one for one in listed if one in between or one[:4] in wanted]
    findings = [*_unreadable(frame.sparkSession, passed_over), *_holes(now, listed)]
    if bad:
        findings += _bad_lines(frame)
    if lines != total((segment.first, segment.last) for segment in found):
        findings += _short(frame, found)
    for finding in findings:
        if finding.node and finding.first and finding.last:  # it is said once
            now[finding.node] = joined([*now.get(finding.node, []), (finding.first, finding.last)])
    return findings, now


def _between(ranges: Sequence[Range], node: str, listed: Sequence[Segment]) -> list[Segment]:
    """Segments that lie in gaps of what has been read."""
    holes = gaps(ranges)
    return [one for one in listed if one.node == node and any(a <= one.first and one.last <= b for a, b in holes)]


def _unreadable(spark: SparkSession, passed_over: Iterable[Segment]) -> Iterator[Finding]:
    """Files in which nothing can be read."""
    for one in passed_over:
        if not has_lines(spark, one):
            yield Finding("the file cannot be read", one.path, node=one.node, first=one.first, last=one.last)


def _holes(covered: Covered, listed: Sequence[Segment]) -> Iterator[Finding]:
    """Numbers that no file has, between some that have been read."""
    for node, ranges in covered.items():
        there = [(one.first, one.last) for one in _between(ranges, node, listed)]
        for first, last in gaps([*ranges, *there]):
            yield Finding("segments are missing", node=node, first=first, last=last)


def missing(found: Iterable[Segment]) -> int:
    """Events between segments of a node that no segment has."""
    by_node: defaultdict[str, list[Range]] = defaultdict(list)
    for segment in found:
        by_node[segment.node].append((segment.first, segment.last))
    return sum(total(gaps(ranges)) for ranges in by_node.values())


def _bad_lines(frame: DataFrame) -> list[Finding]:
    rows = unreadable(frame).limit(MOST_LINES).collect()
    found = []
    for file in sorted({row[FILE] for row in rows}):
        lines = {row["line"] for row in rows if row[FILE] == file}
        segment = Segment.named(file)
        for offset, line in _places(file, lines, frame.sparkSession):
            node = segment.node if segment else None
            found.append(Finding("not a line of the journal", file=file, offset=offset, node=node, line=line))
    return found


def _places(file: str, lines: set[str], spark: SparkSession) -> Iterator[tuple[int | None, str]]:
    """Where in the file, uncompressed, each line begins; None for one that Spark reads otherwise than we do."""
    folder, _, name = file.removeprefix("file://").rpartition("/")
    content = files(folder, spark).read(name) or b""
    at, without = 0, set(lines)
    for raw in b"".join(_readable(content, name)).split(b"\n"):
        if (line := raw.decode(errors="replace")) in lines:
            yield at, line
            without.discard(line)
        at += len(raw) + 1
    yield from ((None, line) for line in sorted(without))


def _readable(content: bytes, name: str) -> Iterator[bytes]:
    with suppress(Damaged):
        yield from unpacked(io.BytesIO(content), name)


def _short(frame: DataFrame, found: Iterable[Segment]) -> list[Finding]:
    """Files with fewer lines than their name says, or more."""
    counted = {
        row[FILE]: row for row in frame.groupBy(FILE).agg(F.count("*").alias("n"), F.max("seq").alias("last")).collect()
    }
    return [
        Finding(
            f"{row['n']} lines where the name says {segment.last - segment.first + 1}",
            file=segment.path,
            node=segment.node,
            first=segment.first if row["last"] is None else row["last"] + 1,
            last=segment.last,
        )
        for segment in found
        if (row := counted[segment.path])["n"] != segment.last - segment.first + 1
    ]


def rows(spark: SparkSession, findings: Iterable[Finding], job: str) -> DataFrame:
    """Findings → rows of `_corrupt`."""
    now = datetime.now(UTC)
    about = {"found_ms": round(now.timestamp() * 1000), "job": job, "date": now.date()}
    return spark.createDataFrame([{**about, **finding._asdict()} for finding in findings], CORRUPT.all)

"""How fast `land` is beside a bare `spark.read.json(schema) → write.parquet` of the same files.

    python bench/pipeline_land.py --events 3000000

Both take turns in one session, on one journal. The first round of each warms the machine up and does not count. `land`
is the whole job: it also counts every line, sorts out what is no event, partitions by date and commits.
"""

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pipeline_journals import make_journal
from pyspark.sql import SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import land
from penstock.pipeline.schemas import JOURNAL
from penstock.pipeline.session import session


def bare(spark: SparkSession, journal: Path, out: Path) -> None:
    spark.read.schema(JOURNAL).json(f"{journal}/node=*/date=*/*.jsonl.gz").write.parquet(str(out / "bare"))


def landed(spark: SparkSession, journal: Path, out: Path) -> None:
    land.run(spark, Ask("land", journal=str(journal), out=str(out), once=True, segments_at_once=10_000))


WAYS: dict[str, Callable[[SparkSession, Path, Path], None]] = {"bare": bare, "land": landed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), given.events, given.rounds)
    print(f"| {given.events:,} events | events/s, median of {given.rounds} | × bare |")
    print("|---|---:|---:|")
    for name, rate in figures.items():
        print(f"| {name} | {rate:,.0f} | {rate / figures['bare']:.2f} |")
    if given.json:
        given.json.write_text(json.dumps({"events": given.events, "per_second": figures}, indent=2) + "\n")


def measure(folder: Path, events: int, rounds: int) -> dict[str, float]:
    make_journal(folder / "journal", events)
    spark = session("bench", settings={"spark.ui.enabled": "false"})
    took: dict[str, list[float]] = {name: [] for name in WAYS}
    for number in range(rounds + 1):
        for name, way in WAYS.items():
            out = folder / f"{name}-{number}"
            out.mkdir()
            began = time.monotonic()
            way(spark, folder / "journal", out)
            took[name].append(time.monotonic() - began)
            shutil.rmtree(out)
    spark.stop()
    return {name: events / statistics.median(seconds[1:]) for name, seconds in took.items()}


if __name__ == "__main__":
    main()

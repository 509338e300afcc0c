"""Events a second of `penstock.journal` beside Spark's own JSON reader, on the same files, one after the other.

    python bench/pipeline_journal.py [--events 1000000] [--segments 20] [--bodies 0] [--turns 3]

Both count rows and add up a column, so that every line is parsed; the ratio is of the best turns. With --bodies N each
event also has a body of N characters and two attributes, as at level `full`.
"""

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.schemas import JOURNAL
from penstock.pipeline.session import session
from penstock.pipeline.sources import register

NODE = "4f1c2a9be07d"
START = 1_794_787_200_000


def line(seq: int, body: int) -> bytes:
    event = {
        "node": NODE, "seq": seq, "ts_ms": START + seq, "event": ("SENT", "RECEIVED", "DELETED")[seq % 3],
        "region": "us-east-1", "account": "000000000000", "queue": f"orders-{seq % 50}",
        "message_id": f"{seq:08x}-0000-4000-8000-000000000000", "size": 256, "receive_count": 1,
        "principal": "arn:aws:iam::000000000000:root", "duration_ms": seq % 1000,
    }  # fmt: skip
    if body:
        event |= {"attributes": {"a": ["String", "b"], "n": ["Number", "1"]}, "body": "x" * body}
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def publish(folder: Path, events: int, segments: int, body: int) -> None:
    place = folder / f"node={NODE}" / "date=2026-11-16"
    place.mkdir(parents=True)
    each = events // segments
    for first in range(1, each * segments + 1, each):
        text = b"".join(line(seq, body) for seq in range(first, first + each))
        (place / f"{first:020}-{first + each - 1:020}.jsonl.gz").write_bytes(gzip.compress(text, 1))


def seconds(frame: Callable[[], DataFrame]) -> float:
    begun = time.perf_counter()
    frame().selectExpr("count(*)", "sum(seq)", "sum(duration_ms)", "max(message_id)").collect()
    return time.perf_counter() - begun


def ways(spark: SparkSession, folder: str) -> dict[str, Callable[[], DataFrame]]:
    source = spark.read.format("penstock.journal")
    return {
        "spark.read.json, with a schema": lambda: spark.read.schema(JOURNAL).json(folder),
        "penstock.journal": lambda: source.load(folder),
        "penstock.journal, one queue of fifty": lambda: source.load(folder).where("queue = 'orders-7'"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"events": 1_000_000, "segments": 20, "bodies": 0, "turns": 3}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args()
    spark = session("bench", settings={"spark.ui.enabled": "false"})
    register(spark)
    with tempfile.TemporaryDirectory() as folder:
        publish(Path(folder), asked.events, asked.segments, asked.bodies)
        measured = {name: min(seconds(way) for _ in range(asked.turns)) for name, way in ways(spark, folder).items()}
    first = next(iter(measured.values()))
    for name, took in measured.items():
        print(f"{name:40} {asked.events / took:12,.0f} events/s {first / took:6.2f} x")
    spark.stop()


if __name__ == "__main__":
    main()

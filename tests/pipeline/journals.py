"""Journals made for tests: lines of any kind in segments as a server publishes them."""

import gzip
import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

NODE = "4f1c2a9be07d"
START = 1_794_787_200_000
"""2026-11-16T00:00Z"""
FIELDS = [
    "node",
    "seq",
    "ts_ms",
    "event",
    "region",
    "account",
    "queue",
    "message_id",
    "group",
    "type",
    "endpoint",
    "size",
    "receive_count",
    "sent_ms",
    "first_receive_ms",
    "principal",
    "duration_ms",
    "reason",
    "trace",
    "count",
    "visible",
    "in_flight",
    "delayed",
    "successor",
    "attributes",
    "body",
]

Line = dict[str, Any]


def line(seq: int, event: str = "SENT", after_ms: int = 0, **fields: Any) -> Line:
    """An event of the queue `orders`, so many milliseconds after the beginning of the day."""
    known = {"region": "us-east-1", "account": "000000000000", "queue": "orders"}
    return {"node": NODE, "seq": seq, "ts_ms": START + after_ms, "event": event, **known, **fields}


class Journal:
    """A folder with published segments. The first and last number of a segment are those of its lines."""

    def __init__(self, folder: Path, fields: Iterable[str] | None = FIELDS) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if fields is not None:
            (folder / "_format.json").write_text(json.dumps({"version": 1, "fields": list(fields)}))

    def publish(self, *lines: Mapping[str, Any]) -> Path:
        return self.publish_text("".join(f"{json.dumps(one, separators=(',', ':'))}\n" for one in lines), *lines)

    def publish_text(self, text: str, *lines: Mapping[str, Any]) -> Path:
        """Any text, under the name that these lines would have."""
        first, last = lines[0], lines[-1]
        date = datetime.fromtimestamp(first["ts_ms"] / 1000, UTC).date()
        place = self.folder / f"node={first['node']}" / f"date={date}"
        place.mkdir(parents=True, exist_ok=True)
        file = place / f"{first['seq']:020d}-{last['seq']:020d}.jsonl.gz"
        file.write_bytes(gzip.compress(text.encode()))
        os.utime(
            file, (1_000_000 + first["seq"],) * 2
        )  # Spark takes files by these, and tests publish faster than they tick
        return file

"""What became of each message, read line by line with a dictionary: what the pipeline's rows are compared with."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from .journals import Line

Row = dict[str, Any]
Key = tuple[str, str]

ENDS = ("DELETED", "EXPIRED", "DAMAGED", "DEAD_LETTERED", "MOVED")


def stays(lines: Iterable[Line]) -> tuple[list[Row], dict[Key, Row]]:
    """Rows of those that ended, and those that are open."""
    opened: dict[Key, Row] = {}
    ended: list[Row] = []
    for line in lines:
        queue = f"arn:aws:sqs:{line['region']}:{line['account']}:{line['queue']}"
        if line["event"] in ("PURGED", "QUEUE_DELETED"):
            gone = [key for key in opened if key[0] == queue]
            ended += [_end(opened.pop(key), line) for key in gone]
        elif "message_id" in line:
            key = queue, line["message_id"]
            _observe(opened.setdefault(key, _blank(queue, line)), line)
            if line["event"] in ENDS:
                ended.append(_end(opened.pop(key), line))
            if line["event"] in ("DEAD_LETTERED", "MOVED"):
                goes_on = line.get("successor", line["message_id"])
                opened[line["endpoint"], goes_on] = _arrive(queue, line, goes_on)
    return ended, opened


def _blank(queue: str, line: Line) -> Row:
    return {
        "arn": queue, "message_id": line["message_id"], "origin": None, "origin_queue": None, "predecessor": None,
        "group": None, "type": None, "size": None, "endpoint": None, "sent_ms": None, "entered_ms": None,
        "first_receive_ms": None, "last_receive_ms": None, "visibility_changes": 0, "sender": None, "receiver": None,
        "seen_ms": line["ts_ms"], "count": 0, "count_before": 0,
    }  # fmt: skip


def _arrive(queue: str, line: Line, message_id: str) -> Row:
    came = {"origin": line["event"], "origin_queue": queue, "predecessor": line["message_id"]}
    moved = line["event"] == "MOVED"
    count = 0 if moved else line["receive_count"]
    times = {"sent_ms": line["ts_ms"] if moved else None, "entered_ms": line["ts_ms"]}
    row = _blank(line["endpoint"], line | {"message_id": message_id})
    return row | came | times | {"count": count, "count_before": count}


def _observe(row: Row, line: Line) -> None:
    kind, at = line["event"], line["ts_ms"]
    row["count"] = max(row["count"], line.get("receive_count", 0))
    if kind == "SENT":
        row |= {"origin": kind, "sent_ms": at, "entered_ms": at, "sender": line.get("principal")}
        row |= {name: line.get(name) for name in ("group", "type", "size", "endpoint")}
    elif kind == "RECEIVED":
        row["sent_ms"] = row["sent_ms"] or line["sent_ms"]
        row["first_receive_ms"] = row["first_receive_ms"] or (at if row["origin"] else line["first_receive_ms"])
        row |= {"last_receive_ms": at, "receiver": line.get("principal")}
    elif kind == "VISIBILITY_CHANGED":
        row["visibility_changes"] += 1
    if row["entered_ms"] is None and kind in ("RECEIVED", "EXPIRED", "DEAD_LETTERED"):
        row["entered_ms"] = at - line["duration_ms"]


def _end(row: Row, line: Line) -> Row:
    at, entered, first = line["ts_ms"], row["entered_ms"], row["first_receive_ms"]
    kind = line["event"]
    goes_on = kind in ("DEAD_LETTERED", "MOVED")
    told = {name: value for name, value in row.items() if name not in ("seen_ms", "count", "count_before")}
    _, _, _, told["region"], told["account"], told["queue"] = row["arn"].split(":")
    return told | {
        "attempts": row["count"] - row["count_before"],
        "ended_ms": at,
        "outcome": kind,
        "reason": line.get("reason"),
        "dwell_ms": None if None in (first, entered) else first - entered,
        "handling_ms": line["duration_ms"] if kind == "DELETED" else None,
        "total_ms": None if entered is None else at - entered,
        "next_queue": line["endpoint"] if goes_on else None,
        "successor": line.get("successor", line["message_id"]) if goes_on else None,
        "date": datetime.fromtimestamp(at / 1000, UTC).date(),
    }

"""A journal to measure on: as many events as wanted, with sizes, waits and groups that vary as they do in life."""

import gzip
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

NODE = "4f1c2a9be07d"
START = 1_794_787_200_000
SEGMENT = 50_000
QUEUES = 50
GROUPS = 20
PER_SECOND = 1000
"""Events, by the clock of the journal."""
FIELDS = (
    "node seq ts_ms event region account queue message_id group type endpoint size receive_count sent_ms "
    "first_receive_ms principal duration_ms reason trace count visible in_flight delayed successor attributes body"
)


def make_journal(folder: Path, events: int) -> None:
    """Three events a message, and a GAUGE of every queue each minute."""
    chance = random.Random(events)
    place = folder / f"node={NODE}" / f"date={datetime.fromtimestamp(START / 1000, UTC):%F}"
    place.mkdir(parents=True)
    (folder / "_format.json").write_text(json.dumps({"version": 1, "fields": FIELDS.split()}))
    first = 1
    while first <= events:
        last = min(first + SEGMENT, events + 1) - 1
        with gzip.open(place / f"{first:020d}-{last:020d}.jsonl.gz", "wt", compresslevel=1) as file:
            file.writelines(_lines(first, last, chance))
        first = last + 1


def _lines(first: int, last: int, chance: random.Random) -> Iterator[str]:
    seq = first
    while seq <= last:
        now, queue, number = START + seq * 1000 // PER_SECOND, chance.randrange(QUEUES), chance.getrandbits(122)
        about = f'"region":"us-east-1","account":"000000000000","queue":"queue-{queue}"'
        if seq % (60 * PER_SECOND) < QUEUES:
            gauge = f'"count":9,"visible":{seq % 7},"in_flight":2,"delayed":0,"size":900,"duration_ms":{seq % 60_000}'
            yield _line(seq, now, "GAUGE", about, gauge)
            seq += 1
            continue
        said = f'"message_id":"{number:032x}","group":"g{chance.randrange(GROUPS)}","type":"order.placed"'
        principal = '"principal":"arn:aws:iam::000000000000:root"'
        size, dwell = chance.randrange(100, 4000), int(chance.expovariate(1 / 200))
        yield _line(seq, now, "SENT", about, f'{said},"size":{size},{principal}')
        if seq + 1 <= last:
            times = f'"receive_count":1,"sent_ms":{now},"first_receive_ms":{now + dwell},"duration_ms":{dwell}'
            yield _line(seq + 1, now, "RECEIVED", about, f'{said},"size":{size},{times},{principal}')
        if seq + 2 <= last:
            handled = int(chance.expovariate(1 / 80))
            done = f'"message_id":"{number:032x}","receive_count":1,{principal},"duration_ms":{handled}'
            yield _line(seq + 2, now, "DELETED", about, done)
        seq += 3


def _line(seq: int, ts_ms: int, event: str, about: str, rest: str) -> str:
    return f'{{"node":"{NODE}","seq":{seq},"ts_ms":{ts_ms},"event":"{event}",{about},{rest}}}\n'

"""The choices of the embedded store, each measured against its alternative, in turn in one run, on this machine.

    python bench/storage.py                    everything: about a minute
    python bench/storage.py layout encoding    two of the choices
    python bench/storage.py --quick            a few seconds: shows that it works, measures little
    python bench/storage.py --json out.json    also as data

Set TMPDIR to the disk that you want to measure. Microseconds for each change or message; RATIO is OTHER to KEPT, so
above 1 what is kept wins. Steps without the disk are the least over the rounds, steps with it the median.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec
from choices import commits, contents, encodings, files, layouts
from turns import QUICK, Choice, Row, Size

from penstock.bench.report import aligned
from penstock.bench.results import machine

CHOICES = {
    "commit": Choice("the commit on the loop", "on a thread", commits),
    "files": Choice("one file", "two, with a writing thread each", files),
    "layout": Choice("states, counters and partial indexes", "one index by the time of visibility", layouts),
    "content": Choice("a content in the message's row", "in a table of its own", contents),
    "encoding": Choice("msgpack", "JSON", encodings),
}
HEADINGS = ("CASE", "STEP", "KEPT", "OTHER", "UNIT", "RATIO")


def main(argv: Sequence[str] | None = None) -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="bench/storage.py", description=__doc__, formatter_class=form)
    parser.add_argument(
        "choice", nargs="*", help=f"which to measure: {', '.join(CHOICES)}; all of them if none is named"
    )
    parser.add_argument("--quick", action="store_true", help="a tiny size, to see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file, too")
    arguments = parser.parse_args(argv)
    if unknown := [name for name in arguments.choice if name not in CHOICES]:
        parser.error(f"there is no choice {unknown[0]!r}; there are {', '.join(CHOICES)}")
    size, rows = QUICK if arguments.quick else Size(), list[Row]()
    with tempfile.TemporaryDirectory(prefix="penstock-storage-") as folder:
        facts = machine(Path(folder))
        print(f"{facts['processors']} processors ({facts['processor']}), {facts['kernel']}, Python {facts['python']}")
        print(f"one bare fdatasync: {facts['fdatasync_us']:.0f} µs")
        for name in arguments.choice or CHOICES:
            choice = CHOICES[name]
            found = list(choice.measure(size, Path(folder)))
            rows += found
            print(f"\n{name}: kept {choice.kept}; other {choice.other}")
            print("\n".join(aligned(HEADINGS, [row.cells for row in found])), flush=True)
    if arguments.json:
        plain = {"size": asdict(size), "machine": facts, "rows": [row._asdict() for row in rows]}
        arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(plain)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

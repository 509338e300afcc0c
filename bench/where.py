"""Where the processor's time of a server goes, by what the code that runs is there for: a sampling profile under load.

    python bench/where.py                               64 connections, one message a call
    python bench/where.py cycle10 --connections 16

The server is started as a user would start it, and loaded by the client of `penstock bench`, which runs beside it and
is not in the figures. Needs `perf` (apt-get install linux-perf), and the right to use it on one's own processes.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from penstock.bench.modes import MODES, measured
from penstock.bench.own_server import running
from penstock.bench.report import aligned
from penstock.bench.session import Options
from penstock.bench.target import BenchError
from penstock.bench.watch import Watch

SETTLING_SECONDS = 1
BODY_BYTES = 256
SAMPLES_PER_SECOND = 4000
STEPS = {
    "kernel: sockets": (
        "kernel",
        r"tcp|sock|skb|inet|ip_|ipv4|__ip|epoll|ep_|recv|send|loopback|netif|net_|softirq|napi",
    ),
    "kernel: files and disk": (
        "kernel",
        r"ext4|folio|blk|bio|iowrite|virt|sync|filemap|buffer|block|write|inode|jbd|fcntl",
    ),
    "kernel, else": ("kernel", ""),
    "memory of native code": ("native", r"^_?mi_"),
    "signatures (SHA-256)": ("native", r"sha256|ring::digest|confirms"),
    "digests (MD5) and handles (BLAKE2)": ("native", r"md5|blake2|handle|seal"),
    "encryption and checksums": ("native", r"aes|ghash|polyval|[cC]ipher|crc32"),
    "compression of the journal": ("native", r"zlib|flate|deflate|gzip"),
    "reading requests": ("native", r"lane|form|wire::Text|wire::read"),
    "rows, events, replies": ("native", ""),
    "SQLite": ("__init__", ""),
    "Python": ("python", ""),
    "Python's loop and msgspec": (r"^(loop|_core)\.", ""),
    "memory and copies (libc)": ("libc", ""),
    "else": ("", ""),
}
"""Step → where its code is, and what its functions are called. The first that fits counts."""


def main() -> int:
    arguments = options()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), os.environ) as server:
        profile = Path(folder) / "perf.data"
        seconds, connections = (
            arguments.seconds + SETTLING_SECONDS,
            arguments.connections or MODES[arguments.mode].connections,
        )
        record = ["perf", "record", "--quiet", "-F", str(SAMPLES_PER_SECOND), "-p", str(server.pid), "-o", str(profile)]
        try:
            recorder = subprocess.Popen([*record, "--", "sleep", str(seconds)], stderr=subprocess.PIPE, text=True)
        except FileNotFoundError:
            sys.stderr.write("perf is not installed: apt-get install linux-perf\n")
            return 1
        load = Options(connections, arguments.seconds, BODY_BYTES, SETTLING_SECONDS)
        (point,) = measured(arguments.mode, server.target, load, Watch(server.pid))
        _, complaint = recorder.communicate()
        if recorder.returncode:
            sys.stderr.write(complaint)
            return 1
        shares = profiled(profile)
    per_message = 1000 * (point.cpu_per_1000 or 0)
    print(f"{arguments.mode}, {point.connections} connections: {point.per_second:,.0f} messages/s,", end=" ")
    print(f"{per_message:.1f} µs of processor each")
    cells = [(step, f"{share:.1%}", f"{share * per_message:.1f}") for step, share in shares.items() if share]
    print("\n".join(aligned(("STEP", "SHARE", "µs a message"), cells)))
    return 0


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "mode", nargs="?", default="cycle", choices=["cycle", "cycle10", "fifo"], help="what to load it with"
    )
    parser.add_argument("--connections", type=int, metavar="N", help="how many (default: the mode's)")
    parser.add_argument("--seconds", type=int, default=4, metavar="S", help="how long to look (default: 4)")
    return parser.parse_args()


def profiled(profile: Path) -> dict[str, float]:
    """Each step's share of all samples."""
    command = ["perf", "report", "-i", str(profile), "--no-children", "--sort", "dso,symbol", "-F", "sample,dso,symbol"]
    said = subprocess.run([*command, "--stdio"], capture_output=True, text=True, check=True).stdout
    found: Counter[str] = Counter()
    for samples, place, symbol in re.findall(r"^\s*(\d+)\s+(\S+)\s+\[.\]\s+(\S.*)$", said, re.MULTILINE):
        found[step_of(place, symbol)] += int(samples)
    return {step: found[step] / (found.total() or 1) for step in STEPS}


def step_of(place: str, symbol: str) -> str:
    return next(step for step, (where, names) in STEPS.items() if re.search(where, place) and re.search(names, symbol))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"bench: {error}")

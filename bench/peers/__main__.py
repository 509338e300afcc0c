"""`python bench/peers`: list, install and check the servers that Penstock is measured beside."""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from peers import CACHE, PEERS, Peer, PeerUnavailable, running
from peers.check import check

EXAMPLES = """examples:
  python bench/peers --list
  python bench/peers --install                    every peer, into .bench (PENSTOCK_BENCH_CACHE=… for elsewhere)
  python bench/peers --check goaws elasticmq-h2   install if need be, start, send, receive, delete, stop
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python bench/peers",
        description="The servers that Penstock is measured beside. Without NAME, all of them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true", help="print names, versions and how each is run")
    what.add_argument("--install", nargs="*", metavar="NAME", help="install at the pinned version")
    what.add_argument("--check", nargs="*", metavar="NAME", help="install, start, make one round of calls, stop")
    chosen = parser.parse_args()
    for name in [*(chosen.install or []), *(chosen.check or [])]:
        if name not in PEERS:
            parser.error(f"no peer is called {name!r}; there are {', '.join(PEERS)}")
    return chosen


def show(peer: Peer) -> None:
    kept = "keeps messages over a restart" if peer.durable else "in memory"
    print(f"{peer.name:14} {peer.version:8} {peer.title}: {kept}; {peer.note}")


def install(peer: Peer, cache: Path) -> None:
    print(f"{peer.name} {peer.version}: installing into {cache} (minutes, the first time)…", flush=True)
    began = time.monotonic()
    peer.install(cache)
    print(f"{peer.name} {peer.version}: installed ({time.monotonic() - began:.0f} s)", flush=True)


def try_out(peer: Peer, cache: Path) -> None:
    print(f"{peer.name} {peer.version}: installing and starting…", flush=True)
    began = time.monotonic()
    with running(peer, cache) as port:
        print(f"{peer.name} {peer.version}: answers on port {port} after {time.monotonic() - began:.1f} s", flush=True)
        check(port)
    print(f"{peer.name} {peer.version}: sent, received, deleted, standard and FIFO; stopped", flush=True)


def main() -> int:
    chosen = arguments()
    cache = CACHE.resolve()
    if chosen.list:
        for peer in PEERS.values():
            show(peer)
        return 0
    act, names = (install, chosen.install) if chosen.install is not None else (try_out, chosen.check)
    missing = 0
    for name in names or PEERS:
        try:
            act(PEERS[name], cache)
        except PeerUnavailable as reason:
            missing += 1
            print(f"{name}: unavailable: {reason}", file=sys.stderr, flush=True)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

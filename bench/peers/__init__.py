"""The servers that Penstock is measured beside. A new one is one file and one line here."""

import os
from pathlib import Path

from . import elasticmq, fauxqs, goaws, python_packages
from .peer import Peer, PeerUnavailable, running, stop

__all__ = ["CACHE", "CACHE_VARIABLE", "PEERS", "Peer", "PeerUnavailable", "running", "stop"]

CACHE_VARIABLE = "PENSTOCK_BENCH_CACHE"
CACHE = Path(os.environ.get(CACHE_VARIABLE, ".bench"))
"""Where peers are installed."""

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        elasticmq.IN_MEMORY,
        elasticmq.WITH_H2,
        fauxqs.IN_MEMORY,
        fauxqs.WITH_SQLITE,
        python_packages.MOTO,
        python_packages.MINISTACK,
        goaws.GOAWS,
    )
}

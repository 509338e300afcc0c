"""What `penstock journal verify` says of a server's data: the journal is whole, and agrees with the store.

A store that claims no journal has none to verify.
"""

import subprocess
import sys

from penstock.stores.sqlite import SqliteStore
from server_process import Server, clean_environment


def faults_of_journal(server: Server) -> list[str]:
    if not SqliteStore.capabilities.journal:
        return []
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "journal", "verify", "--data", str(server.data)],
        cwd=server.folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout + done.stderr).splitlines() if done.returncode else []

"""A connection into which native code was loaded."""

from pathlib import Path

import apsw

from conformance.gathering import compiled
from penstock.stores.sqlite.file import connect


def connected(path: Path, table: str) -> apsw.Connection:
    connection = connect(path)
    connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")  # so it has a log
    connection.enable_load_extension(True)
    connection.load_extension(str(compiled().__file__), "penstock_opened")
    return connection

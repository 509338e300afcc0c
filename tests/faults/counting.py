"""What an operation of the embedded store costs, counted and not timed: steps of SQLite's machine, and calls in Python.

Both are the same on every machine and at every load, so that growth with the amount of data cannot hide in noise.
"""

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw

from penstock.stores.sqlite import SqliteStore


@dataclass
class Cost:
    steps: int = 0
    calls: int = 0
    statements: dict[str, Any] = field(default_factory=dict)
    """Each text that was executed, with the values it was last given."""

    def exceeds(self, other: "Cost", factor: float) -> bool:
        """More than so many times another's, beyond what a round of the garbage collector or a cold cache explains."""
        return self.steps > other.steps * factor + 30 or self.calls > other.calls * factor + 60

    def __str__(self) -> str:
        return f"{self.steps} steps and {self.calls} calls"


def connection_of(store: SqliteStore) -> apsw.Connection:
    connection: apsw.Connection = store.database.execute.__self__  # type: ignore[attr-defined]
    return connection


@contextmanager
def counted(store: SqliteStore) -> Iterator[Cost]:
    connection, cost, executions = connection_of(store), Cost(), 0

    def step() -> bool:
        cost.steps += 1
        return False

    def executed(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        nonlocal executions
        executions += 1
        cost.statements[sql] = bindings
        return True

    def called(frame: object, event: str, argument: object) -> None:
        cost.calls += event in ("call", "c_call")

    connection.set_progress_handler(step, 1)
    connection.exec_trace = executed
    sys.setprofile(called)
    try:
        yield cost
    finally:
        sys.setprofile(None)
        connection.exec_trace = None
        connection.set_progress_handler(None)
    cost.calls -= cost.steps + executions


async def cheapest(store: SqliteStore, operation: Callable[[], Awaitable[object]], times: int = 3) -> Cost:
    """The cost of an operation at its best: what it cannot do without."""
    costs = []
    for _ in range(times):
        with counted(store) as cost:
            await operation()
        costs.append(cost)
    return min(costs, key=lambda cost: (cost.steps, cost.calls))


HARMLESS = ("SCAN CONSTANT ROW", "USE TEMP B-TREE FOR LAST TERM OF ORDER BY")
"""No table, and a sort among those that are equal but for their names."""
OF_THE_STATEMENT = "-ROW VALUES CLAUSE"
"""The rows that an INSERT brings with it."""
FIRST_ROW = "SELECT shelf FROM litter LIMIT 1"


def scans(store: SqliteStore, cost: Cost) -> list[str]:
    """Steps of the plans that look at a whole table or index, or sort: each with its statement."""
    connection = connection_of(store)
    found = []
    for sql, bindings in cost.statements.items():
        if sql.lstrip().upper().startswith(("SELECT", "UPDATE", "INSERT", "DELETE")):
            for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {sql}", bindings).fetchall():
                if detail.startswith(HARMLESS) or detail.endswith(OF_THE_STATEMENT) or sql == FIRST_ROW:
                    continue
                if detail.startswith("SCAN ") or "TEMP B-TREE" in detail:
                    found.append(f"{detail}: {' '.join(sql.split())}")
    return found

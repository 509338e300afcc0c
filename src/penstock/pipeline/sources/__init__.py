"""Data sources for any Spark program: `penstock.journal` and `penstock.queue`.

Spark finds both by itself where this package is installed; `register` is for where it is only on the path, and lets
them filter what Spark would filter later.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCES = {"penstock.journal": "JournalSource", "penstock.queue": "QueueSource"}
"""Format → the class in `penstock.pipeline.sources.<last part>`."""

PUSH_DOWN = "spark.sql.python.filterPushdown.enabled"
"""Off unless it is set."""


def register(spark: "SparkSession") -> None:
    spark.conf.set(PUSH_DOWN, "true")
    for name, source in SOURCES.items():
        module = f"{__name__}.{name.rpartition('.')[2]}"
        if find_spec(module):
            spark.dataSource.register(getattr(import_module(module), source))

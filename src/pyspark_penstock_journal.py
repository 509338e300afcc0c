"""Where Spark looks for data sources: top-level modules named pyspark_*, with a class DefaultSource."""

from penstock.pipeline.sources.journal import JournalSource as DefaultSource

__all__ = ["DefaultSource"]

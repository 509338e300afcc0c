"""Where Spark looks for data sources: top-level modules named pyspark_*, with a class DefaultSource."""

from penstock.pipeline.sources.queue import QueueSource as DefaultSource

__all__ = ["DefaultSource"]

"""Where Spark looks for the data source `penstock.journal`: a top-level module with this prefix and this class."""

from penstock.pipeline.sources.journal import JournalSource


class DefaultSource(JournalSource):
    pass

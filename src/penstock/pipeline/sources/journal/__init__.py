"""The data source `penstock.journal`.

source    what Spark calls: batches, streams
options   what each option may be
columns   the schema
plan      offsets, segments, pieces, gaps, partitions
files     lines from a folder
server    lines from a server
lines     lines to Arrow tables
filters   which rows, and which segments, are wanted
"""

from penstock.pipeline.sources.journal.source import JournalSource

__all__ = ["JournalSource"]

"""The audit log on disk: files of lines, each chained to the one before. `core.audit` says what a line is."""

"""The journal: every event as a line in append-only files, and everything that reads them."""

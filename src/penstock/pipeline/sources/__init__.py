"""Data sources for any Spark program: `penstock.journal` and `penstock.queue`."""

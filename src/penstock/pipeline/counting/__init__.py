"""Counting events by window: tallies by minute, and what tables are made of them."""

"""Implementations of the Store port; chosen by URL, never importing each other."""

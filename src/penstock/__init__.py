"""Penstock: the SQS API as a durable, secured, observable server."""

__version__ = "0.1.0"

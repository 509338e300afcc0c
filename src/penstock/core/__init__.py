"""Domain rules as plain functions and small classes: no I/O, no asyncio, time is an argument."""

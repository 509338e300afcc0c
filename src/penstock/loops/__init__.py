"""Background services: each has start, stop, and run_once(now), which says when it wants to run again."""

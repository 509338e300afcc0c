"""Background services: each has a name and run_once(now), which says when it wants to run again; `loop` runs them."""

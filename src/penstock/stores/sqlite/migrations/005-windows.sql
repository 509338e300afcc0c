-- Windows of queues' metrics that were put here. A queue need not be one that is there.
CREATE TABLE measured (
    id INTEGER PRIMARY KEY,
    region TEXT NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL,
    UNIQUE (region, account, name)
);
-- A queue's windows of one length lie together, in order of time; the index finds the oldest of all of that length.
--   period    seconds
--   metrics   packed: see series.py
CREATE TABLE series (
    queue INTEGER NOT NULL, period INTEGER NOT NULL, start INTEGER NOT NULL, metrics BLOB NOT NULL,
    PRIMARY KEY (queue, period, start)
) WITHOUT ROWID;
CREATE INDEX series_age ON series (period, start);

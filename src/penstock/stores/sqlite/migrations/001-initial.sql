-- Small facts that outlive the process: secrets, counters' high-water marks.
CREATE TABLE keepsake (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

-- A queue stores its messages on a shelf. Purging or deleting it leaves the shelf behind as litter, to be cleared
-- away in small steps; shelf numbers are never used again.
CREATE TABLE queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    region TEXT NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL,
    attributes TEXT NOT NULL, tags TEXT NOT NULL,
    created INTEGER NOT NULL, modified INTEGER NOT NULL, purged INTEGER,
    shelf INTEGER NOT NULL,
    ready INTEGER NOT NULL DEFAULT 0, in_flight INTEGER NOT NULL DEFAULT 0, delayed INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0, groups INTEGER NOT NULL DEFAULT 0,
    UNIQUE (region, account, name)
);
CREATE TABLE litter (shelf INTEGER PRIMARY KEY);
CREATE TABLE tombstone (
    region TEXT NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL, deleted INTEGER NOT NULL,
    PRIMARY KEY (region, account, name)
) WITHOUT ROWID;

-- The part of a message that changes. Ordered by age, so that the table itself answers what is oldest.
--   state     0 ready, 1 in flight, 2 delayed, 3 damaged: set aside, never handed out
--   place     in its line. Standard: the time since which it is visible, NULL while hidden. FIFO: its sequence number.
--   shown     FIFO: when it became ready again after having been hidden
--   due       when a hidden message becomes ready; NULL when ready
--   grp       the row of message_group, 0 for none
CREATE TABLE message (
    shelf INTEGER NOT NULL, enqueued INTEGER NOT NULL, number INTEGER NOT NULL,
    state INTEGER NOT NULL, place INTEGER, shown INTEGER, due INTEGER, grp INTEGER NOT NULL, size INTEGER NOT NULL,
    receives INTEGER NOT NULL DEFAULT 0, first_received INTEGER, received INTEGER,
    PRIMARY KEY (shelf, enqueued, number)
) WITHOUT ROWID;
CREATE INDEX message_line ON message (shelf, grp, place) WHERE place IS NOT NULL;
CREATE INDEX message_due ON message (due) WHERE due IS NOT NULL;

-- The part that does not change.
CREATE TABLE payload (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL, body TEXT NOT NULL, checksum INTEGER NOT NULL, sender TEXT NOT NULL, sent INTEGER NOT NULL,
    attributes BLOB, trace TEXT, grp TEXT, deduplication TEXT, sequence INTEGER, source TEXT
);

-- available: FIFO, since when the head of the group is ready by itself; standard, the place of its first
-- ready message; else NULL. head decides between groups that became available at the same time.
CREATE TABLE message_group (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    shelf INTEGER NOT NULL, name TEXT NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0, ready INTEGER NOT NULL DEFAULT 0, in_flight INTEGER NOT NULL DEFAULT 0,
    last_sent INTEGER NOT NULL DEFAULT 0, noisy INTEGER NOT NULL DEFAULT 0,
    available INTEGER, head INTEGER,
    UNIQUE (shelf, name)
);
CREATE INDEX group_available ON message_group (shelf, noisy, available, head) WHERE available IS NOT NULL;

CREATE TABLE deduplication (
    shelf INTEGER NOT NULL, scope TEXT NOT NULL, name TEXT NOT NULL,
    id BLOB NOT NULL, sequence INTEGER NOT NULL, expires INTEGER NOT NULL,
    PRIMARY KEY (shelf, scope, name)
) WITHOUT ROWID;
CREATE INDEX deduplication_expires ON deduplication (expires);

-- What a receive with an attempt id handed out: packed (enqueued, number, receives) of each message.
CREATE TABLE attempt (
    shelf INTEGER NOT NULL, name TEXT NOT NULL, expires INTEGER NOT NULL, due INTEGER NOT NULL, messages BLOB NOT NULL,
    PRIMARY KEY (shelf, name)
) WITHOUT ROWID;
CREATE INDEX attempt_expires ON attempt (expires);

CREATE TABLE move_task (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, destination TEXT, rate INTEGER, to_move INTEGER NOT NULL,
    started INTEGER NOT NULL, moved INTEGER NOT NULL, status TEXT NOT NULL, failure TEXT
) WITHOUT ROWID;
CREATE INDEX move_task_source ON move_task (source, started);
CREATE INDEX move_task_active ON move_task (status) WHERE status IN ('RUNNING', 'CANCELLING');

-- A message of a standard queue without groups that was never handed out has no place: it stands in line by its age.
--   fresh_enqueued, fresh_number   no such message of the queue is older than this one; NULL if there is none
ALTER TABLE queue ADD COLUMN fresh_enqueued INTEGER;
ALTER TABLE queue ADD COLUMN fresh_number INTEGER;

-- The counters that the latest commits left, a commit in each row: packed (queue, and the counters of its row) of every
-- queue it touched. They come before those in `queue`.
CREATE TABLE tally (slot INTEGER PRIMARY KEY, number INTEGER NOT NULL, counters BLOB NOT NULL);

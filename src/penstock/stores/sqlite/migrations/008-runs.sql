-- Messages of a shelf are found by the runs of numbers that they have, in the order in which they came: see runs.py. The
-- index is for those that kept their age when they came from another queue, and all that came after the first of these.
--   aged      when it came into the queue if it is in that index, or a little later; else NULL
ALTER TABLE message ADD COLUMN aged INTEGER;
UPDATE message SET aged=max(enqueued, latest) FROM (
    SELECT shelf AS late, min(number) AS first, max(latest) AS latest FROM (
        SELECT shelf, number, enqueued, max(enqueued) OVER (PARTITION BY shelf ORDER BY number) AS latest FROM message
    ) WHERE enqueued < latest GROUP BY shelf
) WHERE shelf=late AND number>=first;
CREATE TABLE run (
    shelf INTEGER NOT NULL, last INTEGER NOT NULL, first INTEGER NOT NULL, PRIMARY KEY (shelf, last)
) WITHOUT ROWID;
INSERT INTO run SELECT shelf, max(number), min(number) FROM (
    SELECT shelf, number, number - row_number() OVER (PARTITION BY shelf ORDER BY number) AS island FROM message
) GROUP BY shelf, island;
INSERT OR REPLACE INTO keepsake SELECT 'runs', coalesce(max(number), 0) FROM message;
DROP INDEX message_age;
CREATE INDEX message_age ON message (shelf, enqueued) WHERE aged IS NOT NULL;

-- fresh_number alone says from where on messages stand in line as they came. It may be lower than it need be.
ALTER TABLE queue DROP COLUMN fresh_enqueued;
UPDATE queue SET fresh_number=0 WHERE fresh_number IS NOT NULL;
UPDATE tally SET counters=fresh_from_the_start(counters);

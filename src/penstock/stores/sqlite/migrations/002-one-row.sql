-- A message is one row: the part that changes, its id, and its content, packed. A content too large to be carried along
-- through every change lies apart.
--   content   what a receiver is given and nobody may change; NULL if it lies in `bulk`
--   checksum  over id and content
ALTER TABLE message RENAME TO old_message;
DROP INDEX message_line;
DROP INDEX message_due;
CREATE TABLE message (
    number INTEGER PRIMARY KEY,
    shelf INTEGER NOT NULL, enqueued INTEGER NOT NULL,
    state INTEGER NOT NULL, place INTEGER, shown INTEGER, due INTEGER, grp INTEGER NOT NULL, size INTEGER NOT NULL,
    receives INTEGER NOT NULL DEFAULT 0, first_received INTEGER, received INTEGER,
    id BLOB NOT NULL, checksum INTEGER NOT NULL, content BLOB
);
CREATE TABLE bulk (number INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TEMP TABLE repacked AS SELECT
    number, readable_id(id) AS id,
    packed(body, sender, sent, attributes, trace, grp, deduplication, sequence, source) AS content
FROM payload;
INSERT INTO message SELECT
    m.number, m.shelf, m.enqueued, m.state, m.place, m.shown, m.due, m.grp, m.size, m.receives, m.first_received,
    m.received, r.id, checksum(r.id, r.content), CASE WHEN length(r.content) <= 2000 THEN r.content END
FROM old_message m JOIN repacked r USING (number);
INSERT INTO bulk SELECT number, content FROM repacked WHERE length(content) > 2000;
DROP TABLE repacked;
DROP TABLE old_message;
DROP TABLE payload;
UPDATE deduplication SET id = readable_id(id);
CREATE INDEX message_age ON message (shelf, enqueued);
CREATE INDEX message_line ON message (shelf, grp, place) WHERE place IS NOT NULL;
CREATE INDEX message_due ON message (due) WHERE due IS NOT NULL;

-- Events that are committed and not yet known to be in a file of the journal: the lines of one commit in each row.
CREATE TABLE outbox (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, lines BLOB NOT NULL);

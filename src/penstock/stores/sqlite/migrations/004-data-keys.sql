-- The keys under which contents are encrypted, each sealed by the key of KMS that `master` names.
--   queue     whose messages it encrypts; those of a queue that is gone go with it
--   retired   no message that came into its queue after this time is encrypted with it; NULL while it may be in use
CREATE TABLE data_key (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    queue INTEGER NOT NULL, master TEXT NOT NULL, sealed BLOB NOT NULL, retired INTEGER
);
CREATE INDEX data_key_queue ON data_key (queue);

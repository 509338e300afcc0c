-- Accounts, users, groups, roles, policies and keys: few, and read as a whole. Their one version is a keepsake.
CREATE TABLE record (
    kind TEXT NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (kind, account, name)
) WITHOUT ROWID;

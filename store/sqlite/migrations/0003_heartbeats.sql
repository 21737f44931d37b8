-- The last heartbeat of each debate's driver. It is advice and not part of the journal.
CREATE TABLE heartbeats (
	debate  TEXT    PRIMARY KEY NOT NULL,
	driver  TEXT    NOT NULL,
	at      INTEGER NOT NULL, -- microseconds since 1970, UTC
	missing TEXT    NOT NULL  -- JSON array of texts
) WITHOUT ROWID;

-- The application ID ("dbts") marks the file as a store of debates, so that another program's database is recognized.
PRAGMA application_id = 1684173939;

-- The journals, which are authoritative. Row numbers are never reused, so a debate that was deleted and created again is
-- distinguishable from the old one.
CREATE TABLE entries (
	row    INTEGER PRIMARY KEY AUTOINCREMENT,
	debate TEXT    NOT NULL,
	seq    INTEGER NOT NULL, -- 1, 2, ... within a debate
	type   TEXT    NOT NULL, -- key of a turn, or null
	key    TEXT,             -- of a turn; else null
	at     INTEGER NOT NULL, -- microseconds since 1970, UTC
	data   TEXT    NOT NULL, -- JSON
	UNIQUE (debate, seq)
);

CREATE UNIQUE INDEX entries_key ON entries (debate, key) WHERE key IS NOT NULL;

-- A status per debate: a cache of its journal. Nothing refers to it, because one may be lost and is then written again.
-- One status per debate, as a cache of its journal. No table refers to this one, because a missing status is rewritten.
CREATE TABLE debates (
	id      TEXT    PRIMARY KEY NOT NULL,
	created INTEGER NOT NULL, -- microseconds since 1970, UTC
	state   TEXT    NOT NULL,
	status  TEXT    NOT NULL  -- JSON
);

CREATE INDEX debates_newest ON debates (created DESC, id DESC, state);

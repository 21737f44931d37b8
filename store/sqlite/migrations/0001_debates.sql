-- Marks the file as a store of debates ("dbts"), so that no other program's database is taken for one.
PRAGMA application_id = 1684173939;

-- The journal: the truth. The row number is never given twice, so a debate that was deleted and made anew is told apart.
CREATE TABLE entries (
	row    INTEGER PRIMARY KEY AUTOINCREMENT,
	debate TEXT    NOT NULL,
	seq    INTEGER NOT NULL, -- 1, 2, ... within a debate
	type   TEXT    NOT NULL,
	key    TEXT,             -- of a turn; else null
	at     INTEGER NOT NULL, -- microseconds since 1970, UTC
	data   TEXT    NOT NULL, -- JSON
	UNIQUE (debate, seq)
);

CREATE UNIQUE INDEX entries_key ON entries (debate, key) WHERE key IS NOT NULL;

-- A status per debate: a cache of its journal. Nothing refers to it, because one may be lost and is then written again.
CREATE TABLE debates (
	id      TEXT    PRIMARY KEY NOT NULL,
	created INTEGER NOT NULL, -- microseconds since 1970, UTC
	state   TEXT    NOT NULL,
	status  TEXT    NOT NULL  -- JSON
);

CREATE INDEX debates_newest ON debates (created DESC, id DESC, state);

-- The application ID ("dbts") marks the file as a store of debates, so that another program's database is recognized.
PRAGMA application_id = 1684173939;

-- The journals, which are authoritative. Row numbers are never reused, so a debate that was deleted and created again is
-- distinguishable from the old one.
CREATE TABLE entries (
	row      INTEGER PRIMARY KEY AUTOINCREMENT,
	debate   TEXT    NOT NULL,
	seq      INTEGER NOT NULL, -- 1, 2, ... within a debate
	type     TEXT    NOT NULL,
	key      TEXT,             -- of a turn; else null
	at       INTEGER NOT NULL, -- microseconds since 1970, UTC
	data     TEXT    NOT NULL, -- JSON
	checksum INTEGER NOT NULL, -- CRC-32C of debate, seq, type, key, at and data, as a signed number
	UNIQUE (debate, seq)
);

CREATE UNIQUE INDEX entries_key ON entries (debate, key) WHERE key IS NOT NULL;

-- One status per debate, as a cache of its journal. No table refers to this one, because a missing status is rewritten.
-- The other columns have what lists select by.
CREATE TABLE debates (
	id      TEXT    PRIMARY KEY NOT NULL,
	created INTEGER NOT NULL, -- microseconds since 1970, UTC
	updated INTEGER NOT NULL, -- microseconds since 1970, UTC
	state   TEXT    NOT NULL,
	outcome TEXT    NOT NULL, -- of the ending
	failure TEXT    NOT NULL, -- kind of the failure
	labels  TEXT    NOT NULL, -- all labels, sorted and encoded as in the table labels
	status  TEXT    NOT NULL  -- JSON
);

CREATE INDEX debates_newest ON debates (created DESC, id DESC, state, outcome, failure);

-- Lists of the debates in a state, with an outcome or with a failure, in the order of lists. Running debates are not in the
-- partial indexes, so that commits do not write to these.
CREATE INDEX debates_state   ON debates (state, created DESC, id DESC);
CREATE INDEX debates_outcome ON debates (outcome, created DESC, id DESC) WHERE outcome <> '';
CREATE INDEX debates_failure ON debates (failure, created DESC, id DESC) WHERE failure <> '';

-- The labels of all debates, in the order of lists. A label is encoded as "LENGTH:KEYLENGTH:VALUE", with lengths in
-- bytes. A row without a debate has no effect.
CREATE TABLE labels (
	label   TEXT    NOT NULL,
	created INTEGER NOT NULL,
	debate  TEXT    NOT NULL,
	PRIMARY KEY (label, created, debate)
) WITHOUT ROWID;

CREATE INDEX labels_debate ON labels (debate);

-- The last heartbeat of each debate's driver. It is advice and not part of the journal.
CREATE TABLE heartbeats (
	debate  TEXT    PRIMARY KEY NOT NULL,
	driver  TEXT    NOT NULL,
	at      INTEGER NOT NULL, -- microseconds since 1970, UTC
	missing TEXT    NOT NULL  -- JSON array of texts
) WITHOUT ROWID;

-- The last heartbeat of each debate's driver. It is advice and not part of the journal. It is not a column of debates, so
-- that a heartbeat never waits for a commit.
create table heartbeats (
	debate  text collate "C" primary key,
	driver  text not null,
	at      timestamptz not null,
	missing text[] not null
);

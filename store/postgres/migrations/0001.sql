create table migrations (
	version integer primary key,
	applied timestamptz not null default now()
);

-- A status per debate. Debates and entries do not refer to each other: a status may be lost, and is then written again.
create table debates (
	id      text collate "C" primary key,
	state   text not null,
	labels  text[] not null, -- '["key","value"]'
	created timestamptz not null,
	status  json not null
);

create index debates_created on debates (created desc, id desc);

-- The journals. Data is json, not jsonb: what was committed comes back as it was, "\u0000" included.
create table entries (
	debate text collate "C" not null,
	seq    bigint not null,
	type   text not null,
	key    text collate "C",
	at     timestamptz not null,
	data   json not null,
	primary key (debate, seq)
);

create unique index entries_key on entries (debate, key) where key is not null;

create table migrations (
	version integer primary key,
	applied timestamptz not null default now()
);

-- One status per debate, as a cache of its journal. Debates and entries do not refer to each other, because a missing
-- status is rewritten.
create table debates (
	id      text collate "C" primary key,
	state   text not null,
	labels  text[] not null, -- '["key","value"]'
	created timestamptz not null,
	status  json not null
);

create index debates_created on debates (created desc, id desc);

-- The journals. Data is json, not jsonb, so that it is returned exactly as it was committed, including "\u0000".
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

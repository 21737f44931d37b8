create table migrations (
	version integer primary key,
	applied timestamptz not null default now()
);

-- One status per debate, as a cache of its journal. Debates and entries do not refer to each other, because a missing
-- status is rewritten. The other columns have what lists select by.
create table debates (
	id      text collate "C" primary key,
	state   text not null,
	outcome text not null, -- of the ending
	failure text not null, -- kind of the failure
	labels  text[] not null, -- '["key","value"]'
	created timestamptz not null,
	updated timestamptz not null,
	status  json not null
);

create index debates_created on debates (created desc, id desc);
create index debates_state on debates (state, created desc, id desc);
create index debates_outcome on debates (outcome, created desc, id desc) where outcome <> '';
create index debates_failure on debates (failure, created desc, id desc) where failure <> '';

-- The journals. Data is json, not jsonb, so that it is returned exactly as it was committed, including "\u0000".
create table entries (
	debate   text collate "C" not null,
	seq      bigint not null,
	type     text not null,
	key      text collate "C",
	at       timestamptz not null,
	data     json not null,
	checksum integer not null, -- CRC-32C of debate, seq, type, key, at and data, as a signed number
	primary key (debate, seq)
);

create unique index entries_key on entries (debate, key) where key is not null;

-- The labels of all debates, in the order of lists. Triggers on debates write them.
create table labels (
	label   text collate "C" not null, -- '["key","value"]'
	created timestamptz not null,
	debate  text collate "C" not null,
	primary key (label, created, debate)
);

create function write_labels() returns trigger language plpgsql set search_path from current as $$
begin
	if tg_op <> 'INSERT' then
		delete from labels where label = any(old.labels) and created = old.created and debate = old.id;
	end if;
	if tg_op <> 'DELETE' then
		insert into labels select unnest(new.labels), new.created, new.id;
	end if;
	return null;
end $$;

create trigger labels_added after insert on debates
	for each row when (new.labels <> '{}') execute function write_labels();

create trigger labels_changed after update on debates
	for each row when ((old.labels, old.created) is distinct from (new.labels, new.created)) execute function write_labels();

create trigger labels_removed after delete on debates
	for each row when (old.labels <> '{}') execute function write_labels();

-- The last heartbeat of each debate's driver. It is advice and not part of the journal. It is not a column of debates, so
-- that a heartbeat never waits for a commit.
create table heartbeats (
	debate  text collate "C" primary key,
	driver  text not null,
	at      timestamptz not null,
	missing text[] not null
);

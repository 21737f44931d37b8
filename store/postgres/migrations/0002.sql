-- What lists select by, as columns. The defaults are for rows that an older program writes meanwhile.
alter table debates
	add column updated timestamptz not null default '-infinity',
	add column outcome text not null default '', -- of the ending
	add column failure text not null default ''; -- kind of the failure

-- The kinds of earlier failures are in journals only. A debate's status gets it when an engine opens the debate.
update debates set
	updated = coalesce((select at from entries where debate = id order by seq desc limit 1), '-infinity'),
	outcome = coalesce(status->'ending'->>'outcome', '');

-- The labels of all debates, in the order of lists. Triggers on debates write them.
create table labels (
	label   text collate "C" not null, -- '["key","value"]'
	created timestamptz not null,
	debate  text collate "C" not null,
	primary key (label, created, debate)
);

insert into labels select unnest(labels), created, id from debates;

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

create index debates_state on debates (state, created desc, id desc);
create index debates_failure on debates (failure, created desc, id desc) where failure <> '';

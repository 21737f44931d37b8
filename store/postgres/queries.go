package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// queries are the statements on the tables of one schema.
type queries struct{ lock, commit, load, list, remove, journalEnds string }

// newQueries writes the queries for a schema, whatever the connection's search_path.
func newQueries(schema string) queries {
	in := strings.NewReplacer("{debates}", quoteName(schema)+".debates", "{entries}", quoteName(schema)+".entries")
	return queries{
		lock: lockSQL, commit: in.Replace(commitSQL), load: in.Replace(loadSQL),
		list: in.Replace(listSQL), remove: in.Replace(removeSQL), journalEnds: in.Replace(journalEndsSQL),
	}
}

// lockSQL is a statement of its own: those after it see what was committed while it waited.
const lockSQL = `select pg_advisory_xact_lock(hashtextextended($1, 0))`

// commitSQL writes all or nothing, and says what stands: where the journal ends and the first of the keys that it holds.
const commitSQL = `
with found as (
	select
		(select coalesce(max(seq), 0) from {entries} where debate = $1) as last,
		(select k.key from unnest($6::text[]) with ordinality k (key, n)
			cross join lateral (select from {entries} where debate = $1 and key = k.key limit 1) e order by n limit 1) as key,
		current_setting('transaction_isolation') as isolation
), accepted as (
	select from found where last = $2 and key is null and isolation = 'read committed'
), added as (
	insert into {entries} (debate, seq, type, key, at, data)
	select $1, e.seq, e.type, e.key, e.at, e.data::json
	from accepted, unnest($4::bigint[], $5::text[], $6::text[], $7::timestamptz[], $8::text[]) e (seq, type, key, at, data)
), summarized as (
	insert into {debates} (id, state, labels, created, status)
	select $1, $9, $10::text[], $11, $12::text::json from accepted
	on conflict (id) do update
	set state = excluded.state, labels = excluded.labels, created = excluded.created, status = excluded.status
), notified as (
	select pg_notify($13, $14) from accepted where $3
)
select last, key, isolation, (select count(*) from notified) from found`

// removeSQL says how many rows it removed.
const removeSQL = `
with safe as (
	select current_setting('transaction_isolation') as isolation
), heads as (
	delete from {debates} where id = $1 and (select isolation = 'read committed' from safe) returning 1
), journal as (
	delete from {entries} where debate = $1 and (select isolation = 'read committed' from safe) returning 1
), removed as (
	select (select count(*) from heads) + (select count(*) from journal) as n
), notified as (
	select pg_notify($2, $3) from removed where n > 0
)
select n, isolation, (select count(*) from notified) from removed, safe`

// loadSQL gives a row about the debate, whose seq is null, and those of entries, all as of one moment.
const loadSQL = `
select null::bigint as seq, null::text as type, null::text as key, null::timestamptz as at,
	(select status::text from {debates} where id = $1) as data,
	exists (select from {debates} where id = $1) or exists (select from {entries} where debate = $1) as known
union all
select seq, type, key, at, data::text, true from {entries} where debate = $1 and seq > $2
order by seq nulls first`

const listSQL = `
select id, created, status::text from {debates}
where (created, id) < ($1, $2) and labels @> $3 and ($4::text[] is null or state = any($4))
order by created desc, id desc
limit $5`

// journalEndsSQL gives where journals end, 0 for none.
const journalEndsSQL = `
select id, (select coalesce(max(seq), 0) from {entries} where debate = id)
from unnest($1::text[]) id`

// quoteName is a name as SQL has it.
func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }

package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// queries holds the SQL statements for the tables of one schema.
type queries struct{ lock, commit, load, list, remove, journalEnds string }

// newQueries returns the statements for a schema. They do not depend on the connection's search_path.
func newQueries(schema string) queries {
	in := strings.NewReplacer("{debates}", quoteName(schema)+".debates", "{entries}", quoteName(schema)+".entries")
	return queries{
		lock: lockSQL, commit: in.Replace(commitSQL), load: in.Replace(loadSQL),
		list: in.Replace(listSQL), remove: in.Replace(removeSQL), journalEnds: in.Replace(journalEndsSQL),
	}
}

// lockSQL takes the lock of a debate. It is a separate statement, so that the next one sees what was committed while
// this one waited.
const lockSQL = `select pg_advisory_xact_lock(hashtextextended($1, 0))`

// commitSQL writes the whole change or nothing. It returns the end of the journal, the first key of the change that the
// journal already has, and the isolation level.
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

// removeSQL deletes a debate. It returns the number of rows removed and the isolation level.
const removeSQL = `
with safe as (
	select current_setting('transaction_isolation') as isolation
), statuses as (
	delete from {debates} where id = $1 and (select isolation = 'read committed' from safe) returning 1
), journal as (
	delete from {entries} where debate = $1 and (select isolation = 'read committed' from safe) returning 1
), removed as (
	select (select count(*) from statuses) + (select count(*) from journal) as n
), notified as (
	select pg_notify($2, $3) from removed where n > 0
)
select n, isolation, (select count(*) from notified) from removed, safe`

// loadSQL returns a row about the debate, with a null seq, and then the rows of entries, all from one snapshot.
const loadSQL = `
select null::bigint as seq, null::text as type, null::text as key, null::timestamptz as at,
	(select status::text from {debates} where id = $1) as data,
	exists (select from {debates} where id = $1) or exists (select from {entries} where debate = $1) as known
union all
select seq, type, key, at, data::text, true from {entries} where debate = $1 and seq > $2
order by seq nulls first`

// listSQL returns a page of statuses, newest first.
const listSQL = `
select id, created, status::text from {debates}
where (created, id) < ($1, $2) and labels @> $3 and ($4::text[] is null or state = any($4))
order by created desc, id desc
limit $5`

// journalEndsSQL returns the seq of the last entry of each given debate, or 0 if it has none.
const journalEndsSQL = `
select id, (select coalesce(max(seq), 0) from {entries} where debate = id)
from unnest($1::text[]) id`

// quoteName returns name as a quoted SQL identifier.
func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }

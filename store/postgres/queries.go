package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// queries holds the SQL statements for the tables of one schema.
type queries struct{ lock, commit, notify, load, debates, labels, heartbeat, remove, journalEnds, beat, forget string }

// newQueries returns the statements for a schema. They do not depend on the connection's search_path.
func newQueries(schema string) queries {
	debates, entries := quoteName(schema)+".debates", quoteName(schema)+".entries"
	heartbeat := strings.ReplaceAll(heartbeatSQL, "{heartbeats}", quoteName(schema)+".heartbeats")
	in := strings.NewReplacer("{debates}", debates, "{entries}", entries, "{heartbeats}", quoteName(schema)+".heartbeats", "{heartbeat}", heartbeat)
	return queries{
		lock: lockSQL, commit: in.Replace(commitSQL), notify: notifySQL, load: in.Replace(loadSQL), debates: debates, labels: quoteName(schema) + ".labels",
		heartbeat: heartbeat, beat: in.Replace(beatSQL), forget: in.Replace(forgetSQL),
		remove: in.Replace(removeSQL), journalEnds: in.Replace(journalEndsSQL),
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
	insert into {entries} (debate, seq, type, key, at, data, checksum)
	select $1, e.seq, e.type, e.key, e.at, e.data::json, e.checksum
	from accepted, unnest($4::bigint[], $5::text[], $6::text[], $7::timestamptz[], $8::text[], $18::integer[]) e (seq, type, key, at, data, checksum)
), summarized as (
	insert into {debates} (id, state, outcome, failure, labels, created, updated, status)
	select $1, $9, $10, $11, $12::text[], $13, $14, $15::text::json from accepted
	on conflict (id) do update
	set state = excluded.state, outcome = excluded.outcome, failure = excluded.failure, labels = excluded.labels,
		created = excluded.created, updated = excluded.updated, status = excluded.status
), notified as (
	select pg_notify($16, $17) from accepted where $3
)
select last, key, isolation, (select count(*) from notified) from found`

// removeSQL deletes a debate. It returns whether there was one, the end of its journal, and the isolation level.
const removeSQL = `
with found as (
	select
		exists (select from {debates} where id = $1) or exists (select from {entries} where debate = $1) as known,
		(select coalesce(max(seq), 0) from {entries} where debate = $1) as last,
		current_setting('transaction_isolation') as isolation
), accepted as (
	select from found where known and $2::bigint in (0, last) and isolation = 'read committed'
), statuses as (
	delete from {debates} where id = $1 and exists (select from accepted)
), journal as (
	delete from {entries} where debate = $1 and exists (select from accepted)
), forgotten as (
	delete from {heartbeats} where debate = $1 and exists (select from accepted)
)
select known, last, isolation from found`

// loadSQL returns a row about the debate, with a null seq, and then the rows of entries, all from one snapshot.
const loadSQL = `
select null::bigint as seq, null::text as type, null::text as key, null::timestamptz as at,
	(select status::text from {debates} where id = $1) as data,
	exists (select from {debates} where id = $1) or exists (select from {entries} where debate = $1) as known,
	{heartbeat} as heartbeat, null::integer as checksum
from (values ($1)) d (id)
union all
select seq, type, key, at, data::text, true, null, checksum from {entries} where debate = $1 and seq > $2
order by seq nulls first`

// notifySQL sends notifications with the given payloads. They may be lost in a crash of the server, so it need not wait
// for the disk.
const notifySQL = `
select pg_notify($1, payload) from unnest($2::text[]) payload, set_config('synchronous_commit', 'off', true)`

// journalEndsSQL returns the seq of the last entry of each given debate, or 0 if it has none.
const journalEndsSQL = `
select id, (select coalesce(max(seq), 0) from {entries} where debate = id)
from unnest($1::text[]) id`

// heartbeatSQL returns the heartbeat of the debate d.id as JSON, or null if there is none.
const heartbeatSQL = `(select json_build_object('driver', driver, 'at', (extract(epoch from at) * 1000000)::bigint, 'missing', missing)::text
	from {heartbeats} where debate = d.id)`

// beatSQL stores a heartbeat for each given debate, unless one of another driver is newer and misses nothing. It returns
// the debates for which it has stored it.
const beatSQL = `
insert into {heartbeats} as h (debate, driver, at, missing)
select d.id, $2, $3, $4 from unnest($1::text[]) with ordinality d (id, n)
where exists (select from {debates} where id = d.id) order by n
on conflict (debate) do update set driver = excluded.driver, at = excluded.at, missing = excluded.missing
where h.driver = excluded.driver or h.missing <> '{}' or h.at <= $5
returning debate`

// forgetSQL removes the heartbeats of a driver for the given debates.
const forgetSQL = `
delete from {heartbeats} where debate = any(array(
	select debate from {heartbeats} where debate = any($1) and driver = $2 order by debate for update))`

// quoteName returns name as a quoted SQL identifier.
func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }

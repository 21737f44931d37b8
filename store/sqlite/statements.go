package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/store"
)

// statements are the prepared statements of a commit. SQLite takes longer to prepare one than to run it.
type statements struct{ before, addEntry, updateStatus *sql.Stmt }

func prepare(ctx context.Context, db *sql.DB) (s statements, err error) {
	for _, p := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&s.before, `SELECT coalesce(e.seq, 0), coalesce(e.row, 0), d.created, d.state, d.outcome, d.failure, d.labels FROM (SELECT 1)
			LEFT JOIN (SELECT seq, row FROM entries WHERE debate = ?1 ORDER BY seq DESC LIMIT 1) e LEFT JOIN debates d ON d.id = ?1`},
		{&s.addEntry, `INSERT INTO entries (debate, seq, type, key, at, data, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)`},
		{&s.updateStatus, `UPDATE debates SET updated = ?, status = ? WHERE id = ?`},
	} {
		*p.to, err = db.PrepareContext(ctx, p.sql)
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// before is what a commit finds.
type before struct {
	end    entryRef
	status columns // zero if the status is missing
}

// columns are the columns of a status that indexes contain.
type columns struct {
	created                         sql.NullInt64
	state, outcome, failure, labels sql.NullString
}

func (s statements) readBefore(ctx context.Context, tx *sql.Tx, id string) (b before, err error) {
	h := &b.status
	err = tx.StmtContext(ctx, s.before).QueryRowContext(ctx, id).
		Scan(&b.end.seq, &b.end.rowID, &h.created, &h.state, &h.outcome, &h.failure, &h.labels)
	return b, err
}

// writeStatus replaces the status of a debate. text is its JSON. Most commits change no column of an index, and then no
// index is written.
func (s statements) writeStatus(ctx context.Context, tx *sql.Tx, b before, h store.Status, text string) error {
	labels := encodeLabels(h.Labels, h.Waiting, h.Parent.ID)
	valid := func(text string) sql.NullString { return sql.NullString{String: text, Valid: true} }
	is := columns{
		sql.NullInt64{Int64: h.Created.UnixMicro(), Valid: true},
		valid(string(h.State)), valid(string(h.Ending.Outcome)), valid(h.FailureKind), valid(strings.Join(labels, "")),
	}
	if is == b.status {
		_, err := tx.StmtContext(ctx, s.updateStatus).ExecContext(ctx, h.Updated.UnixMicro(), text, h.ID)
		return err
	}
	_, err := tx.ExecContext(ctx, `REPLACE INTO debates (id, created, updated, state, outcome, failure, labels, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		h.ID, is.created, h.Updated.UnixMicro(), is.state, is.outcome, is.failure, is.labels, text)
	if err != nil || is.labels == b.status.labels && is.created == b.status.created {
		return err
	}
	return writeLabels(ctx, tx, h.ID, h.Created.UnixMicro(), labels)
}

// writeLabels replaces the labels of a debate.
func writeLabels(ctx context.Context, tx *sql.Tx, id string, created int64, labels []string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM labels WHERE debate = ?`, id); err != nil {
		return err
	}
	for _, label := range labels {
		if _, err := tx.ExecContext(ctx, `INSERT INTO labels (label, created, debate) VALUES (?, ?, ?)`, label, created, id); err != nil {
			return err
		}
	}
	return nil
}

// encodeLabels returns each label as it is stored, sorted by key. The debate that a fork was made of and each name that a
// debate waits for are stored as labels of other forms.
func encodeLabels(labels map[string]string, waiting []string, parent string) (list []string) {
	if parent != "" {
		list = append(list, "parent "+encodeLabel(parent, ""))
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(waiting))) {
		list = append(list, "waiting "+encodeLabel(name, ""))
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, encodeLabel(key, labels[key]))
	}
	return list
}

// encodeLabel returns a label as it is stored. Like JSON, it replaces invalid UTF-8.
func encodeLabel(key, value string) string {
	key, value = strings.ToValidUTF8(key, "\uFFFD"), strings.ToValidUTF8(value, "\uFFFD")
	return fmt.Sprintf("%d:%s%d:%s", len(key), key, len(value), value)
}

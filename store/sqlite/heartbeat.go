package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/elenchus-go/debate/store"
)

// Beat implements [store.Heartbeats].
func (s *Store) Beat(ctx context.Context, h store.Heartbeat, since time.Time, ids ...string) (stored []string, err error) {
	err = s.writeHeartbeats(ctx, ids, func(ctx context.Context, tx *sql.Tx, list string) error {
		missing, _ := json.Marshal(append([]string{}, h.Missing...)) // texts always encode
		rows, err := tx.QueryContext(ctx, `INSERT INTO heartbeats (debate, driver, at, missing)
			SELECT value, ?, ?, ? FROM json_each(?) WHERE EXISTS (SELECT 1 FROM debates WHERE id = value)
			ON CONFLICT (debate) DO UPDATE SET driver = excluded.driver, at = excluded.at, missing = excluded.missing
			WHERE heartbeats.driver = excluded.driver OR heartbeats.missing <> '[]' OR heartbeats.at <= ?
			RETURNING debate`, h.Name, h.At.UnixMicro(), string(missing), list, since.UnixMicro())
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err returns the same error
		stored = nil
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			stored = append(stored, id)
		}
		return rows.Err()
	})
	return stored, err
}

// Forget implements [store.Heartbeats].
func (s *Store) Forget(ctx context.Context, driver string, ids ...string) error {
	return s.writeHeartbeats(ctx, ids, func(ctx context.Context, tx *sql.Tx, list string) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM heartbeats WHERE driver = ? AND debate IN (SELECT value FROM json_each(?))`, driver, list)
		return err
	})
}

// writeHeartbeats runs do in a transaction. list is the JSON array of the ids.
func (s *Store) writeHeartbeats(ctx context.Context, ids []string, do func(ctx context.Context, tx *sql.Tx, list string) error) error {
	list, _ := json.Marshal(append([]string{}, ids...)) // texts always encode
	err := writeTx(ctx, s.writer, func(ctx context.Context, tx *sql.Tx) error { return do(ctx, tx, string(list)) })
	if err != nil {
		return fmt.Errorf("write heartbeats of %d debates: %w", len(ids), err)
	}
	return nil
}

// heartbeatSQL returns the heartbeat of the debate d.id as JSON, or null if there is none.
const heartbeatSQL = `(SELECT json_object('driver', driver, 'at', at, 'missing', missing) FROM heartbeats WHERE debate = d.id)`

// decodeHeartbeat returns a heartbeat from the JSON that heartbeatSQL returns. text is nil if there is none.
func decodeHeartbeat(text []byte) store.Heartbeat {
	var row struct {
		Driver  string
		At      int64
		Missing string
	}
	if text == nil || json.Unmarshal(text, &row) != nil { // heartbeats may be lost
		return store.Heartbeat{}
	}
	h := store.Heartbeat{Name: row.Driver, At: time.UnixMicro(row.At).UTC()}
	if h.At.IsZero() {
		h.At = time.Time{}
	}
	if json.Unmarshal([]byte(row.Missing), &h.Missing) != nil || len(h.Missing) == 0 {
		h.Missing = nil
	}
	return h
}

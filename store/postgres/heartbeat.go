package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/elenchus-go/debate/store"
)

var _ store.Heartbeats = (*Store)(nil)

// Beat implements store.Heartbeats.
func (s *Store) Beat(ctx context.Context, h store.Heartbeat, since time.Time, ids ...string) ([]string, error) {
	missing := make([]string, len(h.Missing))
	for i, m := range h.Missing {
		missing[i] = storable(m)
	}
	rows, err := s.pool.Query(ctx, s.sql.beat, inOrder(ids), storable(h.Name), h.At, missing, since)
	if err != nil {
		return nil, fmt.Errorf("write heartbeats of %d debates: %w", len(ids), err)
	}
	stored, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("write heartbeats of %d debates: %w", len(ids), err)
	}
	return stored, nil
}

// Forget implements store.Heartbeats.
func (s *Store) Forget(ctx context.Context, driver string, ids ...string) error {
	if _, err := s.pool.Exec(ctx, s.sql.forget, inOrder(ids), storable(driver)); err != nil {
		return fmt.Errorf("forget heartbeats of %d debates: %w", len(ids), err)
	}
	return nil
}

// inOrder returns the ids in the order in which all statements lock the rows of heartbeats, without those that no debate
// can have.
func inOrder(ids []string) []string {
	ids = slices.DeleteFunc(slices.Clone(ids), invalidText)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// storable returns s without what PostgreSQL cannot store.
func storable(s string) string { return strings.ReplaceAll(validUTF8(s), "\x00", "\uFFFD") }

// decodeHeartbeat returns a heartbeat from the JSON that heartbeatSQL returns. text is nil if there is none.
func decodeHeartbeat(text *string) store.Heartbeat {
	var row struct {
		Driver  string
		At      int64 // microseconds since 1970, UTC
		Missing []string
	}
	if text == nil || json.Unmarshal([]byte(*text), &row) != nil { // heartbeats may be lost
		return store.Heartbeat{}
	}
	h := store.Heartbeat{Name: row.Driver, At: time.UnixMicro(row.At).UTC()}
	if h.At.IsZero() {
		h.At = time.Time{}
	}
	if len(row.Missing) > 0 {
		h.Missing = row.Missing
	}
	return h
}

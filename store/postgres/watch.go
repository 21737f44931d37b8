package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Watch implements store.Watcher. From the first Watch until Close, one connection outside the pool listens.
func (s *Store) Watch(id string, wake func(last int64)) (stop func()) {
	n := s.watchers.add(id, wake, s.listen)
	return func() { s.watchers.remove(id, n) }
}

const (
	queryTimeout  = 10 * time.Second // slower queries count as a lost connection
	minRetryDelay = 100 * time.Millisecond
	maxRetryDelay = 10 * time.Second
)

// notification returns the payload of a notification: the origin, the end of the journal, and the debate's id.
func notification(origin string, last int64, id string) string {
	return fmt.Sprintf("%s %d %s", origin, last, id)
}

// handleNotification wakes the watchers that a payload concerns. It ignores this store's own notifications, because
// Commit and Delete have already woken the watchers.
func (s *Store) handleNotification(payload string) {
	if part := strings.SplitN(payload, " ", 3); len(part) == 3 && part[0] != s.origin {
		if last, err := strconv.ParseInt(part[1], 10, 64); err == nil {
			s.watchers.notify(part[2], last)
		}
	}
}

// listen reports the commits of others until ctx ends. It reconnects with growing delays.
func (s *Store) listen(ctx context.Context) {
	wait, cut := minRetryDelay, false
	for {
		err := s.listenOnce(ctx, func() {
			if cut {
				s.log.InfoContext(ctx, "watching debates again", "schema", s.schema)
			}
			wait, cut = minRetryDelay, false
		})
		if ctx.Err() != nil {
			return
		}
		if !cut {
			s.log.WarnContext(ctx, "cannot watch debates, retrying", "schema", s.schema, "error", err)
			cut = true
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			wait = min(2*wait, maxRetryDelay)
		}
	}
}

// listenOnce listens on one connection until it fails. Once the connection works, and then after each poll, it calls
// ready. It also polls, since some notifications do not arrive.
func (s *Store) listenOnce(ctx context.Context, ready func()) error {
	conn, err := s.connectListener(ctx)
	if err != nil {
		return err
	}
	defer func() {
		bye, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer done()
		_ = conn.Close(bye)
	}()
	for {
		if err := s.pollWatched(ctx, conn); err != nil {
			return err
		}
		ready()
		if err := s.receiveFor(ctx, conn, s.pollInterval); err != nil {
			return err
		}
	}
}

// connectListener opens a connection configured like those of the pool, and listens on it. The connection is not part
// of the pool, so that notifications still arrive when all connections of the pool are in use.
func (s *Store) connectListener(ctx context.Context) (*pgx.Conn, error) {
	ctx, done := context.WithTimeout(ctx, queryTimeout)
	defer done()
	pool := s.pool.Config()
	c := pool.ConnConfig
	c.OnNotification = nil // the pool's handler must not receive this connection's notifications
	if pool.BeforeConnect != nil {
		if err := pool.BeforeConnect(ctx, c); err != nil {
			return nil, err
		}
	}
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	if pool.AfterConnect != nil {
		err = pool.AfterConnect(ctx, conn)
	}
	if err == nil {
		_, err = conn.Exec(ctx, "listen "+quoteName(s.schema))
	}
	if err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// receiveFor handles notifications for the duration d.
func (s *Store) receiveFor(ctx context.Context, conn *pgx.Conn, d time.Duration) error {
	while, done := context.WithTimeout(ctx, d)
	defer done()
	for {
		n, err := conn.WaitForNotification(while)
		switch {
		case err == nil:
			s.handleNotification(n.Payload)
		case while.Err() != nil:
			return ctx.Err()
		default:
			return err
		}
	}
}

// pollWatched reads the end of each watched journal and wakes the watchers if it is new.
func (s *Store) pollWatched(ctx context.Context, conn *pgx.Conn) error {
	ctx, done := context.WithTimeout(ctx, queryTimeout)
	defer done()
	news := s.watchers.notifyCounts()
	rows, err := conn.Query(ctx, s.sql.journalEnds, slices.Collect(maps.Keys(news)))
	if err != nil {
		return err
	}
	var id string
	var last int64
	_, err = pgx.ForEachRow(rows, []any{&id, &last}, func() error {
		s.watchers.notifyIfUnchanged(id, last, news[id])
		return nil
	})
	return err
}

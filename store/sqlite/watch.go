package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"
)

const pollInterval = 50 * time.Millisecond // between two looks at what others did

// Watch implements [store.Watcher]. While there are watchers, and only then, one goroutine looks 20 times a second for
// what others committed to the file.
func (s *Store) Watch(id string, wake func(last int64)) (stop func()) {
	w := &s.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byDebate[id] == nil {
		// Nothing is lost between this look and the first poll: that begins later, or waits for the lock.
		end, err := journalEnd(context.Background(), s.readers, id)
		if err != nil {
			end = entryRef{seq: -1} // whatever the poll finds is news
		}
		w.byDebate[id] = &subscription{last: end, callbacks: map[int]func(int64){}}
	}
	w.lastID++
	n := w.lastID
	w.byDebate[id].callbacks[n] = wake
	if w.stopPolling == nil && !w.closed {
		ctx, cancel := context.WithCancel(context.Background())
		w.stopPolling = cancel
		w.pollers.Go(func() { s.poll(ctx) })
	}
	return func() { w.remove(id, n) }
}

// poll follows the file until the context ends, on another connection where one fails.
func (s *Store) poll(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		_ = s.pollConn(ctx, tick.C) // tried again
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// pollConn looks at the watched debates at first and whenever the file has changed since, by the count that SQLite keeps
// for the connection.
func (s *Store) pollConn(ctx context.Context, tick <-chan time.Time) error {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // gives it back
	for seen := int64(-1); ; {
		var version int64
		if err := conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
			return err
		}
		if version != seen {
			if err := s.checkWatched(ctx, conn); err != nil {
				return err
			}
			seen = version
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
		}
	}
}

// checkWatched tells what is new of each watched debate.
func (s *Store) checkWatched(ctx context.Context, conn *sql.Conn) error {
	s.watchers.mu.Lock()
	ids := slices.Collect(maps.Keys(s.watchers.byDebate))
	s.watchers.mu.Unlock()
	for _, id := range ids {
		// Under the lock no commit of this store is told in between: what was read would be old news then.
		s.watchers.mu.Lock()
		end, err := journalEnd(ctx, conn, id)
		if err != nil {
			s.watchers.mu.Unlock()
			return err
		}
		wakes := s.watchers.recordEnd(id, end)
		s.watchers.mu.Unlock()
		for _, wake := range wakes {
			wake(end.seq)
		}
	}
	return nil
}

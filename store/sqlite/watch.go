package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"
)

const pollInterval = 50 * time.Millisecond // time between two checks for commits of others

// Watch implements [store.Watcher]. As long as there are watches, one goroutine checks 20 times a second for commits of
// others to the file.
func (s *Store) Watch(id string, wake func(last int64)) (stop func()) {
	w := &s.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byDebate[id] == nil {
		// The poll misses nothing that is committed after this read: it starts later, or waits for the lock.
		end, err := journalEnd(context.Background(), s.readers, id)
		if err != nil {
			end = entryRef{seq: -1} // any end that the poll finds counts as new
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

// poll checks the file until ctx ends. If a connection fails, it continues on another one.
func (s *Store) poll(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		_ = s.pollConn(ctx, tick.C) // the loop tries again
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// pollConn checks the watched debates, first at once and then whenever the file has changed. It compares the change
// counter that SQLite keeps for the connection.
func (s *Store) pollConn(ctx context.Context, tick <-chan time.Time) error {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // returns it to the pool
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

// checkWatched wakes the watchers of each debate whose journal has a new end.
func (s *Store) checkWatched(ctx context.Context, conn *sql.Conn) error {
	s.watchers.mu.Lock()
	ids := slices.Collect(maps.Keys(s.watchers.byDebate))
	s.watchers.mu.Unlock()
	for _, id := range ids {
		// Hold the lock while reading, so that no commit of this store notifies in between and makes the result outdated.
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

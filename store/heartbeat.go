package store

import (
	"context"
	"time"
)

// Heartbeat is the last that a driver has said about a debate. It is advice for people and for other drivers. It does
// not keep other drivers from committing.
type Heartbeat struct {
	Name string    `json:"name"`        // name of the driver, which is usually a process
	At   time.Time `json:"at,omitzero"` // when it said so; zero if it has stopped driving a debate that is not over
	// Missing lists what the driver lacks to drive the debate, such as a provider. If it is empty, the driver drives it.
	Missing []string `json:"missing,omitempty"`
}

// Heartbeats is an optional interface of a store that keeps the last heartbeat for each debate. Load and List return it
// in Status.Driver. Heartbeats are not part of the journal: they have no seq and wake no watchers. A store may lose
// them.
type Heartbeats interface {
	// Beat stores h for each of the debates, except where a heartbeat of another driver is newer than since and
	// misses nothing. It returns the debates for which it has stored h, in any order. It ignores unknown debates.
	Beat(ctx context.Context, h Heartbeat, since time.Time, ids ...string) (stored []string, err error)
	// Forget removes the heartbeats of a driver for the given debates. It ignores those of other drivers.
	Forget(ctx context.Context, driver string, ids ...string) error
}

// yieldsTo reports whether a newer heartbeat replaces h; see [Heartbeats].
func (h Heartbeat) yieldsTo(newer Heartbeat, since time.Time) bool {
	return h.Name == newer.Name || len(h.Missing) > 0 || !h.At.After(since)
}

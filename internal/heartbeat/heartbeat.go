// Package heartbeat tells a store which debates an engine drives, so that other engines continue those of an engine that
// has gone.
package heartbeat

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/store"
)

// The default interval of heartbeats, and the delay of the first one. Debates that end within the delay cause none.
const (
	defaultHeartbeatInterval = 10 * time.Second
	firstHeartbeatDelay      = time.Second
	heartbeatsToMiss         = 3 // after this many intervals a heartbeat no longer counts, by default
)

// processName returns the default name of the first engine of this process.
var processName = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), strings.ToLower(rand.Text()[:6]))
})

var enginesNamed atomic.Int64

// engineName returns the default name of an engine.
func engineName() string {
	if n := enginesNamed.Add(1); n > 1 {
		return fmt.Sprintf("%s-%d", processName(), n)
	}
	return processName()
}

// Keeper tells the store which debates an engine drives: all of them in one write for each interval. A nil *Keeper does
// nothing, because the store keeps no heartbeats.
type Keeper struct {
	store store.Heartbeats
	name  string
	named bool // the program has chosen the name, so that another process may have it later
	every time.Duration
	after time.Duration // a heartbeat that is older no longer counts
	log   *slog.Logger

	writing sync.Mutex // held during a write, so that no heartbeat is written after it was forgotten

	mu      sync.Mutex
	driven  map[string]bool      // debates that are driven; true if the store may have their heartbeat
	lacking map[string]time.Time // when the store was told what the engine lacks to drive a debate
	last    time.Time            // time of the last write
	timer   *time.Timer
}

// New returns nil if the store keeps no heartbeats or the interval is negative.
func New(s store.Store, name string, every, after time.Duration, log *slog.Logger) *Keeper {
	keeper, ok := s.(store.Heartbeats)
	if !ok || every < 0 {
		return nil
	}
	h := &Keeper{store: keeper, name: name, named: name != "", log: log, driven: map[string]bool{}}
	h.every = cmp.Or(every, defaultHeartbeatInterval)
	h.after = cmp.Or(after, heartbeatsToMiss*h.every)
	return h
}

// driver returns the name of the engine in its heartbeats.
func (h *Keeper) driver() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.name == "" {
		h.name = engineName()
	}
	return h.name
}

// Every returns the interval of the heartbeats.
func (h *Keeper) Every() time.Duration { return h.every }

// Begin notes that the engine drives a debate.
func (h *Keeper) Begin(id string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.driven[id]; known {
		return // it was claimed
	}
	h.driven[id] = false
	if len(h.driven) == 1 {
		h.arm(max(min(firstHeartbeatDelay, h.every), h.every-time.Since(h.last)))
	}
}

// arm sets the time until the next heartbeat. The mutex is held.
func (h *Keeper) arm(wait time.Duration) {
	if h.timer == nil {
		h.timer = time.AfterFunc(wait, h.tick)
	} else {
		h.timer.Reset(wait)
	}
}

// End notes that the engine no longer drives a debate. left means that another engine should continue it.
func (h *Keeper) End(ctx context.Context, id string, left bool) {
	if h == nil {
		return
	}
	h.mu.Lock()
	told := h.driven[id]
	delete(h.driven, id)
	if len(h.driven) == 0 && h.timer != nil {
		h.timer.Stop()
	}
	h.mu.Unlock()
	switch {
	case left:
		h.giveUp(ctx, id)
	case told:
		h.write(ctx, func(ctx context.Context) error { return h.store.Forget(ctx, h.driver(), id) })
	}
}

// Leave notes that the engine drives no debate any more, and that other engines should continue those that it drove.
func (h *Keeper) Leave(ctx context.Context) {
	if h == nil {
		return
	}
	h.mu.Lock()
	ids := slices.Collect(maps.Keys(h.driven))
	clear(h.driven)
	if h.timer != nil {
		h.timer.Stop()
	}
	h.mu.Unlock()
	if len(ids) > 0 {
		h.giveUp(ctx, ids...)
	}
}

// giveUp tells the store that another engine should continue debates.
func (h *Keeper) giveUp(ctx context.Context, ids ...string) {
	h.write(ctx, func(ctx context.Context) error {
		_, err := h.store.Beat(ctx, store.Heartbeat{Name: h.driver()}, time.Now().Add(-h.after), ids...)
		return err
	})
}

// Claim writes a heartbeat for debates that the engine is about to drive. It returns those that no other engine drives.
func (h *Keeper) Claim(ctx context.Context, ids ...string) (claimed []string, err error) {
	if h == nil {
		return ids, nil
	}
	h.writing.Lock()
	defer h.writing.Unlock()
	claimed, err = h.beat(ctx, nil, ids...)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range claimed {
		h.driven[id] = true
		if len(h.driven) == 1 {
			h.arm(h.every)
		}
	}
	return claimed, nil
}

// Announce writes a heartbeat for a debate that the engine drives, unless the store has one.
func (h *Keeper) Announce(ctx context.Context, id string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	told := h.driven[id]
	h.driven[id] = true
	h.mu.Unlock()
	if !told {
		h.write(ctx, func(ctx context.Context) error {
			_, err := h.beat(ctx, nil, id)
			return err
		})
	}
}

// Sign writes a heartbeat for a debate before its first call, if the name of the engine was chosen, unless the store has one. A
// process that dies in its first second leaves its name, so that its successor with the same name does not wait.
func (h *Keeper) Sign(ctx context.Context, id string) {
	if h == nil || !h.named {
		return
	}
	h.mu.Lock()
	told, driven := h.driven[id]
	due := driven && !told
	if due && len(h.driven) == 1 {
		h.arm(h.every) // this heartbeat replaces the first one of the timer
	}
	h.mu.Unlock()
	if due { // and the engine has not left the debate
		h.Announce(ctx, id)
	}
}

// Disclaim notes that the engine does not drive a debate that it has claimed. If it lacks something to do so, that remains
// in the store.
func (h *Keeper) Disclaim(ctx context.Context, id string, lacks bool) {
	if h != nil && lacks {
		h.mu.Lock()
		h.driven[id] = false
		h.mu.Unlock()
	}
	h.End(ctx, id, false)
}

// IsGone reports whether the driver of a debate has given no heartbeat for too long, or has left the debate. A debate
// without a heartbeat may have begun before the first one was due.
func (h *Keeper) IsGone(s store.Status) bool {
	switch {
	case h == nil:
		return true
	case s.Driver.Name == "" || len(s.Driver.Missing) > 0:
		return time.Since(s.Updated) >= h.after
	}
	return s.Driver.Name == h.driver() || time.Since(s.Driver.At) >= h.after
}

// tick writes a heartbeat for all debates that are driven.
func (h *Keeper) tick() {
	h.write(context.Background(), func(ctx context.Context) error {
		h.mu.Lock()
		h.last = time.Now()
		ids := slices.Collect(maps.Keys(h.driven))
		for _, id := range ids {
			h.driven[id] = true
		}
		if len(ids) > 0 {
			h.timer.Reset(h.every)
		}
		h.mu.Unlock()
		_, err := h.beat(ctx, nil, ids...)
		return err
	})
}

// beat writes a heartbeat and returns the debates for which it was written.
func (h *Keeper) beat(ctx context.Context, missing []string, ids ...string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	return h.store.Beat(ctx, store.Heartbeat{Name: h.driver(), At: now, Missing: missing}, now.Add(-h.after), ids...)
}

// write runs a write to the store. Heartbeats are advice, so its error is only logged.
func (h *Keeper) write(ctx context.Context, f func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.every)
	defer cancel()
	h.writing.Lock()
	defer h.writing.Unlock()
	if err := f(ctx); err != nil {
		h.log.WarnContext(ctx, "write heartbeat", "driver", h.driver(), "error", err)
	}
}

// Lack tells the store what the engine lacks to drive a debate, unless the list is empty. It does so at most once per
// interval.
func (h *Keeper) Lack(ctx context.Context, id string, missing []string) {
	if h == nil || len(missing) == 0 {
		return
	}
	h.mu.Lock()
	maps.DeleteFunc(h.lacking, func(_ string, at time.Time) bool { return time.Since(at) >= h.every })
	_, told := h.lacking[id]
	if h.lacking == nil {
		h.lacking = map[string]time.Time{}
	}
	h.lacking[id] = time.Now()
	h.mu.Unlock()
	if told {
		return
	}
	h.write(ctx, func(ctx context.Context) error {
		_, err := h.beat(ctx, missing, id)
		return err
	})
}

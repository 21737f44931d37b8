package debate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// wake is told by the store of each commit. When another writer was at work while calls are in flight, those that are
// no longer wanted are cancelled. After a deletion, of which 0 tells, nothing that was read counts any more.
func (dr *drive) wake(last int64) {
	if last == 0 {
		last = math.MaxInt64
	}
	for n := dr.newest.Load(); last > n && !dr.newest.CompareAndSwap(n, last); n = dr.newest.Load() {
	}
	if last > dr.known.Load() {
		dr.recheck()
	}
}

func (dr *drive) recheck() {
	poke(dr.woken)
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if !dr.over && (len(dr.flights) > 0 || dr.checking != nil) {
		dr.reviews.Go(dr.review)
	}
}

func (dr *drive) review() {
	dr.d.mu.Lock()
	defer dr.d.mu.Unlock()
	err := dr.d.refresh(dr.ctx)
	if errors.Is(err, store.ErrNotFound) {
		dr.cancel(fmt.Errorf("drive debate %s: it was deleted: %w", dr.d.id, err))
	}
	if err != nil {
		if dr.ctx.Err() == nil { // nobody tells again, and the call may take long
			time.AfterFunc(shortest, dr.recheck)
		}
		return
	}
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if dr.checking != nil && dr.d.rec.snap.State != fsm.Validating {
		dr.checking(errSuperseded)
	}
	for _, call := range dr.flights {
		if !call.wanted(dr.d.rec) {
			call.cancel(errSuperseded)
		}
	}
}

// wanted says whether a call's step may still be committed: to its own debate, and not to another under the same id.
func (c *call) wanted(r *record) bool { return r.created.Equal(c.created) && r.open(c.step.Key) }

// behind says whether the store has told of more than what was read.
func (dr *drive) behind(seq int64) bool { return dr.newest.Load() > seq }

// moved says whether the journal has more than a plan was made on.
func (dr *drive) moved(p plan) bool {
	newest := dr.newest.Load()
	return dr.known.Load() != p.known || newest != p.newest && newest > p.known
}

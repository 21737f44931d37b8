package heartbeat

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// recoverable lists the states of debates that an engine continues.
var recoverable = []fsm.State{
	fsm.Validating, fsm.Ready, fsm.Initializing, fsm.AwaitingResponses, fsm.Judging, fsm.RoundComplete, fsm.Completing,
}

// again sets the time after which Once tries a debate again that it could not continue.
const again = time.Minute

// Recovery continues the debates that nobody drives. Its methods must not be called at the same time.
type Recovery struct {
	Store    store.Store
	Gone     func(store.Status) bool                                    // whether nobody drives a debate that this engine does not drive
	Drives   func(id string) bool                                       // whether this engine drives a debate
	Status   func(ctx context.Context, id string) (store.Status, error) // of a debate, from its journal
	TakeOver func(ctx context.Context, id string) error

	failed map[string]time.Time // when debates could not be continued
}

// Once continues the debates. It leaves out those that it could not continue a short while ago. The error names each that it could
// not continue now.
func (r *Recovery) Once(ctx context.Context) error {
	var errs []error
	maps.DeleteFunc(r.failed, func(_ string, at time.Time) bool { return time.Since(at) >= again })
	for s, err := range r.Store.List(ctx, store.Query{States: recoverable}) {
		if s.ID == "" && err != nil {
			return errors.Join(append(errs, err)...)
		}
		if _, wait := r.failed[s.ID]; wait || r.Drives(s.ID) {
			continue
		}
		if err != nil { // its status is unreadable, but its journal may not be
			s, err = r.Status(ctx, s.ID)
		}
		if err == nil && slices.Contains(recoverable, s.State) && r.Gone(s) {
			err = r.TakeOver(ctx, s.ID)
		}
		if err != nil {
			if r.failed == nil {
				r.failed = map[string]time.Time{}
			}
			r.failed[s.ID] = time.Now()
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

package inspector

import (
	"context"
	"slices"
	"sync"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// handles keeps the debates whose pages were opened last, because opening a debate reads its whole journal.
type handles struct {
	mu   sync.Mutex
	list []*debate.Debate // the one that was used last is last
}

// maxHandles limits the debates that are kept.
const maxHandles = 8

// open returns a debate with its status.
func (h *handles) open(ctx context.Context, e *debate.Engine, id string) (d *debate.Debate, status store.Status, err error) {
	d = h.find(id)
	if d == nil {
		d, err = e.Open(ctx, id)
		if err != nil {
			return nil, status, err
		}
	}
	status, err = d.Status(ctx)
	h.keep(d, err == nil) // otherwise it was deleted
	return d, status, err
}

// find returns a debate, or nil if it is not there.
func (h *handles) find(id string) *debate.Debate {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.list {
		if d.ID() == id {
			return d
		}
	}
	return nil
}

// keep puts a debate at the end of the list, or removes it if ok is false.
func (h *handles) keep(d *debate.Debate, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = slices.DeleteFunc(h.list, func(o *debate.Debate) bool { return o.ID() == d.ID() })
	if ok {
		h.list = append(h.list, d)
	}
	if len(h.list) > maxHandles {
		h.list = slices.Delete(h.list, 0, 1)
	}
}

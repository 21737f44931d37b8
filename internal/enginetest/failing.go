package enginetest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/elenchus-go/debate/store"
)

var errDisk = errors.New("the disk is full")

// failing is a store whose nth commit fails, before or after it took effect.
type failing struct {
	store.Store
	nth     int64
	after   bool
	commits atomic.Int64
}

// Commit implements store.Store.
func (f *failing) Commit(ctx context.Context, c store.Change) error {
	if f.commits.Add(1) != f.nth {
		return f.Store.Commit(ctx, c)
	}
	if f.after {
		if err := f.Store.Commit(ctx, c); err != nil {
			return err
		}
	}
	return errDisk
}

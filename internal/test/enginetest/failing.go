package enginetest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/elenchus-go/debate/store"
)

var errDisk = errors.New("the disk is full")

// failingStore is a store whose nth commit returns an error, either without or after taking effect.
type failingStore struct {
	store.Store
	failAt      int64
	afterCommit bool
	commits     atomic.Int64
}

// Commit implements store.Store.
func (f *failingStore) Commit(ctx context.Context, c store.Change) error {
	if f.commits.Add(1) != f.failAt {
		return f.Store.Commit(ctx, c)
	}
	if f.afterCommit {
		if err := f.Store.Commit(ctx, c); err != nil {
			return err
		}
	}
	return errDisk
}

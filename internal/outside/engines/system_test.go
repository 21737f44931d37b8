// Package engines shows that engines of workflows that others wrote can drive debates: Temporal and DBOS. Each file has
// what a program needs first, and then the system under test.
package engines

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// do drives one plan of a debate, and reports whether there is more to do. An error means: try again later, on any process.
func do(ctx context.Context, e *debate.Engine, id string) (more bool, err error) {
	d, err := e.Open(ctx, id)
	if err == nil {
		more, err = d.RunOnce(ctx)
	}
	if ended(err) {
		return false, nil
	}
	return more, err
}

// ended reports whether only a person can help. The journal says what happened, so the workflow ends without an error.
func ended(err error) bool {
	_, failed := errors.AsType[*debate.Failure](err)
	_, rejected := errors.AsType[*debate.Problems](err)
	_, damaged := errors.AsType[*store.Damaged](err)
	return failed || rejected || damaged || errors.Is(err, store.ErrNotFound)
}

func newEngine(t testing.TB, o debate.Options, s store.Store) *debate.Engine {
	o.Store = s
	e, err := debate.NewEngine(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	return e
}

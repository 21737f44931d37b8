package crashtest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// RunThroughFailures runs the debate with this ID on a store that fails sometimes, until the debate has ended. It calls
// failed with each error, and then continues the debate with a new engine. It checks that the debate is the same as an
// undisturbed one, and that the calls of a phase are repeated only after an error. It returns the number of errors.
func RunThroughFailures(t *testing.T, s store.Store, id string, failed func(err error)) (failures int) {
	t.Helper()
	var calls atomic.Int64
	model := counted{DigestModel(0), &calls}
	engine := func() *debate.Engine {
		e, err := debate.NewEngine(debate.Options{Store: s, Providers: map[string]providers.Provider{"m": model}})
		require.NoError(t, err)
		return e
	}
	ctx := t.Context()
	step := func() error {
		d, err := engine().Open(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			d, err = engine().Create(ctx, NewConfig(id))
		}
		if err != nil {
			return err
		}
		for {
			for _, err = range d.Run(ctx) {
			}
			if err != nil {
				return err
			}
			status, err := d.Status(ctx)
			if err != nil || status.State.Final() {
				return err
			}
			if err := enginetest.ReplyForPeople(ctx, d, NewConfig(id)); err != nil {
				return err
			}
		}
	}
	for err := step(); err != nil; err = step() {
		failures++
		require.Less(t, failures, 1000, "the last error is %v", err)
		failed(err)
	}
	d, err := engine().Open(ctx, id)
	require.NoError(t, err)
	r, err := d.Result(ctx)
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, r.State)
	require.Equal(t, runInMemory(t, id), debatetest.Text(r))
	require.LessOrEqual(t, int(calls.Load()), len(r.Turns)+failures*len(NewConfig(id).Participants)*2)
	return failures
}

// counted counts the calls of a provider.
type counted struct {
	providers.Provider
	calls *atomic.Int64
}

// Generate implements providers.Provider.
func (c counted) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	c.calls.Add(1)
	return c.Provider.Generate(ctx, r)
}

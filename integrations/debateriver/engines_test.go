package debateriver

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/drivetest"
	"github.com/elenchus-go/debate/store"
)

// River passes the tests of programs that drive debates. Signals need no handling of its own: the commit of a control
// has the job.
func TestDriving(t *testing.T) {
	t.Parallel()
	drivetest.Run(t, func(t testing.TB) drivetest.System {
		s := newTestSchema(t)
		client := s.submitter(t)
		return drivetest.System{
			Store: client.store,
			Start: func(t testing.TB, o debate.Options) drivetest.Process {
				p := s.workerOf(t, o, river.Config{FetchPollInterval: 20 * time.Millisecond})
				return drivetest.Process{Kill: func() {
					ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
					defer cancel()
					require.NoError(t, p.client.StopAndCancel(ctx))
				}}
			},
			Drive: func(t testing.TB, id string) {
				d, err := client.Open(t.Context(), id)
				if err == nil {
					err = d.Start(t.Context())
				}
				_, refused := errors.AsType[*fsm.Refused](err)
				if !refused && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, debate.ErrUnsupported) {
					require.NoError(t, err)
				}
			},
		}
	})
}

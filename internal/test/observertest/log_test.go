package observertest

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// checked is a provider whose check fails.
type checked struct {
	providers.Provider
	kind providers.ErrorKind
}

func (c checked) Check(context.Context, string) error {
	return &providers.Error{Kind: c.kind, Err: errors.New("refused: SECRET TEXT")}
}

// The lines about what happens in the background, where no caller sees an error, have no text of services or of the debate
// either.
func TestTheLogOfTheBackgroundHasNoTexts(t *testing.T) {
	refuse := &model{act: func(context.Context, debate.Step) error {
		return &providers.Error{Kind: providers.Authentication, Err: errors.New("refused: SECRET TEXT")}
	}}
	start := func(t *testing.T, p providers.Provider, o debate.Options) {
		refuse.cfg = pair()
		refuse.cfg.Topic = "SECRET TEXT"
		o.Providers = map[string]providers.Provider{"m": p}
		e := debatetest.Engine(t, o)
		debatetest.Call(t, e.Launch, refuse.cfg)
		time.Sleep(time.Hour)
		require.NoError(t, e.Close(t.Context()))
	}
	for name, tt := range map[string]struct {
		line string
		act  func(*testing.T, debate.Options)
	}{
		"a step that fails": {`"drive debate" debate=d error=authentication`, func(t *testing.T, o debate.Options) { start(t, refuse, o) }},
		"a check that fails": {`"check provider" provider=m error=server_error`, func(t *testing.T, o debate.Options) {
			start(t, checked{refuse, providers.ServerError}, o)
		}},
		"a configuration that is refused": {`"drive debate" debate=d error="wrong fields: participants[0].provider"`, func(t *testing.T, o debate.Options) {
			start(t, checked{refuse, providers.Authentication}, o)
		}},
		"a status that is wrong": {`"replace wrong status" debate=d seq=`, func(t *testing.T, o debate.Options) {
			o.Store = store.Memory()
			start(t, refuse, debate.Options{Store: o.Store})
			status, _, err := o.Store.Load(t.Context(), "d", 0)
			require.NoError(t, err)
			status.MaxRounds++
			require.NoError(t, o.Store.Commit(t.Context(), store.Change{ID: "d", After: status.Seq, Status: status}))
			e := debatetest.Engine(t, o)
			debatetest.Open(t, e, "d")
		}},
	} {
		for _, texts := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var log strings.Builder
					tt.act(t, debate.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), LogTexts: texts})
					require.Equal(t, texts, strings.Contains(log.String(), "SECRET"), log.String())
					if !texts {
						require.Contains(t, log.String(), "msg="+tt.line)
					}
				})
			})
		}
	}
}

// Package evidencetest tests documents of debates: who reads them, and that nobody else does.
package evidencetest

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/canarytest"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// output searches what leaves the engine.
type output struct{ *canarytest.Output }

// A marker in all that is private appears in the requests of its readers, and nowhere else: in no output of a debate of any
// preset.
func TestNoOutputHasAPrivateText(t *testing.T) {
	for name, cfg := range canarytest.Presets() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := canarytest.New(t, cfg)
				o, kept := output{c.Out}, store.Memory()
				c.Options.Store = kept
				e := debatetest.Engine(t, c.Options)
				d := debatetest.Create(t, e, c.Config)
				for ev, err := range d.Run(t.Context()) {
					require.NoError(t, err)
					o.JSON("run", ev)
					if _, ok := ev.(debate.TurnDone); ok {
						list, err := d.Preview(t.Context())
						require.NoError(t, err)
						o.JSON("preview", list)
					}
				}
				o.collect(e, kept, d)
				require.NoError(t, e.Close(t.Context()))
				c.Require(50_000)
				o.quotes(d)
			})
		})
	}
}

// collect adds what the engine, its doors and the store have of a debate, and of a fork.
func (o output) collect(e *debate.Engine, kept store.Store, d *debate.Debate) {
	ctx := o.Context()
	r, err := d.Result(ctx)
	require.NoError(o, err)
	require.Equal(o, "completed", string(r.State))
	o.JSON("result", r)
	for _, t := range r.Turns {
		if t.Kind == transcript.Remark {
			continue
		}
		p, err := d.PromptOf(ctx, t.Key)
		require.NoError(o, err)
		o.JSON("prompt of "+t.Key.String(), p)
		if slices.ContainsFunc(r.Participants, func(x debate.ParticipantStatus) bool { return x.Name == t.Actor }) {
			require.Equal(o, "unknown", p.Match, "%s reads private documents", t.Key)
		}
		require.Nil(o, t.Reasoning, "%s", t.Key)
	}
	fork, err := e.Fork(ctx, d.ID(), r.Turns[len(r.Turns)-1].Seq-1, debate.Edits{ID: "fork"})
	require.NoError(o, err)
	for _, err := range fork.Run(ctx) {
		require.NoError(o, err)
	}
	for _, id := range []string{d.ID(), "fork"} {
		j, err := archive.Export(ctx, kept, id)
		require.NoError(o, err)
		o.JSON("journal", j)
	}
	o.Pages(e, kept, d, "/archive")
}

// quotes checks that the speeches are stored with the verdicts about their quotes of a private document.
func (o output) quotes(d *debate.Debate) {
	r := debatetest.Result(o.T, d)
	for _, turn := range r.Turns {
		if strings.Contains(turn.Text, canarytest.Spoken) && turn.Kind != transcript.Summary {
			require.Len(o, turn.Citations, 2, turn.Key.String())
			require.Equal(o, transcript.Verified, turn.Citations[0].Verdict)
			require.Equal(o, transcript.Altered, turn.Citations[1].Verdict)
		}
	}
}

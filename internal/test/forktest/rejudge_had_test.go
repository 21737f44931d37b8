package forktest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// remarks returns the number of remarks of a debate.
func remarks(t testing.TB, d *debate.Debate) (n int) {
	t.Helper()
	for _, turn := range debatetest.Result(t, d).Turns {
		if turn.Kind == transcript.Remark {
			n++
		}
	}
	return n
}

// A gate that dearer judges reach earlier has the remark that the course would repeat later.
func TestARemarkThatTheCourseWouldRepeat(t *testing.T) {
	cfg := lifeConfig()
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{ByScores: true}, 4
	cfg.Prices = price.Prices{"": {Output: 1e6}}
	cfg.AskAboveCost = 12
	e, m := newEngine(t, cfg)
	m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
		reply.Usage.Output = 1
		if strings.HasPrefix(k.Actor, "new") {
			reply.Usage.Output = 4
		}
	}
	gate := 0
	l := life{decides: func(q *debate.Question) (string, string) { return "edit", "It is dear." }}
	round := func(t *testing.T, d *debate.Debate, ev debate.Event) {
		if s, ok := ev.(debate.StateChanged); ok && s.Question != nil {
			gate = s.Round
		}
	}
	parent := create(t, e, cfg)
	l.finish(t, parent, cfg, round)
	require.Equal(t, 1, remarks(t, parent))
	was := gate
	judges := []debate.Participant{{Name: "new", Provider: "m"}, {Name: "newer", Provider: "m"}}
	d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Judges: judges})
	l.finish(t, d, cfg, round)
	require.Less(t, gate, was)
	require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
	require.Equal(t, 1, remarks(t, d))
	require.NoError(t, d.Verify(t.Context()))
	derivedtest.Require(t, d)

	given := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "given"})
	require.NoError(t, given.Inject(t.Context(), debate.Remark{ID: "cost", From: "Cleo", Text: "Earlier."}))
	l.finish(t, given, cfg, nil)
	require.Equal(t, fsm.Completed, debatetest.Status(t, given).State)
	require.Equal(t, 1, remarks(t, given))
	derivedtest.Require(t, given)
}

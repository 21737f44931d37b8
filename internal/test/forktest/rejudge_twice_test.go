package forktest_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// A rejudged debate that failed, was reset and is judged again begins with what it repeated in its first run.
func TestARejudgedDebateIsResetAndJudgedAgain(t *testing.T) {
	cfg := enginetest.PresetConfigs()["mad"]
	var fails atomic.Bool
	e, m := newEngine(t, cfg)
	m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
		switch {
		case k.Phase != "moderate":
		case fails.Load() && k.Run == 1 && k.Round == 2:
			*reply = scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("no key")}}
		default:
			reply.Text = moderation(k.Round == 3 || k.Run == 2)
		}
	}
	parent := create(t, e, cfg)
	run(t, parent)
	said := debatetest.Result(t, parent).Turns[0].Key
	d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Omit: debate.Omission{Turns: []transcript.Key{said}}, Swap: true})
	fails.Store(true)
	for _, err := range d.Run(context.WithoutCancel(t.Context())) {
		_ = err
	}
	require.Equal(t, fsm.Error, debatetest.Status(t, d).State)
	require.NoError(t, d.Reset(t.Context()))
	run(t, d)
	require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
	twice := rejudge(t, e, "again", debate.Rejudge{ID: "twice"})
	run(t, twice)
	require.True(t, slices.ContainsFunc(events(t, twice)[:debatetest.Status(t, twice).Parent.Seq], func(ev debate.Event) bool { return ev.Meta().Repeats > 0 }))
	n := derivedtest.Require(t, twice)
	require.Positive(t, n.Verdicts[debate.EntryNotDerivable])
	o, _ := options.Load(e)
	j, err := archive.Export(t.Context(), o.(debate.Options).Store, "twice")
	require.NoError(t, err)
	require.NoError(t, archive.Import(t.Context(), store.Memory(), j))
}

// What a step of the first debate was asked depends on rulings that a debate judged twice does not have.
func TestPromptsOfADebateThatIsJudgedTwice(t *testing.T) {
	cfg := judged()["arbitration"]
	topic := func(name string) arbitration.Topic {
		return arbitration.Topic{Name: name, Question: "Is it?", Category: "problem", Advocate: "Yes.", Challenger: "No."}
	}
	cfg.Protocol = arbitration.Protocol{Scores: map[string]float64{"problem": 5}, Topics: []arbitration.Topic{topic("one"), topic("two"), topic("three")}}
	ruling := func(winner string) func(transcript.Key, int, *scripted.Reply) {
		return func(k transcript.Key, _ int, reply *scripted.Reply) {
			if decides(cfg, k) {
				reply.Text = `{"reasoning":"It is clear.","key_points":[],"winner":"` + winner + `","confidence":80}`
			}
		}
	}
	e, m := newEngine(t, cfg)
	m.alter = ruling("advocate")
	parent := create(t, e, cfg)
	run(t, parent)
	m.alter = ruling("challenger")
	run(t, rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again"}))
	twice := rejudge(t, e, "again", debate.Rejudge{ID: "twice"})
	run(t, twice)
	unknown := 0
	for _, turn := range debatetest.Result(t, twice).Turns {
		if len(turn.Attempts) == 0 {
			continue
		}
		p := debatetest.PromptOf(t, twice, turn.Key)
		require.NotEqual(t, "different", p.Match, turn.Key)
		if p.Match == "unknown" {
			require.NotEmpty(t, p.Missing)
			unknown++
		}
	}
	require.Positive(t, unknown)
}

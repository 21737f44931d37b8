package forktest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// total sums what was derived.
type total struct{ prompts, turns, read, debates int }

func (s *total) add(n derivedtest.Count) {
	s.debates++
	s.prompts += n.Prompts
	s.turns += n.Turns
	s.read += n.Read
}

// Every prompt and every reply of every preset, and of debates with people, failures, controls and several attempts, is derived
// from the journal, in their forks too, and no entry is wrong.
func TestEveryPromptAndReplyIsDerived(t *testing.T) {
	var s total
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			e, _ := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			s.add(derivedtest.RequireAll(t, parent))
			half := debatetest.Status(t, parent).Seq / 2
			edited := configAt(t, e, parent, half)
			edited.Topic = "Ban bikes?"
			for _, edits := range []debate.Edits{{ID: "half"}, {ID: "edited", Config: &edited}} {
				d := fork(t, e, half, edits)
				run(t, d)
				s.add(derivedtest.RequireAll(t, d))
			}
		})
	}
	for name, l := range lives() {
		t.Run(name, func(t *testing.T) {
			cfg, e, _, parent := l.lead(t)
			s.add(derivedtest.RequireAll(t, parent))
			d := fork(t, e, debatetest.Status(t, parent).Seq/2, debate.Edits{ID: "fork"})
			l.finish(t, d, cfg, nil)
			s.add(derivedtest.RequireAll(t, d))
		})
	}
	for name, a := range severalAttempts() {
		if a.missing != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a.keep = true
				d, _ := a.debate(t)
				s.add(derivedtest.RequireAll(t, d))
			})
		})
	}
	t.Logf("%d debates: %d of %d prompts, %d of %d replies", s.debates, s.prompts, s.prompts, s.read, s.turns)
	require.Equal(t, s.turns, s.read)
	require.Greater(t, s.prompts, 1000)
}

// Without the replies, the prompts of a debate without invalid ones are derived.
func TestPromptsAreDerivedWithoutReplies(t *testing.T) {
	cfg := lifeConfig()
	e, m := newEngine(t, cfg, func(o *debate.Options) { o.KeepReplies = false })
	m.alter = func(transcript.Key, int, *scripted.Reply) {}
	d := create(t, e, cfg)
	run(t, d)
	n := derivedtest.Require(t, d)
	require.Zero(t, n.Unknown)
	require.Zero(t, n.Read)
	require.Equal(t, len(debatetest.Result(t, d).Turns), n.Prompts)
}

package forktest_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/transcript"
)

// An edited limit does not change a round that began with a silent turn: the participant who is silent in it is not asked in
// another phase of the round.
func TestARoundThatBeganInSilenceIsNotChanged(t *testing.T) {
	cfg := enginetest.PresetConfigs()["panel"]
	cfg.Protocol = panel.Protocol{Format: panel.StructuredRounds}
	other := enginetest.PresetConfigs()["procon"]
	other.Protocol = procon.Protocol{}
	for name, cfg := range map[string]debate.Config{"panel": cfg, "procon": other} {
		t.Run(name, func(t *testing.T) {
			cfg.Limits.MinRounds, cfg.Limits.MaxRounds = 1, 3
			e, _ := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			said := speeches(t, parent)
			first := said[slices.IndexFunc(said, func(x transcript.Turn) bool { return x.Round == 3 })]
			fork(t, e, 0, debate.Edits{ID: "silent", Silent: debate.Omission{Turns: []transcript.Key{first.Key}}})
			cfg.Limits.MaxRounds = 5
			d := debatetest.Fork(t, e, "silent", 0, debate.Edits{ID: "longer", Config: &cfg})
			run(t, d)
			for _, turn := range debatetest.Result(t, d).Turns {
				if turn.Round == 3 && turn.Actor == first.Actor {
					require.Equal(t, first.Key, turn.Key)
				}
			}
		})
	}
}

// Nobody ranks the answer of a member who is silent, and the result says that there is none.
func TestASilentAnswerIsNotRanked(t *testing.T) {
	cfg := enginetest.PresetConfigs()["council"]
	cfg.Protocol = council.Protocol{}
	e, _ := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	d := fork(t, e, 0, debate.Edits{ID: "silent", Silent: debate.Omission{Turns: []transcript.Key{speeches(t, parent)[0].Key}}})
	run(t, d)
	x, err := council.DecodeAnswer(debatetest.Result(t, d).Answer)
	require.NoError(t, err)
	require.Len(t, x.Standings, 3)
	require.Len(t, x.Rankings, 4, "a member whose answer is silent ranks the others")
	for _, k := range x.Rankings {
		require.NotContains(t, k.Best, "A", k.Member)
	}
	require.True(t, strings.HasPrefix(debatetest.Result(t, d).Answer.Text, "A gave no answer."))
}

// A silent participant does not count for the quorum: if only one other would speak, the debate ends.
func TestSilentParticipantsAreNoQuorum(t *testing.T) {
	cfg := three("")
	cfg.Limits.MinRounds, cfg.Limits.StepAttempts = 3, 1
	e, m := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
		if k.Actor == "B" {
			reply.Text, reply.Err = "", &providers.Error{Kind: providers.ServerError, Err: errors.New("it is down")}
		}
	}
	second := slices.IndexFunc(speeches(t, parent), func(x transcript.Turn) bool { return x.Round == 2 })
	for name, c := range map[string]struct {
		silent  debate.Omission
		outcome transcript.Outcome
	}{
		"seat": {debate.Omission{Seats: []string{"A"}}, transcript.QuorumLost},
		"turn": {debate.Omission{Turns: []transcript.Key{speeches(t, parent)[second].Key}}, transcript.RoundLimit},
	} {
		t.Run(name, func(t *testing.T) {
			d := fork(t, e, speeches(t, parent)[second].Seq-1, debate.Edits{ID: name, Silent: c.silent})
			run(t, d)
			require.Equal(t, c.outcome, debatetest.Result(t, d).Ending.Outcome)
			derivedtest.RequireAll(t, d)
		})
	}
}

// Debates of all presets with silent turns, and with silent participants where enough remain, are recorded and verified, and
// their judges can be asked again.
func TestSilentDebatesAreVerifiedAndJudgedAgain(t *testing.T) {
	var seats atomic.Int64 // number of debates with a silent participant
	t.Cleanup(func() { require.NotZero(t, seats.Load()) })
	for name, cfg := range judged() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			said := speeches(t, parent)
			if len(said) == 0 {
				t.Skip("all speeches have contracts")
			}
			middle := said[len(said)/2]
			list := []debate.Edits{
				{ID: "turns", Silent: debate.Omission{Turns: []transcript.Key{said[0].Key, middle.Key}}},
				{ID: "seat", Silent: debate.Omission{Seats: []string{middle.Actor}}},
			}
			for _, edits := range list {
				d, err := e.Fork(t.Context(), "d", middle.Seq, edits)
				if err != nil {
					require.Equal(t, "seat", edits.ID)
					require.Regexp(t, `silent\.seats(: at least two participants must remain|\[0\]: "\w+" replies with the contract)`, err.Error())
					continue
				}
				if edits.ID == "seat" {
					seats.Add(1)
				}
				preview, err := d.Preview(t.Context())
				require.NoError(t, err)
				for _, p := range preview {
					require.NotEqual(t, transcript.Silence, p.Kind)
				}
				run(t, d)
				again := rejudge(t, e, d.ID(), debate.Rejudge{ID: d.ID() + "-again"})
				run(t, again)
				require.Equal(t, outcome(t, d), outcome(t, again))
				for _, d := range []*debate.Debate{d, again} {
					f, err := archive.Record(t.Context(), e, d.ID())
					require.NoError(t, err)
					r, err := archive.Verify(t.Context(), f, debate.Options{})
					require.NoError(t, err)
					require.Zero(t, r.Count(debate.EntryWrong)+r.Count(debate.EntryNotDerivable))
				}
			}
		})
	}
}

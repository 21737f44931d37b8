package forktest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/transcript"
)

// A fork at any entry of any protocol continues as its parent did, and calls the model for each missing step once.
func TestAForkContinuesAsItsParent(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			m.take()
			want, all := outcome(t, parent), keys(debatetest.Result(t, parent).Turns)
			for seq := range status(t, parent).Seq {
				d := fork(t, e, seq+1, debate.Edits{ID: fmt.Sprint("fork-", seq+1)})
				is := status(t, d)
				require.Equal(t, transcript.Parent{ID: cfg.ID, Seq: seq + 1}, is.Parent)
				require.False(t, is.State.Active(), "entry %d: a fork does not run when it is made, but is %s", seq+1, is.State)
				require.Empty(t, m.take())
				stood := keys(debatetest.Result(t, d).Turns)
				run(t, d)
				require.Equal(t, want, outcome(t, d), "entry %d", seq+1)
				var called []string
				for key, requests := range m.take() {
					require.Len(t, requests, 1, key)
					called = append(called, key.String())
				}
				slices.Sort(called)
				require.Equal(t, all, sorted(stood, called), "entry %d", seq+1)
				require.Equal(t, is.Parent, debatetest.Result(t, d).Parent)
			}
			require.Equal(t, want, outcome(t, parent), "the parent does not change")
		})
	}
}

// sorted returns the elements of two lists, sorted.
func sorted(a, b []string) []string {
	return slices.Sorted(slices.Values(slices.Concat(a, b)))
}

// PromptOf rebuilds the request of each step of each protocol, also in a fork.
func TestPromptOfEachStep(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			calls := m.take()
			copied := fork(t, e, 0, debate.Edits{})
			for _, turn := range debatetest.Result(t, parent).Turns {
				if len(turn.Attempts) == 0 {
					continue
				}
				for _, d := range []*debate.Debate{parent, copied} {
					p, err := d.PromptOf(t.Context(), turn.Key)
					require.NoError(t, err)
					require.Equal(t, calls[turn.Key][0], p.Request, turn.Key.String())
					require.Equal(t, turn.Kind, p.Kind)
					require.Empty(t, p.Missing)
					require.NotEmpty(t, p.Templates)
					require.False(t, p.OtherTemplates)
				}
			}
			require.Empty(t, m.take(), "no model is called")
		})
	}
}

package forktest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
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
			sample := enginetest.NewSample(t, 12)
			for _, ev := range events(t, parent) {
				if !sample.Tries(ev.Meta().Type) {
					continue
				}
				seq := ev.Meta().Seq
				d := fork(t, e, seq, debate.Edits{ID: fmt.Sprint("fork-", seq)})
				is := debatetest.Status(t, d)
				require.Equal(t, transcript.Parent{ID: cfg.ID, Seq: seq}, is.Parent)
				require.False(t, is.State.Active(), "entry %d: a fork does not run when it is made, but is %s", seq, is.State)
				require.Empty(t, m.take())
				stood := keys(debatetest.Result(t, d).Turns)
				run(t, d)
				require.Equal(t, want, outcome(t, d), "entry %d", seq)
				var called []string
				for key, requests := range m.take() {
					require.Len(t, requests, 1, key)
					called = append(called, key.String())
				}
				slices.Sort(called)
				require.Equal(t, all, sorted(stood, called), "entry %d", seq)
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
					p := debatetest.PromptOf(t, d, turn.Key)
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

// From any entry of any protocol, a fork with another topic keeps what is committed, and asks for the rest about that topic.
// PromptOf rebuilds the requests before and after the edit.
func TestAnotherTopicFromEachEntry(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			before := m.take()
			sample, list := enginetest.NewSample(t, 12), events(t, parent)
			for _, ev := range list[:len(list)-1] { // with the last entry the debate has ended
				if !sample.Tries(ev.Meta().Type) {
					continue
				}
				seq := ev.Meta().Seq
				edited := configAt(t, e, parent, seq)
				edited.Topic = "Ban bikes?"
				d := fork(t, e, seq, debate.Edits{ID: fmt.Sprint("fork-", seq), Config: &edited})
				stood := map[transcript.Key]string{}
				for _, turn := range debatetest.Result(t, d).Turns {
					stood[turn.Key] = turn.Text
				}
				run(t, d)
				r := debatetest.Result(t, d)
				require.Equal(t, fsm.Completed, r.State, "entry %d", seq)
				after := m.take()
				for _, turn := range r.Turns {
					said, committed := stood[turn.Key]
					asked := after
					if committed {
						asked = before
						require.Equal(t, said, turn.Text)
						require.Empty(t, after[turn.Key], "entry %d: no model is asked for what is committed", seq)
					}
					list := asked[turn.Key]
					require.Len(t, list, 1, turn.Key.String())
					p := debatetest.PromptOf(t, d, turn.Key)
					require.Equal(t, list[0], p.Request, "entry %d, %s", seq, turn.Key)
					if turn.Kind != transcript.Embeddings {
						require.Equal(t, !committed, strings.Contains(text(p.Request), "Ban bikes?"), "entry %d, %s", seq, turn.Key)
					}
				}
			}
		})
	}
}

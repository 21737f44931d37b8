package debatetool_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// planned returns the plan of a debate, a line for each phase.
func planned(t *testing.T, b bench, id string) string {
	t.Helper()
	phases, err := b.Plan(t.Context(), id)
	require.NoError(t, err)
	var lines []string
	for _, p := range phases {
		lines = append(lines, fmt.Sprintf("%s %d/%d %s", p, p.Done, p.Steps, p.State))
	}
	return strings.Join(lines, "\n")
}

// The plan has all phases from the beginning, and follows the debate.
func TestThePlanFollowsTheDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(2)
		c.Protocol = panel.Protocol{Format: panel.RoundLimited}
		b := sit(t, store.Memory(), &model{}, c, debatetool.Options{})
		var plans []string
		for p, err := range b.Stream(t.Context(), ask) {
			require.NoError(t, err)
			plans = append(plans, planned(t, b, p.ID))
		}
		require.Equal(t, strings.TrimSpace(`
Round 1 of at most 2: respond 0/2 in_progress
Round 1 of at most 2: assess 0/1 pending
Round 2 of at most 2: respond 0/2 pending
Round 2 of at most 2: assess 0/1 pending
Conclusion: verdict 0/1 pending`), plans[0])
		require.Equal(t, strings.TrimSpace(`
Round 1 of at most 2: respond 2/2 completed
Round 1 of at most 2: assess 1/1 completed
Round 2 of at most 2: respond 1/2 in_progress
Round 2 of at most 2: assess 0/1 pending
Conclusion: verdict 0/1 pending`), plans[4])
		require.NotContains(t, plans[len(plans)-1], "in_progress")
		require.NotContains(t, plans[len(plans)-1], "pending")
		require.Contains(t, plans[len(plans)-1], "Conclusion: verdict 1/1 completed")
	})
}

// Each protocol has a plan before it begins. When it has ended, each phase of the plan is over and each turn has a phase.
func TestEachProtocolHasAPlan(t *testing.T) {
	refining := debatetest.ShortPanel(2)
	refining.Protocol = refine.Protocol{}
	refining.Participants[0].Role, refining.Participants[1].Role = "architect", "security"
	voting := debatetest.ShortPanel(2)
	voting.Protocol, voting.Judges = vote.Protocol{}, nil
	arguing := debatetest.ShortPanel(2)
	arguing.Protocol = procon.Protocol{}
	arguing.Participants[0].Position, arguing.Participants[1].Position = "Yes.", "No."
	for name, c := range map[string]debate.Config{"refine": refining, "vote": voting, "procon": arguing} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, store.Memory(), &model{}, c, debatetool.Options{})
				first := ""
				id := ""
				for p, err := range b.Stream(t.Context(), ask) {
					require.NoError(t, err)
					id = p.ID
					if first == "" {
						first = planned(t, b, id)
					}
				}
				require.Contains(t, first, "0/")
				require.Equal(t, 1, strings.Count(first, " in_progress"), first)
				out := debatetest.Call(t, b.Run, debatetool.Input{ID: id})
				require.Equal(t, "completed", out.Status)
				phases, err := b.Plan(t.Context(), id)
				require.NoError(t, err)
				done := 0
				for _, p := range phases {
					require.Equal(t, debatetool.PhaseOver, p.State, p)
					done += p.Done
				}
				d, err := b.Open(t.Context(), id)
				require.NoError(t, err)
				require.Len(t, debatetest.Result(t, d).Turns, done)
			})
		})
	}
}

// A debate that ends before its last round leaves nothing open in its plan, and a participant who drops out leaves no phase open.
func TestThePlanOfADebateThatTakesAnotherCourse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(3)
		c.Participants = append(c.Participants, debate.Participant{Name: "Cy", Side: "for"})
		m := &model{say: func(r providers.Request) (string, error) {
			if r.Schema == nil && strings.Contains(r.Messages[0].Text, "You are Cy") {
				return failing(false, providers.ContentFiltered)(r)
			}
			return "", nil
		}}
		b := sit(t, store.Memory(), m, c, debatetool.Options{})
		id := ""
		for p, err := range b.Stream(t.Context(), ask) {
			require.NoError(t, err)
			id = p.ID
			if p.Turn != nil && p.Turn.Round == 2 {
				_, err := b.Stop(t.Context(), id)
				require.NoError(t, err)
			}
		}
		plan := planned(t, b, id)
		require.Contains(t, plan, "Round 1 of at most 3: respond 2/3 completed")
		require.NotContains(t, plan, "Round 3", plan)
		require.NotContains(t, plan, "in_progress")
		require.Contains(t, plan, "Conclusion: verdict 1/1 completed")
	})
}

func TestThePlanOfAStranger(t *testing.T) {
	b := sit(t, store.Memory(), &model{}, debatetest.ShortPanel(2), debatetool.Options{})
	_, err := b.Plan(t.Context(), "none")
	require.ErrorContains(t, err, `there is no debate "none"`)
}

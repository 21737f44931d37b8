package eval_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/estimate"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/store"
)

// The accuracy of a vote of models of known accuracy and correlation is the analytic one, within its interval. So is the
// difference to one answer. Of 20 intervals of 95 %, one misses on average.
func TestVotesHaveTheAnalyticAccuracy(t *testing.T) {
	missed := []string{}
	for _, x := range []struct{ accuracy, common float64 }{{0.7, 0}, {0.7, 0.5}, {0.4, 0}, {0.6, 1}} {
		m := &simulated{accuracy: x.accuracy, common: x.common}
		e := eval.Evaluation{Name: "votes", Tasks: questions(250), Arms: []eval.Arm{samples(t, "single", 1), samples(t, "vote", 5)}}
		p := debatetest.Call(t, e.Run, options(m))
		single := p.Arms[0]
		vote := p.Arms[1]
		equal := p.Arms[2]
		require.Equal(t, "single@vote", equal.Name)
		require.Equal(t, 5.0, equal.Samples, "five single answers use as many tokens as a vote of five")
		want := x.common*x.accuracy + (1-x.common)*majority(x.accuracy, 5)
		for about, i := range map[string]struct {
			want float64
			got  estimate.Interval
		}{
			"single": {x.accuracy, single.Accuracy}, "vote": {want, vote.Accuracy}, "equal": {want, equal.Accuracy},
			"gain": {want - x.accuracy, p.Differences[0].Interval}, "gain over equal": {0, p.Differences[1].Interval},
		} {
			require.True(t, i.got.Known())
			require.InDelta(t, i.want, i.got.Value, 0.1, "%v: %s", x, about)
			if i.got.Low > i.want || i.got.High < i.want {
				missed = append(missed, fmt.Sprintf("%v: %s is %v, want %v", x, about, i.got, i.want))
			}
		}
	}
	require.LessOrEqual(t, len(missed), 2, "%s", missed)
}

func TestStartingAgainMakesNoCall(t *testing.T) {
	m, o := &simulated{accuracy: 0.7}, debate.Options{Store: store.Memory()}
	o.Providers = options(m).Providers
	debaters := debate.Config{Protocol: vote.Protocol{Extract: "{{extract}}"}}
	for _, name := range []string{"Ann", "Ben", "Cem"} {
		debaters.Participants = append(debaters.Participants, debate.Participant{Name: name, Model: "m"})
	}
	e := eval.Evaluation{Name: "again", Tasks: questions(20), Arms: []eval.Arm{samples(t, "single", 1), arm(t, "debate", debaters)}}
	first := debatetest.Call(t, e.Run, o)
	calls := m.total()
	require.Equal(t, 20+20*6+20*5, calls, "a budget of six calls pays for five more single answers")
	again := debatetest.Call(t, e.Run, o)
	require.Equal(t, calls, m.total())
	require.Equal(t, withoutTimes(first), withoutTimes(again))
	stored, err := e.Report(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, again, stored)
	require.Equal(t, calls, m.total())
	require.Len(t, first.Arms[1].Rounds, 2)
	require.Equal(t, 60, first.Arms[1].Rounds[1].Answers)
}

// withoutTimes returns a report without its times.
func withoutTimes(p *eval.Report) *eval.Report {
	q := *p
	q.Arms = append([]eval.ArmResult(nil), p.Arms...)
	for i := range q.Arms {
		q.Arms[i].Latency = 0
	}
	return &q
}

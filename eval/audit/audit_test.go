package audit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

// options returns options with simulated judges, and the judges.
func options(models map[string]simulated) (o debate.Options, calls map[string]*scripted.Provider) {
	o = debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{}}
	calls = map[string]*scripted.Provider{}
	for name, s := range models {
		p := s.provider()
		o.Providers[name], calls[name] = p, p
	}
	return o, calls
}

// Judges read a reference answer, in both orders.
func TestJudgesReadTheReferenceAnswer(t *testing.T) {
	o, calls := options(map[string]simulated{"fair": {accuracy: .8}})
	pairs := pairsOf(2)
	pairs[1].Reference = "It was the butler."
	debatetest.Call(t, (&Audit{Name: "judges", Pairs: pairs, Judges: []Judge{judgeOf("fair")}}).Run, o)
	read := 0
	for _, c := range calls["fair"].Calls() {
		for _, m := range c.Messages {
			if strings.Contains(m.Text, "begin: the reference answer>>>\nIt was the butler.\n<<<") {
				read++
			}
		}
	}
	require.Equal(t, 2, read)
}

// An audit through debates finds what was planted, costs two calls for a pair and variant, and costs nothing when it is run again.
func TestAnAudit(t *testing.T) {
	o, calls := options(map[string]simulated{
		"fair": {accuracy: .8}, "hasty": {accuracy: .8, position: .4, verbosity: .7, unsteady: .5, turns: .4},
	})
	var lines bytes.Buffer
	a := Audit{Name: "judges", Pairs: pairsOf(64), Judges: []Judge{judgeOf("fair"), judgeOf("hasty")}, Plants: Plants, Repeats: 2, Challenge: true, Target: .7, Results: &lines}
	r := debatetest.Call(t, a.Run, o)
	require.Empty(t, r.Incomplete)
	const each = 64 * (2 + 2 + 3*2 + 2) // in both orders: the pairs, their challenges, the plants and a repeat
	require.Len(t, calls["fair"].Calls(), each)
	require.Len(t, calls["hasty"].Calls(), each)

	fair, hasty := r.Judges[0], r.Judges[1]
	require.Empty(t, fair.Biased(), "%v", fair.Biases)
	require.True(t, fair.Accuracy.Low < .8 && fair.Accuracy.High > .8, "%v", fair.Accuracy)
	require.Contains(t, hasty.Biased(), "position +0.")
	require.Contains(t, hasty.Biased(), "verbosity +0.")
	require.NotContains(t, hasty.Biased(), "formatting")
	require.Contains(t, hasty.Biased(), "length -0.", "chance: of 400 such audits with other questions, 6 show a bias by length")
	require.InDelta(t, 1, fair.Consistency.Value, 0)
	require.Less(t, hasty.Consistency.High, .95)
	require.InDelta(t, 0, fair.Turned.Value, 0)
	require.True(t, hasty.Turned.Low < .4 && hasty.Turned.High > .4, "%v", hasty.Turned)
	require.Equal(t, 64, fair.Pairs)
	require.Positive(t, fair.Tokens)
	require.Equal(t, 64, r.Jury.Gold)
	require.NotNil(t, r.Calibration, r.Refused)
	require.Equal(t, 64, strings.Count(lines.String(), "\n"))
	var first agreement.Item
	require.NoError(t, json.NewDecoder(&lines).Decode(&first))
	require.Equal(t, "p0", first.ID)
	require.Len(t, first.Decisions["hasty"], 2)

	again := debatetest.Call(t, a.Run, o)
	require.Equal(t, r, again)
	stored, err := a.Report(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, r, stored)
	require.Len(t, calls["fair"].Calls(), each, "it costs nothing to run it again")

	var page strings.Builder
	require.NoError(t, r.Markdown(&page))
	golden.Require(t, "testdata/report.md", strings.ReplaceAll(page.String(), fair.Prompts, "the hash")) // which changes with any template
	page.Reset()
	require.NoError(t, r.HTML(&page))
	require.Contains(t, page.String(), "Agreement of both orders")
	text, err := json.Marshal(r)
	require.NoError(t, err)
	var back Report
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, *r, back)
}

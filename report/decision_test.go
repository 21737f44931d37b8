package report_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/report"
)

// decided holds what a debate has decided, for programs.
type decided struct {
	Choice     string             `json:"choice,omitempty"`
	Option     int                `json:"option,omitempty"`
	Confidence float64            `json:"confidence,omitempty"`
	Winner     string             `json:"winner,omitempty"`
	Scores     map[string]float64 `json:"scores,omitempty"`
	Votes      map[string]int     `json:"votes,omitempty"`
	Dissent    []string           `json:"dissent,omitempty"`
}

// decisionOf returns what a debate has decided, if it has ended.
func decisionOf(r *report.Report) decided {
	if !r.Result.State.Final() {
		return decided{}
	}
	o := &r.Result.Outcome
	return decided{o.Choice, o.Option, o.Confidence, o.Winner, o.Scores, o.Votes, o.Dissent}
}

// Programs read the decision of each protocol as data.
func TestDecisions(t *testing.T) {
	want := map[string]string{
		"panel":        `{"scores": {"Ada": 6.75, "Bo": 6.375}, "votes": {"Ada": 1, "Bo": 1}, "dissent": ["Jo: Ada won: Ada answered what was asked.", "Jay: Bo won: Bo answered what was asked."]}`,
		"panel-oxford": `{"winner": "for", "votes": {"against": 0, "for": 2, "undecided": 0}}`,
		"article":      `{"winner": "Ada", "scores": {"Ada": 7, "Bo": 6.5, "ليلى": 6.5}, "votes": {"Ada": 2, "Bo": 1}, "dissent": ["Kim: Bo won: Bo answered the question that was asked, with figures that others can check."]}`,
		"evidence":     `{"winner": "Ada", "scores": {"Ada": 8, "Bo": 5}}`,
		"fork":         `{"winner": "Ada", "scores": {"Ada": 8, "Bo": 6}}`,
		"procon":       `{"winner": "Ada", "scores": {"Ada": 8, "Bo": 6}}`,
		"council":      `{"winner": "Bo", "scores": {"Ada": 0, "Bo": 1, "Cy": 0.5}}`,
		"vote":         `{"winner": "Yes", "confidence": 72.5, "votes": {"No": 1, "Yes": 2}}`,
		"mad":          `{"winner": "Bo"}`,
		"oversight":    `{"choice": "Nothing.", "confidence": 75, "scores": {"All of the soup.": 0.25, "Nothing.": 0.75}}`,
		"arbitration":  `{"scores": {"market": 4, "problem": 6.8, "solution": 5}}`,
		"skeptic":      `{"scores": {"answer": 8.5}}`,
		"refine":       `{"confidence": 70}`,
		"waiting":      `{}`,
		"gate":         `{}`,
		"failed":       `{}`,
		"canceled":     `{}`,
	}
	staged(t, func(t *testing.T, name string, s *scene) {
		require.JSONEq(t, want[name], debatetest.Encode(t, decisionOf(s.collect(t))))
	})
}

func TestDecisionsThatAreClose(t *testing.T) {
	opinionOf := func(p string, data any, state fsm.State) decided {
		r := &report.Report{Result: debate.Result{Protocol: p, State: state}}
		r.Result.Answer.Data = json.RawMessage(debatetest.Encode(t, data))
		return decisionOf(concluded(r))
	}
	itself := jury("", opinion("Jo", "Ada", false), opinion("Jo", "Bo", true), opinion("Jay", "", false), opinion("Kim", "Bo", false))
	d := opinionOf(panel.Protocol{}.Name(), itself, fsm.Completed)
	require.Equal(t, map[string]int{"nobody": 2, "Bo": 1}, d.Votes, "Jo contradicts itself, and Jay chose nobody")
	require.Zero(t, opinionOf(panel.Protocol{}.Name(), itself, fsm.Judging), "the debate goes on")

	tie := council.Result{Answer: "Yes.", Standings: []council.Standing{{Member: "Ada", Place: 1, Score: 0.5}, {Member: "Bo", Place: 1, Score: 0.5}}}
	require.Empty(t, opinionOf(council.Protocol{}.Name(), tie, fsm.Completed).Winner)

	own := opinionOf("own/1", judge.Verdict{Summary: "Well.", Winner: "Bo", Dissent: "Ada had figures."}, fsm.Completed)
	require.Equal(t, decided{Winner: "Bo", Dissent: []string{"Ada had figures."}}, own, "a protocol of one's own that ends in a verdict")
	require.Zero(t, opinionOf("own/1", []int{1}, fsm.Completed))
}

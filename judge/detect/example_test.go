package detect_test

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/transcript"
)

// answer returns the text after the first "Answer:" of a turn.
func answer(t transcript.Turn) string {
	_, after, found := strings.Cut(t.Text, "Answer:")
	if !found {
		return ""
	}
	return strings.ToLower(strings.Trim(after, " .*"))
}

func ExampleDetector() {
	w := detect.Detector{
		Topic: "Should cities ban private cars?",
		Rules: []detect.Rule{
			{Signal: detect.Repetitive, Threshold: 0.3, Effect: detect.Stop},
			{Signal: detect.Drifting, Method: "words"},
		},
	}
	w.CheckSpeeches(round(1, "Ann", "Cars make our cities loud and dirty.", "Bob", "People need cars to get to work."), nil)
	for _, f := range w.CheckSpeeches(round(2, "Ann", "As I said: cars make our cities loud and dirty.", "Bob", "Ann forgets who lives far away."), nil) {
		fmt.Println(f)
	}
	// Output:
	// round 2: repetitive: mean overlap with the speaker's earlier turns 0.31 (repetitive from 0.30): Ann 0.62, Bob 0.00
	// round 2: not drifting: mean share of the topic's words in a turn 0.25 (drifting below 0.25): Ann 0.50, Bob 0.00
}

// Check the judges' scores for a round when all judges have replied.
func ExampleDetector_CheckScores() {
	w := detect.Detector{Rules: []detect.Rule{{Signal: detect.Diminishing, Effect: detect.Stop}, {Signal: detect.Drifting}, {Signal: detect.Converged}}}
	w.CheckScores(detect.Scores{Round: 1, Quality: 8, Novelty: 9}, 8, false)
	w.CheckScores(detect.Scores{Round: 2, Quality: 7, Novelty: 6}, 7, false)
	for _, f := range w.CheckScores(detect.Scores{Round: 3, Quality: 6, Novelty: 3}, 6, false) {
		fmt.Println(f)
	}
	// Output:
	// round 3: diminishing returns: quality 8.0, 7.0, 6.0 (trend -1.0 per round), novelty 9.0, 6.0, 3.0 (trend -3.0 per round), consecutive repetitive rounds: 0
	// round 3: not drifting: relevance 6.0 of 10 (drifting below 5.0)
	// round 3: not converged: 0 of 1 judges say that the participants agree on the substance
}

// Ending returns the ending of a debate that stops on a finding.
func ExampleUnanimity() {
	d := detect.Unanimity{Answer: answer}
	fmt.Println(d.Round(round(1, "Ann", "2 and 2 … Answer: 4", "Bob", "Answer: **4**", "Cyd", "I do not know.")))
	f := d.Round(round(2, "Ann", "Answer: 4", "Bob", "Answer: 4.", "Cyd", "Bob is right. Answer: 4"))
	fmt.Println(f)
	fmt.Println(f.Ending().Outcome)
	// Output:
	// round 1: not unanimous: 2 of 3 speakers answer "4"
	// round 2: unanimous: 3 of 3 speakers answer "4"
	// unanimous
}

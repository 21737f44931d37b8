package detect_test

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/transcript"
)

func ExampleRepetition() {
	var d detect.Repetition // one a debate
	d.Round(round(1, "Ann", "Cars make our cities loud and dirty.", "Bob", "People need cars to get to work."))
	f := d.Round(round(2, "Ann", "As I said: cars make our cities loud and dirty.", "Bob", "Not everyone lives near a station."))
	fmt.Println(f)
	// Output: round 2: not repetitive: mean overlap of turns with their speakers' earlier ones 0.31, repetitive from 0.50 on: Ann 0.62, Bob 0.00
}

func ExampleEcho() {
	var d detect.Echo
	d.Round([]detect.Vector{{Of: transcript.Key{Round: 1, Actor: "Ann"}, Values: []float32{0.9, 0.1}}})
	f := d.Round([]detect.Vector{{Of: transcript.Key{Round: 2, Actor: "Ann"}, Values: []float32{0.8, 0.3}}})
	fmt.Println(f.Found, f.Evidence)
	// Output: true mean similarity of turns with their speakers' earlier ones, as cosine, 0.97, repetitive from 0.85 on: Ann 0.97
}

// A debate that stops on a finding returns its ending.
func ExampleDiminishingReturns() {
	var d detect.DiminishingReturns
	d.Round(detect.Scores{Round: 1, Quality: 8, Novelty: 9})
	d.Round(detect.Scores{Round: 2, Quality: 7, Novelty: 6})
	ending := d.Round(detect.Scores{Round: 3, Quality: 6, Novelty: 3}).Ending()
	fmt.Println(ending.Outcome)
	fmt.Println(ending.Evidence)
	// Output:
	// diminishing_returns
	// round 3: diminishing returns: quality 8.0, 7.0, 6.0 (trend -1.0 a round), novelty 9.0, 6.0, 3.0 (trend -3.0 a round), repetitive rounds without a break: 0
}

func ExampleDrift() {
	d := detect.Drift{Topic: "Should cities ban private cars?"}
	fmt.Println(d.Round(round(4, "Ann", "Trams are slow.", "Bob", "And tickets cost too much.")))
	fmt.Println(d.Scored(4, 6)) // or by a judge's score
	// Output:
	// round 4: drifting: mean share of the topic's words in turns 0.00, astray below 0.25: Ann 0.00, Bob 0.00
	// round 4: not drifting: relevance 6.0 of 10, astray below 5.0
}

func ExampleEngagement() {
	d := detect.Engagement{
		Seats: []transcript.Seat{{Name: "Ann"}, {Name: "Bob"}},
		Calls: map[string][]string{"Ann": {"opponent"}, "Bob": {"opponent"}},
	}
	d.Round(round(1, "Ann", "Cars are loud.", "Bob", "Cars are useful."))
	fmt.Println(d.Round(round(2, "Ann", "My opponent forgets the noise.", "Bob", "Cars are fast, too.")))
	// Output: round 2: not disengaged: 1 of 2 turns name or quote an opponent, too few below 0.50; not Bob
}

// verdict is the word after the last "Answer:" of a turn.
func verdict(t transcript.Turn) string {
	_, after, found := strings.Cut(t.Text, "Answer:")
	if !found {
		return ""
	}
	return strings.ToLower(strings.Trim(after, " .*"))
}

func ExampleUnanimity() {
	d := detect.Unanimity{Answer: verdict}
	fmt.Println(d.Round(round(1, "Ann", "2 and 2 … Answer: 4", "Bob", "Answer: **4**", "Cyd", "I do not know.")))
	fmt.Println(d.Round(round(2, "Ann", "Answer: 4", "Bob", "Answer: 4.", "Cyd", "Bob is right. Answer: 4")))
	// Output:
	// round 1: not unanimous: 2 of 3 speakers answer "4"
	// round 2: unanimous: 3 of 3 speakers answer "4"
}

func ExampleConvergence() {
	d := detect.Convergence{Answer: verdict}
	d.Round(round(1, "Ann", "Answer: yes", "Bob", "Answer: yes"))
	fmt.Println(d.Round(round(2, "Ann", "Answer: yes", "Bob", "Answer: Yes.")).Found)
	fmt.Println(d.Judged(2, false)) // or by the judges' flags
	// Output:
	// true
	// round 2: not converged: 0 of 1 judges say that the participants agree on the substance
}

package judge_test

import (
	"fmt"
	"log"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// A turn stores the text and the data of a judge's reply. Decode reads the reply back.
func Example() {
	answer := "Here it is:\n" + `{"summary": "Both agree on the aim.", "winner": "alice", "winner_reasoning": "She showed how.", "quality": 80}`
	r, err := judge.VerdictContract.Parse(answer, []string{"Alice", "Bob"})
	if err != nil {
		log.Fatal(err)
	}
	turn := transcript.Turn{Contract: judge.VerdictContract.Name(), Text: r.Text, Data: r.Data}

	fmt.Println(turn.Text)
	v, err := transcript.Decode[judge.Verdict](turn)
	fmt.Println(v.Winner, v.Quality, err)
	// Output:
	// Both agree on the aim.
	// Winner: Alice
	// Reason: She showed how.
	// Quality of the debate: 80 of 100
	// Alice 80 <nil>
}

// The error for an invalid reply tells a model what to correct.
func Example_invalid() {
	_, err := judge.VerdictContract.Parse(`{"summary": "Nice.", "winner": "Zoe", "quality": 80}`, []string{"Alice", "Bob"})
	fmt.Println(err)
	r, ok := judge.VerdictContract.Default([]string{"Alice", "Bob"})
	fmt.Println(r.Text, ok)
	// Output:
	// parse reply: /winner: "Zoe" is not a participant; the participants are ["Alice" "Bob"]
	// The judge gave no valid verdict. The debate ends without a winner.
	// Quality of the debate: 50 of 100 true
}

package transcript_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/elenchus-go/debate/transcript"
)

// A turn has the key of its step. Decode reads its validated reply into the Go type of the contract.
func Example() {
	t := transcript.Turn{
		Key:      transcript.Key{Run: 1, Round: 2, Phase: "revise", Actor: "Ada"},
		Kind:     transcript.Speech,
		Contract: "vote/1",
		Data:     json.RawMessage(`{"answer": "Canberra", "confidence": 90}`),
	}
	ballot, err := transcript.Decode[struct {
		Answer     string
		Confidence float64
	}](t)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Key, ballot.Answer, ballot.Confidence)
	// Output:
	// 1/2/revise/Ada/ Canberra 90
}

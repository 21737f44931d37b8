package protocol_test

import (
	"fmt"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/transcript"
)

// Next returns the steps that may run now. Apply adds the turn of a step, and Next returns what follows.
func Example() {
	r := &protocol.Record{
		Topic:        "Should cities ban private cars?",
		Cursor:       transcript.Cursor{Run: 1, Round: 1, Stage: transcript.Speech},
		Participants: []transcript.Profile{{Name: "Ada"}, {Name: "Bo"}},
	}
	for {
		steps := protocol.Next(panel.Protocol{}, r)
		if len(steps) == 0 {
			break
		}
		for _, s := range steps {
			fmt.Println(s.Key, "with the prompt", s.Prompt)
			r.Apply(transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, Seq: r.Seq + 1, Text: "I disagree."})
		}
	}
	fmt.Println(len(r.Turns), "turns")
	// Output:
	// 1/1/respond/Ada/ with the prompt free-form
	// 1/1/respond/Bo/ with the prompt free-form
	// 2 turns
}

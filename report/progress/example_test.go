package progress_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/progress"
)

// newDebate returns a debate of two rounds. Scripted models stand in for real ones.
func newDebate(ctx context.Context) (*debate.Debate, error) {
	const judgment = `{"summary": "Ada had figures.", "no_new_arguments": false, "winner": "Ada",
		"participants": [{"name": "Ada", "score": 8}, {"name": "Bo", "score": 6}]}`
	return debate.New(ctx, debate.Config{
		Topic: "Should cities ban private cars?", Protocol: procon.Protocol{}, Limits: debate.Limits{MaxRounds: 2},
		Participants: []debate.Participant{{Name: "Ada", Position: "Yes", Provider: "ada"}, {Name: "Bo", Position: "No", Provider: "bo"}},
		Judges:       []debate.Participant{{Name: "Jo", Provider: "jo"}},
	}, debate.Options{Providers: map[string]providers.Provider{
		"ada": scripted.Text("A parked car takes 12 m².", "Space is scarce."),
		"bo":  scripted.Text("People need them.", "Buses are rare."),
		"jo":  scripted.Text(judgment),
	}})
}

// Print a line when a round or the synthesis starts or ends.
func Example() {
	ctx := context.Background()
	d, err := newDebate(ctx)
	if err != nil {
		log.Fatal(err)
	}
	show := func(m progress.Update) { fmt.Println(m) }
	h := progress.Hooks{Round: show, Synthesis: show}
	for event, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		h.Observe(event)
	}
	// Output:
	// round 1 of 2 starts
	// round 1 of 2 ends
	// round 2 of 2 starts
	// round 2 of 2 ends
	// the synthesis starts
	// the synthesis ends
}

// Print how many steps of each phase of the current round are done, after each turn.
func ExampleHooks_Phases() {
	ctx := context.Background()
	d, err := newDebate(ctx)
	if err != nil {
		log.Fatal(err)
	}
	var h progress.Hooks
	for event, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		h.Observe(event)
		if _, done := event.(debate.TurnDone); !done {
			continue
		}
		for _, phase := range h.Phases() {
			fmt.Printf("%s, round %d: %s %d/%d\n", phase.Stage, phase.Round, phase.Phase, phase.Done, phase.Steps)
		}
	}
	// Output:
	// speech, round 1: argue 1/2
	// speech, round 1: argue 2/2
	// speech, round 2: close 1/2
	// speech, round 2: close 2/2
	// conclusion, round 2: judge 1/1
}

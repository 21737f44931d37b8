package printer_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/printer"
)

func Example() {
	ctx := context.Background()
	model := &scripted.Provider{Replies: []scripted.Reply{{Text: "Streets are for people."}, {Text: "Some people cannot walk."}}}
	d, err := debate.New(ctx, debate.Config{
		Topic:        "Should cities ban private cars?",
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: 1},
	}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		log.Fatal(err)
	}
	p := printer.Printer{Output: os.Stdout, Live: true}
	for event, err := range d.Run(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		p.Show(event)
		if done, ok := event.(debate.TurnDone); ok && done.Turn.Actor == "Bo" {
			break
		}
	}
	// Output:
	// warning: judge Judge uses the same model as Ada and Bo and may favor them
	//
	// == round 1 of 1 ==
	//
	// Ada · respond
	//   Streets are for people.
	//
	// Bo · respond
	//   Some people cannot walk.
}

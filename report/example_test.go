package report_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report"
)

func Example() {
	ctx := context.Background()
	judgment := `{"summary": "Ada had figures.", "no_new_arguments": false, "winner": "Ada",
		"participants": [{"name": "Ada", "score": 8}, {"name": "Bo", "score": 6}]}`
	d, err := debate.New(ctx, debate.Config{
		Topic: "Should cities ban private cars?", Protocol: procon.Protocol{}, Limits: debate.Limits{MaxRounds: 1},
		Participants: []debate.Participant{{Name: "Ada", Position: "Yes", Provider: "ada"}, {Name: "Bo", Position: "No", Provider: "bo"}},
		Judges:       []debate.Participant{{Name: "Jo", Provider: "jo"}},
	}, debate.Options{Providers: map[string]providers.Provider{ // scripted models stand in for real ones
		"ada": scripted.Text("A parked car takes 12 m²."), "bo": scripted.Text("People need them."), "jo": scripted.Text(judgment),
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
	}
	r, err := report.Collect(ctx, d)
	if err != nil {
		log.Fatal(err)
	}
	var page strings.Builder // or a file, or an http.ResponseWriter
	if err := report.HTML(&page, r.Redact()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Summary.Topic)
	fmt.Println(r.Summary.Answer)
	// Output:
	// Should cities ban private cars?
	// Ada won with a score of 8 of 10, against 6 for Bo; the judge is Jo.
}

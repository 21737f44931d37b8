package archive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

// Save a debate as a file, and import it into another store.
func Example() {
	ctx := context.Background()
	judgment := `{"summary": "Ada had figures.", "no_new_arguments": false, "winner": "Ada",
		"participants": [{"name": "Ada", "score": 8}, {"name": "Bo", "score": 6}]}`
	from := store.Memory() // or a database: see store/sqlite and store/postgres
	d, err := debate.New(ctx, debate.Config{
		ID: "cars", Topic: "Should cities ban private cars?", Protocol: procon.Protocol{}, Limits: debate.Limits{MaxRounds: 1},
		Participants: []debate.Participant{{Name: "Ada", Position: "Yes", Provider: "ada"}, {Name: "Bo", Position: "No", Provider: "bo"}},
		Judges:       []debate.Participant{{Name: "Jo", Provider: "jo"}},
	}, debate.Options{Store: from, Providers: map[string]providers.Provider{ // scripted models stand in for real ones
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

	journal, err := archive.Export(ctx, from, "cars")
	if err != nil {
		log.Fatal(err)
	}
	file, err := json.Marshal(journal) // write it to a file with os.WriteFile
	if err != nil {
		log.Fatal(err)
	}

	var read archive.Journal
	if err := json.Unmarshal(file, &read); err != nil {
		log.Fatal(err)
	}
	to := store.Memory()
	if err := archive.Import(ctx, to, &read); err != nil {
		log.Fatal(err)
	}
	engine, err := debate.NewEngine(debate.Options{Store: to})
	if err != nil {
		log.Fatal(err)
	}
	imported, err := engine.Open(ctx, "cars")
	if err != nil {
		log.Fatal(err)
	}
	result, err := imported.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.State)
	fmt.Println(result.Answer.Text)
	// Output:
	// completed
	// Ada had figures.
	// Ada: 8 of 10
	// Bo: 6 of 10
	// Winner: Ada
}

// This program stores a debate in SQLite. It uses the library as a user does, from another module.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store/sqlite"
)

func main() {
	store, err := sqlite.Open("debates.db")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	d, err := debate.New(ctx, debate.Config{
		Topic:        "Should cities ban private cars?",
		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
	}, debate.Options{
		Store:     store,
		Providers: map[string]providers.Provider{"script": scripted.Text("Cars take the space that people need.")},
	})
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if done, ok := event.(debate.TurnDone); ok {
			fmt.Printf("%s: %s\n", done.Turn.Actor, done.Turn.Text)
			break // the rest stays in the file
		}
	}
}

package debateriver_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debateriver"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// A worker runs the debates that other processes submit.
func ExampleAddWorker() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	s, err := debateriver.NewStore(pool, debateriver.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	workers := river.NewWorkers()
	models := map[string]providers.Provider{"m": scripted.Text("Yes.")} // a scripted model instead of a service
	if _, err := debateriver.AddWorker(workers, s, debate.Options{Providers: models}); err != nil {
		log.Fatal(err)
	}
	client, err := river.NewClient(riverpgxv5.New(pool), debateriver.Defaults(&river.Config{Workers: workers}))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	<-client.Stopped()
}

// A program that only submits and watches debates needs a store and an engine, but no worker and no providers.
func ExampleNewStore() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	s, err := debateriver.NewStore(pool, debateriver.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	engine, err := debate.NewEngine(debate.Options{Store: s})
	if err != nil {
		log.Fatal(err)
	}
	d, err := engine.Create(ctx, debate.Config{
		Topic:        "Should cities ban private cars?",
		Participants: []debate.Participant{{Name: "Ada", Provider: "m"}, {Name: "Bo", Provider: "m"}},
		Judges:       []debate.Participant{{Name: "Judge", Provider: "m"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := d.Start(ctx); err != nil {
		log.Fatal(err)
	}
	for event, err := range d.Watch(ctx, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if turn, ok := event.(debate.TurnDone); ok {
			fmt.Println(turn.Turn.Actor, turn.Turn.Text)
		}
	}
}

// Defaults sets the fields that a River client for debates needs.
func ExampleDefaults() {
	c := debateriver.Defaults(&river.Config{})
	fmt.Println(c.Queues[debateriver.Queue].MaxWorkers, c.FetchCooldown, c.RescueStuckJobsAfter)
	// Output: 100 5ms 1m30s
}

package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/sqlite"
)

// The example stores a debate in a file while it runs.
func Example() {
	folder, err := os.MkdirTemp("", "debates")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // temporary files
	s, err := sqlite.Open(filepath.Join(folder, "debates.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	ctx := context.Background()
	engine, err := debate.NewEngine(debate.Options{Store: s, Providers: map[string]providers.Provider{"m": scripted.Text("Yes.")}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = engine.Create(ctx, debate.Config{
		ID: "d1", Topic: "Ban cars?",
		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: []debate.Participant{{Name: "Judge"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for status, err := range engine.List(ctx, store.Query{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(status.ID, status.Topic, status.State)
	}
	// Output: d1 Ban cars? configuring
}

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "debates")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder) //nolint:errcheck // temporary files

	s, err := sqlite.Open(filepath.Join(folder, "debates.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	ctx := context.Background()
	created := store.Change{ID: "d1", Entries: []store.Entry{{Seq: 1, Type: "config"}}, Status: store.Status{ID: "d1", Seq: 1}}
	fmt.Println(s.Commit(ctx, created))
	fmt.Println(s.Commit(ctx, created)) // another process creates the same debate
	// Output:
	// <nil>
	// change debate d1: computed on entry 0, but the journal ends at entry 1
}

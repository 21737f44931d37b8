package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func Example() {
	ctx := context.Background()
	s := store.Memory()
	err := s.Commit(ctx, store.Change{
		ID:      "d1",
		Entries: []store.Entry{{Seq: 1, Type: "config", At: now, Data: map[string]string{"topic": "Ban cars?"}}},
		Status:  store.Status{ID: "d1", Seq: 1, Topic: "Ban cars?", Created: now, Updated: now},
	})
	if err != nil {
		log.Fatal(err)
	}
	status, entries, err := s.Load(ctx, "d1", 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.Topic, status.Seq, entries[0].Type)
	// Output: Ban cars? 1 config
}

// Two writers compute their changes on the same entry. The second one gets a Conflict. It can then load the new entries
// and decide again.
func ExampleConflict() {
	ctx := context.Background()
	s := store.Memory()
	change := store.Change{ID: "d1", Entries: []store.Entry{{Seq: 1, Type: "config"}}, Status: store.Status{ID: "d1", Seq: 1}}
	fmt.Println(s.Commit(ctx, change))
	err := s.Commit(ctx, change)
	if conflict, ok := errors.AsType[*store.Conflict](err); ok {
		fmt.Println("the journal ends at entry", conflict.LastSeq)
	}
	// Output:
	// <nil>
	// the journal ends at entry 1
}

// Before and BeforeID select the next page: the debates that follow the last debate of a page.
func ExampleQuery() {
	ctx := context.Background()
	s := store.Memory()
	for i, id := range []string{"a", "b", "c"} {
		status := store.Status{ID: id, Seq: 1, State: fsm.Completed, Created: now.Add(time.Duration(i) * time.Hour)}
		if err := s.Commit(ctx, store.Change{ID: id, Entries: []store.Entry{{Seq: 1, Type: "config"}}, Status: status}); err != nil {
			log.Fatal(err)
		}
	}
	q := store.Query{States: []fsm.State{fsm.Completed}, Limit: 2}
	for page := 1; page <= 2; page++ {
		for status, err := range s.List(ctx, q) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(page, status.ID)
			q.CreatedBefore, q.BeforeID = status.Created, status.ID
		}
	}
	// Output:
	// 1 c
	// 1 b
	// 2 a
}

func ExampleWatcher() {
	ctx := context.Background()
	s := store.Memory()
	stop := s.(store.Watcher).Watch("d1", func(last int64) { fmt.Println("the journal ends at entry", last) })
	defer stop()
	change := store.Change{ID: "d1", Entries: []store.Entry{{Seq: 1, Type: "config"}}, Status: store.Status{ID: "d1", Seq: 1}}
	if err := s.Commit(ctx, change); err != nil {
		log.Fatal(err)
	}
	// Output: the journal ends at entry 1
}

package storetest

import (
	"testing"

	"github.com/elenchus-go/debate/store"
)

// Place is an empty place for debates, such as a database of its own.
type Place struct {
	// Open opens the place as one more process would, and closes it with the test.
	Open func(t testing.TB) store.Store
	// Damage changes the place behind the back of those who opened it; nil: nothing can.
	Damage *Damage
}

// Damage is what can happen to a database.
type Damage struct {
	DropHead   func(t testing.TB, id string)            // the head is gone
	SpoilHead  func(t testing.TB, id string)            // the head cannot be read
	MoveHead   func(t testing.TB, id string, seq int64) // the head says that the journal ends at another entry
	DropEntry  func(t testing.TB, id string, seq int64) // an entry is gone
	SpoilEntry func(t testing.TB, id string, seq int64) // an entry's data is not what was committed: no JSON, or no object
}

// A test says in its name what a store promises.
type test struct {
	name string
	run  func(t *testing.T, p Place)
}

package storetest

import (
	"testing"

	"github.com/elenchus-go/debate/store"
)

// Backend is an empty place for debates, such as a database of its own.
type Backend struct {
	// Open opens the place as one more process would, and closes it with the test.
	Open func(t testing.TB) store.Store
	// Corruption changes the place behind the back of those who opened it; nil: nothing can.
	Corruption *Corruption
}

// Corruption is what can happen to a database.
type Corruption struct {
	DeleteStatus  func(t testing.TB, id string)            // the head is gone
	CorruptStatus func(t testing.TB, id string)            // the head cannot be read
	SetStatusSeq  func(t testing.TB, id string, seq int64) // the head says that the journal ends at another entry
	DeleteEntry   func(t testing.TB, id string, seq int64) // an entry is gone
	CorruptEntry  func(t testing.TB, id string, seq int64) // an entry's data is not what was committed: no JSON, or no object
}

// A testCase says in its name what a store promises.
type testCase struct {
	name string
	run  func(t *testing.T, p Backend)
}

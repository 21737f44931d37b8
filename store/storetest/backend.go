package storetest

import (
	"testing"

	"github.com/elenchus-go/debate/store"
)

// Backend is an empty storage for debates, such as a new database.
type Backend struct {
	// Open opens the storage as another process would, and closes it when the test ends.
	Open func(t testing.TB) store.Store
	// Corruption damages the storage without the opened stores knowing. It is nil if the storage cannot be damaged.
	Corruption *Corruption
}

// Corruption holds functions that damage the stored data of a debate.
type Corruption struct {
	DeleteStatus  func(t testing.TB, id string)            // deletes the status
	CorruptStatus func(t testing.TB, id string)            // makes the status unreadable
	SetStatusSeq  func(t testing.TB, id string, seq int64) // changes the seq in the status
	DeleteEntry   func(t testing.TB, id string, seq int64) // deletes an entry
	CorruptEntry  func(t testing.TB, id string, seq int64) // replaces an entry's data with invalid JSON or a JSON value that is no object
	// SetEntryField replaces the string at a path, such as "turn.actor", in an entry's data, and the entry's checksum,
	// like somebody who changes the entry on purpose.
	SetEntryField func(t testing.TB, id string, seq int64, path, value string)
	// Rewrite replaces what is stored of an entry by the fields of e, whose Data is a json.RawMessage, and leaves the checksum
	// as it is. It returns false if the storage refuses them, such as text that is not UTF-8. It is nil if the store keeps no
	// checksums.
	Rewrite func(t testing.TB, id string, seq int64, e store.Entry) bool
}

// A testCase tests what its name states.
type testCase struct {
	name string
	run  func(t *testing.T, p Backend)
}

package debate

import (
	"time"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// acceptance is what the last check of the configuration has found.
type acceptance struct {
	valid      bool               // the configuration was accepted and has not changed since
	limited    []Warning          // about replies whose token limits were lowered
	mismatched []Warning          // about windows that were larger than those of the providers
	biased     []Warning          // about judges that an audit found biased
	problems   []protocol.Problem // why the last start was refused
}

// losses are the failures of a debate.
type losses struct {
	failure *Failure // why the debate is in error
	dropped []Dropped
	steps   []*Failure // steps that failed, including those that were retried later
}

// decisions are what a person decides: about failures, and at gates.
type decisions struct {
	question  *Question         // the open question
	made      map[string]string // the answers to questions, by ID
	withdrawn *Failure          // the failure whose actor a person chose to drop
	passed    map[string]bool   // gates that were decided, by name
}

// people holds what the debate waits for people for.
type people struct {
	asked    map[transcript.Key]*Asked   // the steps that people were asked for
	declined map[transcript.Key]*Decided // those to which they give no reply
	replies  map[transcript.Key]string   // hashes of the replies; see replyHash
	held     bool                        // a person holds the debate: replies do not continue it
}

// storedStatus is what only the stored status of a debate has.
type storedStatus struct {
	plan    store.Plan
	awaited []string // the names for whom the debate waits
	driver  store.Heartbeat
}

// times holds when things happened and how long the debate has run.
type times struct {
	created, updated, completed time.Time
	entered                     time.Time // when the current state was entered; a pause does not change it
	running                     time.Duration
	outage                      time.Duration // time since the last turn in which a provider could not be reached; no running time
	roundBegan                  time.Duration // running time at the start of the current round
}

// forkPoint is what a debate is a fork of. It is zero for other debates.
type forkPoint struct {
	transcript.Parent

	idle bool // nobody has started the fork
}

// begins reports whether an event is the first one that the fork does not have from its parent.
func (f forkPoint) begins(ev Event) bool { return f.ID != "" && ev.Meta().Seq == f.Seq+1 }

// put sets a value of a map, which may be nil.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

package rejudging

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Omission names what judges do not see.
type Omission struct {
	Turns     []transcript.Key // speeches and remarks
	Seats     []string         // participants, all of whose turns are left out
	Documents []string         // documents and attachments
}

// isZero reports whether nothing is left out.
func (o *Omission) isZero() bool { return len(o.Turns)+len(o.Seats)+len(o.Documents) == 0 }

// has reports whether a turn is left out.
func (o *Omission) has(t *transcript.Turn) bool {
	return slices.Contains(o.Turns, t.Key) || slices.Contains(o.Seats, t.Actor)
}

// Check returns a problem for each turn, seat and document that cannot be left out of a debate. find returns a turn, and seats and
// documents are all names of participants and of documents.
func (o *Omission) Check(find func(transcript.Key) (transcript.Turn, bool), seats, documents []string) (list []protocol.Problem) {
	add := func(list *[]protocol.Problem, kind string, i int, format string, args ...any) {
		*list = append(*list, protocol.Problemf(fmt.Sprintf("omit.%s[%d]", kind, i), format, args...))
	}
	for i, key := range o.Turns {
		switch t, ok := find(key); {
		case !ok:
			add(&list, "turns", i, "the debate has no turn %s", key)
		case t.Kind != transcript.Speech && t.Kind != transcript.Remark:
			add(&list, "turns", i, "%s is no speech or remark, but a turn of kind %s", key, t.Kind)
		}
	}
	for i, name := range o.Seats {
		if !slices.Contains(seats, name) {
			add(&list, "seats", i, "%q is not a participant", name)
		}
	}
	for i, name := range o.Documents {
		if !slices.Contains(documents, name) {
			add(&list, "documents", i, "the debate has no document or attachment %q", name)
		}
	}
	return list
}

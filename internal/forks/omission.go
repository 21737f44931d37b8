package forks

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// CheckOmission returns a problem for each turn, seat and document that cannot be left out of a debate. find returns a turn, and seats and
// documents are all names of participants and of documents.
func CheckOmission(
	o *journal.Omission, find func(transcript.Key) (transcript.Turn, bool), seats, documents []string,
) (list []protocol.Problem) {
	add := func(list *[]protocol.Problem, kind string, i int, format string, args ...any) {
		*list = append(*list, protocol.Problemf(fmt.Sprintf("omit.%s[%d]", kind, i), format, args...))
	}
	for i, key := range o.Turns {
		t, ok := find(key)
		switch {
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

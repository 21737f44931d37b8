package judge

import (
	"slices"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/transcript"
)

// Swapped is the target of a step in which a judge sees the participants in the opposite order.
const Swapped string = "swapped order"

// Opinion is the reply of one judge in one step, or the combined reply of a jury.
type Opinion[T any] struct {
	Judge   string `json:"judge,omitempty"`   // empty for a jury
	Swapped bool   `json:"swapped,omitempty"` // the judge saw the participants in the opposite order
	Failed  bool   `json:"failed,omitempty"`  // there was no valid reply, and Value is the default
	Value   T      `json:"value"`

	// The next fields are set for a jury only. Opinions are the combined opinions. Dissent lists the judges whose
	// answers differ from the outcome. Disagreement lists where judges differ from one another or from themselves.
	Opinions     []Opinion[T] `json:"opinions,omitempty"`
	Dissent      []string     `json:"dissent,omitempty"`
	Disagreement []string     `json:"disagreement,omitempty"`
}

// Opinions returns the opinions in turns, such as those of one phase, in order. A turn that holds a default or cannot be
// decoded counts as failed. If a turn cannot be decoded, Value is the default of its type.
func Opinions[T any](turns ...transcript.Turn) []Opinion[T] {
	list := make([]Opinion[T], len(turns))
	for i, t := range turns {
		v, err := transcript.Decode[T](t)
		if err != nil {
			v = *new(T)
			if f, ok := any(&v).(reply.Defaulter); ok {
				f.Default(nil)
			}
		}
		failed := err != nil || slices.Contains(t.Flags, transcript.Defaulted)
		list[i] = Opinion[T]{Judge: t.Actor, Swapped: t.Target == Swapped, Failed: failed, Value: v}
	}
	return list
}

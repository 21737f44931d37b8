package judge

import (
	"slices"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/transcript"
)

// Swapped is the target of a step in which a judge sees the participants in the opposite order.
const Swapped string = "swapped order"

// Opinion is what a judge says in one step, or what a bench comes to.
type Opinion[T any] struct {
	Judge   string `json:"judge,omitempty"`   // empty for a bench
	Swapped bool   `json:"swapped,omitempty"` // said with the participants in the opposite order
	Failed  bool   `json:"failed,omitempty"`  // no valid reply came, and Value is what stands in for it
	Value   T      `json:"value"`

	// Of a bench: what was said, whose word differs from the outcome in what, and what judges disagree about, be it
	// with one another or with themselves.
	Opinions     []Opinion[T] `json:"opinions,omitempty"`
	Dissent      []string     `json:"dissent,omitempty"`
	Disagreement []string     `json:"disagreement,omitempty"`
}

// Opinions are what the turns of one phase say, in their order. A turn that is a fallback or cannot be decoded has
// failed; of the latter, Value is the fallback of its type.
func Opinions[T any](turns []transcript.Turn) []Opinion[T] {
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

package debatehttp

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate"
)

// withoutStack returns a failure without its stack, which is for the program's authors.
func withoutStack(f *debate.Failure) *debate.Failure {
	if f == nil || f.Stack == "" {
		return f
	}
	shown := *f
	shown.Stack = ""
	return &shown
}

func withoutStacks(list []*debate.Failure) []*debate.Failure {
	list = slices.Clone(list)
	for i, f := range list {
		list[i] = withoutStack(f)
	}
	return list
}

func questionWithoutStack(q *debate.Question) *debate.Question {
	if q == nil {
		return nil
	}
	shown := *q
	shown.Failure = withoutStack(q.Failure)
	return &shown
}

// shownResult returns a result as clients may see it.
func shownResult(r *debate.Result) *debate.Result {
	r.Failure, r.Question = withoutStack(r.Failure), questionWithoutStack(r.Question)
	return r
}

// shownEvent returns an event as clients may see it.
func shownEvent(ev debate.Event) debate.Event {
	switch ev := ev.(type) {
	case debate.StateChanged:
		ev.Failure = withoutStack(ev.Failure)
		ev.OtherFailures = withoutStacks(ev.OtherFailures)
		ev.Question = questionWithoutStack(ev.Question)
		return ev
	case debate.Dropped:
		ev.Failure, ev.OtherFailures = withoutStack(ev.Failure), withoutStacks(ev.OtherFailures)
		return ev
	case debate.Ended:
		ev.Result = shownResult(ev.Result)
		return ev
	}
	return ev
}

// endedSuffix ends the id of the event Ended, after the seq of the last durable event.
const endedSuffix = "-ended"

// encodeEvent returns an event as a server-sent event. Durable events have an id, so that a viewer who reconnects receives
// each of them exactly once, and so has Ended, so that the viewer learns that there is no more.
func encodeEvent(ev debate.Event) ([]byte, error) {
	data, err := json.Marshal(shownEvent(ev)) // one line, with <, > and & escaped
	if err != nil {
		return nil, err
	}
	meta := ev.Meta()
	if _, ended := ev.(debate.Ended); ended {
		return fmt.Appendf(nil, "id: %d%s\nevent: %s\ndata: %s\n\n", meta.Seq, endedSuffix, meta.Type, data), nil
	}
	if meta.Live {
		return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", meta.Type, data), nil
	}
	return fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", meta.Seq, meta.Type, data), nil
}

package a

import "github.com/elenchus-go/debate"

type done = *debate.TurnDone

type same interface{ debate.Event }

func types(event debate.Event, other any, both same) {
	switch event := event.(type) {
	case *debate.TurnDone: // want `this case never matches: events are values, use debate.TurnDone`
		_ = event
	case debate.Ended, (*debate.Ended): // want `this case never matches: events are values, use debate.Ended`
	case nil:
	}
	switch event.(type) {
	case done: // want `this case never matches: events are values, use debate.TurnDone`
	case interface{ Name() string }:
	}
	_, _ = event.(*debate.Ended) // want `this type assertion never succeeds: events are values, use debate.Ended`
	_ = both.(*debate.Ended)     // want `this type assertion never succeeds: events are values, use debate.Ended`
	_, _ = event.(debate.Ended)

	// A pointer may be in another interface.
	switch other.(type) {
	case *debate.TurnDone:
	}
	_, _ = other.(*debate.Ended)
}

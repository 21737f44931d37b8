// Package program has the mistake that the analyzer finds.
package program

import "github.com/elenchus-go/debate"

// Watched reports what an event is.
func Watched(events []debate.Event) (turns int, ended bool) {
	for _, event := range events {
		switch event.(type) {
		case debate.Chunk:
			continue
		case *debate.TurnDone:
			turns++
		}
	}
	_, ended = events[len(events)-1].(*debate.Ended)
	return turns, ended
}

package debate

import "github.com/elenchus-go/debate/internal/turns"

// rulesNumber is the Number of the rules of this version. Raise it whenever the same journal leads to other prompts, windows,
// pseudonyms or transitions than before. TestTheRulesHaveANumber fails if it was forgotten.
const rulesNumber = 1

func warningsOf(ev Event) (list []Warning) {
	switch ev := ev.(type) {
	case StateChanged:
		return ev.Warnings
	case TurnDone:
		for _, text := range turns.Warnings(&ev.Turn) {
			list = append(list, Warning{
				EventMeta: liveMeta("warning"),
				Key:       ev.Turn.Key,
				Text:      text,
			})
		}
	}
	return list
}

// liveMeta returns the EventMeta of a live event. The event gets its seq when it is shown.
func liveMeta(kind string) EventMeta { return EventMeta{Type: kind, Live: true} }

// restamp returns a live event with the seq of the durable event that was shown before it.
func restamp(ev Event, seq int64) Event {
	if ev.Meta().Seq == seq {
		return ev
	}
	switch ev := ev.(type) {
	case Chunk:
		ev.EventMeta = &EventMeta{
			Type: ev.Type,
			Seq:  seq,
			Live: true,
		}
		return ev
	case TurnStarted:
		ev.Seq = seq
		return ev
	case TurnFailed:
		ev.Seq = seq
		return ev
	case Warning:
		ev.Seq = seq
		return ev
	}
	return ev
}

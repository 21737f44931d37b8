package debateotel

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/elenchus-go/debate"
)

// note is an event for the span of a drive.
type note struct {
	name string
	at   time.Time
	list []attribute.KeyValue
}

// noteOf returns what a drive shows of an event. It returns false if the drive does not show it. A Warning has no time of
// its own: at is used.
func (c content) noteOf(ev debate.Event, at time.Time) (n note, ok bool) {
	switch ev := ev.(type) {
	case debate.StateChanged:
		n = note{name: eventState, at: ev.At, list: []attribute.KeyValue{
			attribute.String(keyFrom, string(ev.From)), attribute.String(keyOn, string(ev.On)), attribute.String(keyTo, string(ev.To)),
			attribute.Int(keyRound, ev.Round),
		}}
		if ev.Ending.Outcome != "" {
			n.list = append(n.list, attribute.String(keyOutcome, clip(string(ev.Ending.Outcome), maxName)))
			if c.texts {
				n.list = append(n.list, attribute.String(keyText, clip(ev.Ending.Evidence, c.most)))
			}
		}
		n.list = append(n.list, failureAttributes(ev.Failure)...)
	case debate.Dropped:
		n = note{name: eventDropped, at: ev.At, list: []attribute.KeyValue{attribute.String(keyParticipant, clip(ev.Name, maxName))}}
		n.list = append(n.list, failureAttributes(ev.Failure)...)
	case debate.Warning:
		n = note{name: eventWarning, at: at, list: []attribute.KeyValue{
			attribute.String(keyStep, clip(ev.Key.String(), maxName)), attribute.String(keyText, clip(ev.Text, maxWarning)),
		}}
	default:
		return n, false
	}
	return n, true
}

func failureAttributes(f *debate.Failure) []attribute.KeyValue {
	if f == nil {
		return nil
	}
	return []attribute.KeyValue{attribute.String(keyStep, clip(f.Key.String(), maxName)), attribute.String(keyError, string(f.Kind))}
}

package debatetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
)

// PairConfig returns the configuration of the usual debate: provider "m" plays the participants A and B, and provider
// "j" the judge J.
func PairConfig(p protocol.Protocol) debate.Config {
	return debate.Config{
		ID: "d", Topic: "Ban cars?", Protocol: p,
		Participants: []debate.Participant{{Name: "A", Side: "for", Provider: "m"}, {Name: "B", Side: "against", Provider: "m"}},
		Judges:       []debate.Participant{{Name: "J", Provider: "j"}},
	}
}

// Run runs d until it ends, stops or fails, and returns its events.
func Run(t testing.TB, d *debate.Debate) (events []debate.Event, err error) {
	t.Helper()
	for ev, err := range d.Run(t.Context()) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

// Result returns the result of d so far.
func Result(t testing.TB, d *debate.Debate) *debate.Result {
	t.Helper()
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	return r
}

// TurnKeys returns the keys of all turns, in order.
func TurnKeys(r *debate.Result) (list []string) {
	for _, turn := range r.Turns {
		list = append(list, turn.Key.String())
	}
	return list
}

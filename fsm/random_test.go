package fsm

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// model is an independent model of the lifecycle: a state, and whether it is paused.
type model struct {
	at     State
	paused bool
}

func (m model) snapshot() Position {
	if m.paused {
		return Position{State: Paused, PausedFrom: m.at}
	}
	return Position{State: m.at}
}

func (m model) fire(e Event, f Facts) (model, bool) {
	switch busy := m.at == Validating || m.at == Initializing || m.at.in(running); {
	case e == Cancel:
		return model{at: Canceled}, !m.at.Final()
	case e == Stop:
		return model{at: Completing}, busy || m.paused
	case e == Resume:
		return model{at: m.at}, m.paused && f.NoOpenQuestion && !f.AwaitsPeople
	case m.paused:
		return m, false
	case e == Pause:
		return model{m.at, true}, busy || m.at == Completing
	case e == Fail:
		return model{at: Error}, busy && m.at != Validating || m.at == Completing
	}
	to := m.work(e, f)
	return model{at: to}, to != ""
}

func (m model) work(e Event, f Facts) State {
	either := func(a bool, then, otherwise State) State {
		if a {
			return then
		}
		return otherwise
	}
	switch string(m.at) + " " + string(e) {
	case "configuring edit", "ready edit", "validating reject", "error reset":
		return Configuring
	case "configuring validate":
		return Validating
	case "validating accept":
		return Ready
	case "error retry":
		return either(f.Recoverable, Ready, "")
	case "ready start":
		return either(f.ValidConfig, Initializing, "")
	case "initializing initialized", "running.round_complete advance":
		return either(f.HasOutcome, Completing, AwaitingResponses)
	case "running.awaiting_responses responded":
		return either(f.AssessmentDue, Judging, RoundComplete)
	case "running.judging assessed":
		return either(f.HasOutcome, Completing, RoundComplete)
	case "completing concluded":
		return Completed
	}
	return ""
}

// TestRandomLivesFollowTheModel draws random sequences of events, facts and restarts.
func TestRandomLivesFollowTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := model{at: Configuring}
		m, err := New(want.snapshot())
		require.NoError(t, err)
		t.Repeat(map[string]func(*rapid.T){
			"fire": func(t *rapid.T) {
				e, f := drawEvent(t, m), factsOf(rapid.Uint8Range(0, 63).Draw(t, "facts"))
				next, ok := want.fire(e, f)
				_, err := fire(m, e, f)
				require.Equal(t, ok, err == nil, "%s: %v", e, err)
				if ok {
					want = next
				}
			},
			"begin again": func(t *rapid.T) {
				m, err = New(m.Position())
				require.NoError(t, err)
			},
			"": func(t *rapid.T) { require.Equal(t, want.snapshot(), m.Position()) },
		})
	})
}

// drawEvent prefers possible events and rarely ends a debate, so that sequences are long.
func drawEvent(t *rapid.T, m *Machine) Event {
	likely := lifecycle().possible(m.Position(), Facts{ValidConfig: true, Recoverable: true, NoOpenQuestion: true})
	if n := slices.Index(likely, Cancel); n > 0 && rapid.IntRange(0, 3).Draw(t, "live on") > 0 {
		likely = slices.Delete(likely, n, n+1)
	}
	if len(likely) > 0 && rapid.IntRange(0, 3).Draw(t, "likely") > 0 {
		return rapid.SampledFrom(likely).Draw(t, "event")
	}
	return rapid.SampledFrom(specEvents).Draw(t, "any event")
}

// FuzzNext compares Next and New with the specification for arbitrary states and events.
func FuzzNext(f *testing.F) {
	for i, c := range spec {
		f.Add(string(at(c.from).State), string(at(c.from).PausedFrom), c.on, uint8(i))
	}
	f.Add("running.", "\x00", "%s", uint8(255))
	f.Fuzz(func(t *testing.T, state, left, event string, bits uint8) {
		s := Position{State(state), State(left)}
		e := Event(event)
		facts := factsOf(bits)
		want, ok := expect(s, e, facts)
		got, err := Next(s, e, facts)
		require.Equal(t, ok, err == nil)
		require.Equal(t, want, got)
		if !ok {
			require.ErrorAs(t, err, new(*Refused))
			require.NotEmpty(t, err.Error())
		}
		_, err = New(s)
		require.Equal(t, slices.Contains(everySnapshot(), s), err == nil)
	})
}

package forks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

func seat(name string) transcript.Key {
	return transcript.Key{Run: 1, Round: 1, Phase: "speech", Actor: name}
}

func step(name string) *protocol.Step {
	return &protocol.Step{Key: seat(name), Kind: transcript.Speech}
}

func TestWhatIsSilent(t *testing.T) {
	var none forks.Silent
	require.Nil(t, none.Fork(3, nil, nil))
	l := none.Fork(5, []transcript.Key{seat("Ann")}, nil).Fork(3, nil, []string{"Bob"})
	require.Equal(t, forks.Silent{{From: 3, Turns: []transcript.Key{seat("Ann")}}, {From: 3, Seats: []string{"Bob"}}}, l)
	require.True(t, l.Has(3, step("Ann")))
	require.True(t, l.Has(9, step("Bob")))
	require.False(t, l.Has(2, step("Bob")))
	require.False(t, l.Has(9, step("Eve")))
	formal := step("Bob")
	formal.Contract = "ballot"
	require.False(t, l.Has(9, formal), "the protocol counts on its values")

	require.Equal(t, []string{"Ann"}, l.Remaining(3, []string{"Ann", "Bob"}))
	p := protocol.Phase{Name: "speech", Steps: []protocol.Step{{Key: transcript.Key{Actor: "Ann"}}, {Key: transcript.Key{Actor: "Eve"}}}}
	rules := forks.WithSilence(phasesOf{p}, l)
	at := transcript.Cursor{Run: 1, Round: 1, Stage: transcript.Speech}
	require.Equal(t, []string{"Ann"}, silentIn(rules, &protocol.Record{Seq: 5, Cursor: at}))
	require.Empty(t, silentIn(rules, &protocol.Record{Seq: 2, Cursor: at}), "the fork begins later")
	at.Stage = transcript.Conclusion
	require.Empty(t, silentIn(rules, &protocol.Record{Seq: 5, Cursor: at}))
	require.Empty(t, p.Steps[0].Kind, "the phases of the protocol do not change")
}

// silentIn returns the actors of the steps that are silent.
func silentIn(p protocol.Protocol, r *protocol.Record) (names []string) {
	for _, s := range p.Phases(r)[0].Steps {
		if s.Kind == transcript.Silence {
			names = append(names, s.Actor)
		}
	}
	return names
}

func TestTwoMustSpeak(t *testing.T) {
	rules := forks.WithSilence(phasesOf{}, forks.Silent{{From: 3, Seats: []string{"Bob"}}})
	r := &protocol.Record{Seq: 3, Participants: []transcript.Profile{{Name: "Ann"}, {Name: "Bob"}, {Name: "Eve"}}}
	require.Empty(t, rules.Check(r))
	r.Drop("Eve")
	require.Equal(t, []protocol.Problem{{Field: "participants", Reason: "1 of them speak, at least two must"}}, rules.Check(r))
	r.Drop("Bob")
	require.Empty(t, rules.Check(r), "nobody is silent")
}

func TestWhatCannotBeSilent(t *testing.T) {
	turns := map[string]*transcript.Turn{
		"Ann": {Kind: transcript.Speech}, "Bob": {Kind: transcript.Speech, Contract: "ballot"}, "Jo": {Kind: transcript.Assessment}, "lost": nil,
	}
	find := func(k transcript.Key) (*transcript.Turn, bool) { t, has := turns[k.Actor]; return t, has }
	require.Equal(t, []protocol.Problem{
		{Field: "silent.turns[1]", Reason: "1/1/speech/Bob/ has the contract ballot, and the protocol counts on its values"},
		{Field: "silent.turns[2]", Reason: "1/1/speech/Jo/ is no speech, but a turn of kind assessment"},
		{Field: "silent.turns[4]", Reason: "the debate has no turn 1/1/speech/Eve/"},
	}, forks.CheckSilentTurns([]transcript.Key{seat("Ann"), seat("Bob"), seat("Jo"), seat("lost"), seat("Eve")}, find))

	formal := *step("Bob")
	formal.Contract = "ballot"
	steps := []protocol.Step{*step("Ann"), formal}
	all := []string{"Ann", "Bob", "Cy"}
	require.Empty(t, forks.CheckSilentSeats([]string{"Ann"}, all, []string{"Bob", "Cy"}, steps))
	require.Empty(t, forks.CheckSilentSeats(nil, all, nil, steps))
	require.Equal(t, []protocol.Problem{
		{Field: "silent.seats[0]", Reason: `"Bob" replies with the contract ballot, and the protocol counts on its values`},
		{Field: "silent.seats[1]", Reason: `"Eve" is not a participant`},
		{Field: "silent.seats", Reason: "at least two participants must remain, but there are 1: leave out turns instead"},
	}, forks.CheckSilentSeats([]string{"Bob", "Eve"}, all, []string{"Cy"}, steps))
}

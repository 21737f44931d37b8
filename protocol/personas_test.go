package protocol_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// persona returns a valid persona with the given name.
func persona(name string) protocol.Persona {
	return protocol.Persona{Name: name, Persona: name + " the brave", Position: name + "'s claim", KeyArguments: []string{name + "'s reason"}}
}

func personas(names ...string) protocol.Personas {
	var p protocol.Personas
	for _, n := range names {
		p.Personas = append(p.Personas, persona(n))
	}
	return p
}

func TestPersonasAreForEachParticipantOnce(t *testing.T) {
	names := []string{"Ann", "Bob"}
	for _, tt := range []struct {
		name   string
		spoken []string
		want   []string
	}{
		{"each once", []string{"Ann", "Bob"}, nil},
		{"in another order", []string{"Bob", "Ann"}, nil},
		{"one is missing", []string{"Ann"}, []string{"personas: Bob has 0 entries; give exactly one"}},
		{"one twice", []string{"Ann", "Bob", "Ann"}, []string{"personas: Ann has 2 entries; give exactly one"}},
		{"a stranger", []string{"Ann", "Bob", "Zoe"}, []string{`personas: "Zoe" is not a participant; the participants are Ann, Bob`}},
		{
			"everything at once",
			[]string{"Zoe", "Bob", "Bob"},
			[]string{
				`personas: "Zoe" is not a participant; the participants are Ann, Bob`,
				"personas: Ann has 0 entries; give exactly one", "personas: Bob has 2 entries; give exactly one",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := personas(tt.spoken...)
			require.Equal(t, tt.want, p.Check(names))
		})
	}
}

func TestPersonasAreReadFromAReply(t *testing.T) {
	const ann = `{"name":"Ann","persona":"Ann the brave","position":"Ann's claim","key_arguments":["Ann's reason"]}`
	for _, tt := range []struct {
		name, reply, fault string
	}{
		{"a good one", `{"personas":[` + ann + `]}`, ""},
		{"for nobody", `{"personas":[]}`, "/personas: minimum 1 items required, but found 0 items"},
		{"for someone else", `{"personas":[` + ann + `,{"name":"Zoe","persona":"p","position":"q","key_arguments":["r"]}]}`, `personas: "Zoe" is not a participant; the participants are Ann`},
		{
			"with nothing in it",
			`{"personas":[{"name":"Ann","persona":"","position":"","key_arguments":[]}]}`,
			"/personas/0/key_arguments: minimum 1 items required, but found 0 items; /personas/0/persona: length must be >= 1, but got 0; " +
				"/personas/0/position: length must be >= 1, but got 0",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := protocol.PersonasContract.Parse(tt.reply, []string{"Ann"})
			if tt.fault != "" {
				require.EqualError(t, err, "parse reply: "+tt.fault)
				return
			}
			require.NoError(t, err)
			require.JSONEq(t, tt.reply, string(r.Data))
			require.Equal(t, "Ann: Ann the brave\nPosition: Ann's claim", r.Text)
		})
	}
	require.Equal(t, "personas/1", protocol.PersonasContract.Name())
}

func TestPersonasText(t *testing.T) {
	p := personas("Ann", "Bob")
	require.Equal(t, "Ann: Ann the brave\nPosition: Ann's claim\nBob: Bob the brave\nPosition: Bob's claim", p.Text())
	require.Empty(t, new(protocol.Personas).Text())
}

// The default must follow its own contract.
func TestPersonasFallBackToTwoSides(t *testing.T) {
	var names []string
	for n := range 16 {
		names = append(names, fmt.Sprint("participant ", n))
		r, ok := protocol.PersonasContract.Default(names)
		require.True(t, ok, "for %d", n+1)
		p, err := transcript.Decode[protocol.Personas](transcript.Turn{Contract: protocol.PersonasContract.Name(), Data: r.Data})
		require.NoError(t, err)
		require.Len(t, p.Personas, len(names))
		for i, x := range p.Personas {
			require.Equal(t, names[i], x.Name)
			require.NotEmpty(t, x.Persona)
			require.NotEmpty(t, x.KeyArguments)
			require.Equal(t, []string{"In favour of the topic", "Against the topic"}[i%2], x.Position)
		}
	}
	p := personas("left", "from", "before")
	p.Default(names[:2])
	require.Len(t, p.Personas, 2)
}

func TestCastingFillsWhatWasNotSetByHand(t *testing.T) {
	given := persona("a")
	for _, tt := range []struct {
		name string
		seat transcript.Profile
		want transcript.Profile
	}{
		{
			"nothing was set",
			transcript.Profile{Name: "a"},
			transcript.Profile{Name: "a", Persona: given.Persona, Position: given.Position, KeyArguments: given.KeyArguments},
		},
		{
			"a position",
			transcript.Profile{Name: "a", Position: "mine"},
			transcript.Profile{Name: "a", Persona: given.Persona, Position: "mine", KeyArguments: given.KeyArguments},
		},
		{
			"a persona",
			transcript.Profile{Name: "a", Persona: "me"},
			transcript.Profile{Name: "a", Persona: "me", Position: given.Position, KeyArguments: given.KeyArguments},
		},
		{
			"key arguments",
			transcript.Profile{Name: "a", KeyArguments: []string{"my reason"}},
			transcript.Profile{Name: "a", Persona: given.Persona, Position: given.Position, KeyArguments: []string{"my reason"}},
		},
		{
			"all",
			transcript.Profile{Name: "a", Persona: "me", Position: "mine", KeyArguments: []string{"my reason"}},
			transcript.Profile{Name: "a", Persona: "me", Position: "mine", KeyArguments: []string{"my reason"}},
		},
		{
			"what casting never gives stays",
			transcript.Profile{Name: "a", Role: "r", Side: "s", Instructions: "i", Persona: "me", Position: "mine"},
			transcript.Profile{Name: "a", Role: "r", Side: "s", Instructions: "i", Persona: "me", Position: "mine", KeyArguments: given.KeyArguments},
		},
		{
			"a participant without an assigned persona",
			transcript.Profile{Name: "z"},
			transcript.Profile{Name: "z"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := in(transcript.Setup, 0)
			j.Participants = []transcript.Profile{tt.seat, {Name: "b"}}
			before, seats := j.Participants, slices.Clone(j.Participants)
			require.True(t, j.Apply(castingTurn(t, j, personas("b", "a"))))
			require.Equal(t, tt.want, j.Participants[0])
			require.Equal(t, "b the brave", j.Participants[1].Persona)
			require.Equal(t, seats, before, "the original profiles do not change")
		})
	}
}

func castingTurn(t *testing.T, j *journal, p protocol.Personas) transcript.Turn {
	t.Helper()
	data, err := json.Marshal(p)
	require.NoError(t, err)
	return transcript.Turn{
		Key:  transcript.Key{Run: 1, Phase: "personas", Actor: protocol.PersonaAssigner},
		Kind: transcript.Setup, Seq: j.Seq + 1, Contract: "personas/1", Data: data,
	}
}

func TestCastingIsDoneOnceAndByItsContractOnly(t *testing.T) {
	j := in(transcript.Setup, 0)
	turn := castingTurn(t, j, personas("a"))

	other := turn
	other.Key.Target, other.Contract = "another contract", "verdict/1"
	require.True(t, j.Apply(other))
	require.Empty(t, j.Participants[0].Persona)

	broken := turn
	broken.Key.Target, broken.Data = "broken", json.RawMessage(`{"personas":3}`)
	require.True(t, j.Apply(broken), "the turn is added, and the profiles do not change")
	require.Empty(t, j.Participants[0].Persona)

	require.True(t, j.Apply(turn))
	require.Equal(t, "a the brave", j.Participants[0].Persona)
	j.Participants[0].Persona = ""
	require.False(t, j.Apply(turn))
	require.Empty(t, j.Participants[0].Persona, "a duplicate does nothing")
}

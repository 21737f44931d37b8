package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/transcript"
)

func TestAnEditKeepsWhatWasAssigned(t *testing.T) {
	was := journal.Participant{Name: "Ann", Role: "economist", Persona: "calm", Instructions: "Be brief."}
	p := was.Profile()
	p.Role = "an assigned role"
	p.Persona = "an assigned one"
	p.KeyArguments = []string{"one"}
	now := was
	now.Position = "yes"
	editProfile(&p, &was, &now)
	require.Equal(t, transcript.Profile{
		Name:         "Ann",
		Role:         "an assigned role",
		Position:     "yes",
		Persona:      "an assigned one",
		KeyArguments: []string{"one"},
		Instructions: "Be brief.",
	}, p, "what did not change stays")
	now.Persona = "angry"
	editProfile(&p, &was, &now)
	require.Equal(t, "angry", p.Persona)
	require.Nil(t, p.KeyArguments)
}

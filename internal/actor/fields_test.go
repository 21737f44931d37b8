package actor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func TestFieldsOfActors(t *testing.T) {
	require.Equal(t, "judges[1]", actor.Field("judges", 1))
	require.Equal(t, "participants[17]", actor.Field("participants", 17))
	for field, want := range map[string]string{
		"judges[0]": "Jo", "substitutes[3]": "substitutes", "persona_assigner": protocol.PersonaAssigner,
		"summarizer": protocol.Summarizer, "retriever": protocol.Retriever, "embedder": protocol.Embedder,
	} {
		require.Equal(t, want, actor.NameIn(field, "Jo"))
	}
	require.True(t, actor.MakesNoText(protocol.Embedder))
	require.False(t, actor.MakesNoText("Jo"))
	require.True(t, actor.KnownName("ann", []string{"Ann"}))
	require.True(t, actor.KnownName(protocol.Summarizer, nil))
	require.False(t, actor.KnownName("Bob", []string{"Ann"}))
}

func TestTheProfileOfAnActor(t *testing.T) {
	was := actor.Settings{Name: "Ann", Role: "economist", Persona: "calm", Instructions: "Be brief.", Model: "m", MaxTokens: 5}
	p := was.Profile()
	require.Equal(t, transcript.Profile{Name: "Ann", Role: "economist", Persona: "calm", Instructions: "Be brief."}, p)
	require.Equal(t, providers.Request{Model: "m", MaxTokens: 5}, was.Request())

	p.Persona, p.KeyArguments, p.Role = "an assigned one", []string{"one"}, "an assigned role"
	is := was
	is.Position = "yes"
	is.Edit(&p, &was)
	require.Equal(t, transcript.Profile{Name: "Ann", Role: "an assigned role", Position: "yes", Persona: "an assigned one", KeyArguments: []string{"one"}, Instructions: "Be brief."}, p, "what did not change stays")
	is.Persona = "angry"
	is.Edit(&p, &was)
	require.Equal(t, "angry", p.Persona)
	require.Nil(t, p.KeyArguments)
}

func TestNamesOfActorsAreUnique(t *testing.T) {
	all := func(yield func(string, actor.Settings) bool) {
		_ = yield("participants[0]", actor.Settings{Name: "Ann"}) && yield("participants[1]", actor.Settings{Name: " Bob"}) &&
			yield("judges[0]", actor.Settings{Name: "ann"}) && yield("judges[1]", actor.Settings{Name: protocol.Summarizer}) && yield("summarizer", actor.Settings{Name: "a/b"})
	}
	require.Equal(t, []protocol.Problem{
		{Field: "participants[1].name", Reason: `" Bob" is not valid, use a name without leading or trailing blanks`},
		{Field: "judges[0].name", Reason: `"ann" is taken by participants[0]`},
		{Field: "judges[1].name", Reason: `"summarizer" is taken by a system actor`},
	}, actor.CheckNames(all))
}

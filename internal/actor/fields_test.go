package actor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/protocol"
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

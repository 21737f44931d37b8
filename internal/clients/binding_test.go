package clients_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/providers"
)

func TestProvidersAreFoundByName(t *testing.T) {
	one := clients.Providers{"a": clients.Person{}}
	two := clients.Providers{"a": clients.Person{}, "b": clients.Person{}}
	for _, x := range []struct {
		list              clients.Providers
		name, bound, fail string
	}{
		{one, "a", "a", ""},
		{one, "", "a", ""},
		{one, "c", "", `"c" is unknown, use one of a`},
		{two, "", "", "it is empty, use one of a, b"},
		{two, clients.Templates, clients.Templates, ""},
		{two, actor.Human, actor.Human, ""},
		{nil, "a", "", "the engine has no providers, set Options.Providers"},
	} {
		bound, p, err := x.list.Bind(x.name)
		require.Equal(t, x.bound, bound)
		if x.fail != "" {
			require.EqualError(t, err, x.fail)
			continue
		}
		require.NoError(t, err)
		require.NotNil(t, p)
	}
}

func TestWhoGivesReplies(t *testing.T) {
	list := clients.Providers{"a": clients.Person{}}
	name, person := list.Identify("")
	require.Equal(t, "a", name)
	require.True(t, person)
	name, person = list.Identify("unknown")
	require.Equal(t, "unknown", name)
	require.False(t, person)
	_, person = list.Identify(clients.Templates)
	require.False(t, person)
	_, err := clients.Person{}.Generate(t.Context(), providers.Request{})
	require.ErrorContains(t, err, "a person replies with Debate.Answer")
}

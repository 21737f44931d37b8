package vertex_test

import (
	"fmt"

	"golang.org/x/oauth2"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/clouds/vertex"
)

// The token source usually comes from google.DefaultTokenSource with vertex.Scope. Both participants use the same provider.
func Example() {
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "…"})
	models, err := vertex.New(vertex.Config{Project: "my-project", Location: "global", TokenSource: source, Model: "gemini-2.5-flash"})
	if err != nil {
		panic(err)
	}
	cfg := debate.Config{Participants: []debate.Participant{
		{Name: "Ada", Provider: "vertex"},
		{Name: "Bo", Provider: "vertex", Model: "claude-sonnet-4-5@20250929"},
	}}
	options := debate.Options{Providers: map[string]providers.Provider{"vertex": models}}
	fmt.Println(len(cfg.Participants), "participants,", len(options.Providers), "provider")
	// Output: 2 participants, 1 provider
}

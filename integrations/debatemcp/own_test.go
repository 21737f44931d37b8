package debatemcp_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// A guess holds the reply that a protocol of a user asks for.
type guess struct {
	Value float64 `json:"value" jsonschema_description:"your guess"`
}

func (g *guess) Text() string { return fmt.Sprint(g.Value) }

// A protocol of a user, which is a table, is offered like those of the library, and its outcome is the answer.
func TestAProtocolOfAUserIsOffered(t *testing.T) {
	contract := reply.New[guess]("guess/1")
	guesses := protocol.Flow{
		Title: "guesses/1",
		Seats: protocol.Seats{Participants: protocol.Range{Least: 2}},
		Stages: []protocol.Stage{
			{Kind: transcript.Speech, Name: "guess", Prompt: "guess", Contract: contract, Parallel: true, Show: protocol.Remarks},
		},
		Settings: protocol.Defaults{MaxRounds: 1},
		Finds: func(r *protocol.Record, _ protocol.Answer) (o protocol.Outcome) {
			said := r.Said(transcript.Speech, "guess")
			for _, turn := range said {
				g, err := transcript.Decode[guess](turn)
				if err == nil {
					o.SetScore(turn.Actor, g.Value)
				}
			}
			if len(said) > 0 {
				o.Sentence = fmt.Sprintf("There were %d guesses", len(o.Scores))
			}
			return o
		},
	}
	model := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: `{"value": 7}`} }}
	e := debatetest.Engine(t, debate.Options{
		Providers: map[string]providers.Provider{"m": model},
		Protocols: []protocol.Protocol{guesses},
		Contracts: []*reply.Contract{contract},
		Prompts: fstest.MapFS{"guess.tmpl": {
			Data: []byte(`{{define "system"}}{{template "debater" .}}{{end}}Guess. {{template "reply-format" .}}`),
		}},
	})
	t.Cleanup(func() { debatetest.Kill(e) })
	s, err := debatemcp.NewServer(e, debatemcp.Options{Tools: debatetool.Options{Presets: map[string]debatetool.Preset{"guesses": {
		Config: debate.Config{Protocol: guesses, Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}},
	}}}})
	require.NoError(t, err)
	c := inMemory(t, s, nil)
	tools, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Contains(t, debatetest.Encode(t, tools.Tools), "guesses")
	out, text := c.call(t, "debate", map[string]any{"topic": "How many bicycles are there?"})
	require.Equal(t, "completed", out.Status)
	require.Contains(t, text, "There were 2 guesses.")
	require.Equal(t, map[string]float64{"Ada": 7, "Bo": 7}, out.Scores)
}

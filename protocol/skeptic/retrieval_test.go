package skeptic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// The event of the retrieval names the documents that the proposer sees, and no others.
func TestTheRetrievalNamesTheDocumentsThatAreUsed(t *testing.T) {
	const found = `{"documents": [{"title": "One", "text": "first"}, {"title": "Two", "text": "second"}, {"title": "Three", "text": "third"}]}`
	for _, tt := range []struct {
		count int
		used  []string
	}{{1, []string{"One"}}, {2, []string{"One", "Two"}}, {0, []string{"One", "Two", "Three"}}, {8, []string{"One", "Two", "Three"}}} {
		t.Run(fmt.Sprint(tt.count), func(t *testing.T) {
			var prompts []providers.Request
			models := map[string]providers.Provider{
				"library": &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: found} }},
				"model": &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
					prompts = append(prompts, r)
					return scripted.Reply{Text: "So."}
				}},
			}
			d, err := debate.New(t.Context(), debate.Config{
				Topic: "Why?", Protocol: skeptic.Protocol{Templates: tt.count}, Retriever: debate.Participant{Provider: "library"},
				Participants: []debate.Participant{{Name: "Ann", Provider: "model"}, {Name: "Bob", Provider: "model"}},
				Judges:       []debate.Participant{{Name: "Eve", Provider: "model"}},
				Limits:       debate.Limits{MinRounds: 1, MaxRounds: 1},
			}, debate.Options{Providers: models})
			require.NoError(t, err)
			var event debate.TurnDone
			var result *debate.Result
			for e, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				switch e := e.(type) {
				case debate.TurnDone:
					if e.Turn.Phase == "retrieval" {
						event = e
					}
				case debate.Ended:
					result = e.Result
				}
			}
			require.Equal(t, "Documents used: "+strings.Join(tt.used, "; "), event.Turn.Text)
			data, err := transcript.Decode[skeptic.Documents](event.Turn)
			require.NoError(t, err)
			var titles []string
			for _, doc := range data.Documents {
				titles = append(titles, doc.Title)
				require.Contains(t, prompts[0].Messages[0].Text+prompts[0].Messages[len(prompts[0].Messages)-1].Text, doc.Text, "the proposer sees it")
			}
			require.Equal(t, tt.used, titles)
			var trace skeptic.Trace
			require.NoError(t, json.Unmarshal(result.Answer.Data, &trace))
			require.Equal(t, tt.used, trace.Templates)
		})
	}
}

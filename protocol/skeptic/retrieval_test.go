package skeptic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
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

// Documents may be larger than what the token limit supposes before they are retrieved. The debate then
// fails, because nobody has spoken.
func TestDocumentsThatAreLargerThanSupposedFailTheDebate(t *testing.T) {
	run := func(size, limit int) (*debate.Result, error) {
		var docs skeptic.Documents
		for i := range size / 100 {
			if i%80 == 0 {
				docs.Documents = append(docs.Documents, skeptic.Document{Title: fmt.Sprint("Part ", i)})
			}
			docs.Documents[len(docs.Documents)-1].Text += strings.Repeat("Consider it ", 8) + "now."
		}
		found, err := json.Marshal(docs)
		require.NoError(t, err)
		d, err := debate.New(t.Context(), debate.Config{
			Topic: "Why?", Protocol: skeptic.Protocol{Templates: 8}, Retriever: debate.Participant{Provider: "library"},
			Participants: []debate.Participant{{Name: "Ann", Provider: "model"}, {Name: "Bob", Provider: "model"}},
			Judges:       []debate.Participant{{Name: "Eve", Provider: "model"}},
			Limits:       debate.Limits{MinRounds: 1, MaxRounds: 1, Tokens: limit},
		}, debate.Options{Providers: map[string]providers.Provider{
			"library": library(found),
			"model":   &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "So."} }},
		}})
		if err != nil {
			return nil, err
		}
		for _, err := range d.Run(t.Context()) {
			if err != nil {
				return nil, err
			}
		}
		return d.Result(t.Context())
	}
	least := 1_000
	for ; ; least += 100 { // the least limit with which a debate begins
		_, err := run(100, least)
		if err == nil {
			break
		}
		require.ErrorContains(t, err, "limits.tokens: too small for the first phase")
		require.Less(t, least, 100_000)
	}
	for size, fails := range map[int]bool{1_000: false, 20_000: true, 64_000: true} {
		r, err := run(size, least)
		if fails { // nobody has spoken
			require.ErrorContains(t, err, "tokens are used, and up to", size)
		} else {
			require.NoError(t, err)
			require.Equal(t, fsm.Completed, r.State, size)
			require.LessOrEqual(t, r.Total.Usage.Input+r.Total.Usage.Output, least, size)
		}
		r, err = run(size, 10*least)
		require.NoError(t, err)
		require.Equal(t, transcript.RoundLimit, r.Ending.Outcome, "%d: %s", size, r.Ending.Evidence)
	}
}

// library is a retriever that always finds the same. As usual for retrievers, it reports no usage.
type library string

func (l library) Generate(context.Context, providers.Request) (providers.Response, error) {
	return providers.Response{Text: string(l), FinishReason: providers.Stop}, nil
}

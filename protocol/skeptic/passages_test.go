package skeptic_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// The texts of the documents: the passage that fits the topic is far behind.
var (
	minutes = strings.Repeat("The council met and heard the mayor on the budget of the year.\n", 40) +
		"Ferry: in 2019 the ferry carried 41,200 bicycles across the harbour, twice as many as in 2012.\n" +
		strings.Repeat("The council adjourned.\n", 40)
	letter = "Nobody may know that the ferry loses money with each of the bicycles across the harbour."
)

// retrieved runs a skeptic debate and returns it with the requests to the proposer.
func retrieved(t *testing.T, p skeptic.Protocol, documents ...evidence.Document) (*debate.Debate, []providers.Request) {
	t.Helper()
	proposer := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Text: `More ferries: <quote source="2">the ferry carried 41,200 bicycles</quote> in 2019.`}
	}}
	d := debatetest.New(t, debate.Config{
		ID: "d", Topic: "Does the harbour need another ferry for bicycles?", Protocol: p, Documents: documents,
		Participants: []debate.Participant{{Name: "Ann", Provider: "proposer"}, {Name: "Bob", Provider: "model"}},
		Judges:       []debate.Participant{{Name: "Eve", Provider: "model"}},
		Limits:       debate.Limits{MinRounds: 1, MaxRounds: 1},
	}, debate.Options{
		Providers: map[string]providers.Provider{
			"proposer": proposer,
			"model":    &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "So."} }},
		},
		Documents: func(context.Context, string, map[string]string, evidence.Document) (string, error) {
			return letter, nil
		},
	})
	debatetest.Finish(t, d)
	return d, proposer.Calls()
}

// With documents, the proposer's prompt shows the passages that fit the topic, apart from the reasoning templates and with the
// numbers of their sources. A private document is not searched: the retrieval is public.
func TestTheRetrievalFindsPassagesOfTheDocuments(t *testing.T) {
	rules, told := evidence.Shared("rules.md", "Speak in turn."), evidence.Shared("minutes.md", minutes)
	d, calls := retrieved(t, skeptic.Protocol{Templates: 1}, rules, told, evidence.Private("letter.md", letter, "Bob"))
	system := calls[0].Messages[0].Text
	at := strings.Index(system, "### Source [2], minutes.md")
	require.Positive(t, at)
	passage := system[at:]
	passage = passage[:strings.Index(passage, "\n<<<")]
	require.Contains(t, passage, "41,200 bicycles")
	require.Less(t, len(passage), 2000)
	require.NotContains(t, system, letter)
	require.Contains(t, system, "reasoning templates were retrieved for the topic")
	require.Equal(t, 1, strings.Count(system, "### Template "))
	require.NotContains(t, system[:at][strings.Index(system, "### Template "):], "minutes.md\n\nThe council", "passages are no templates")

	r := debatetest.Result(t, d)
	trace, err := skeptic.DecodeAnswer(r.Answer)
	require.NoError(t, err)
	require.Equal(t, []int{2}, trace.Sources)
	require.Len(t, trace.Templates, 1)
	for _, turn := range r.Turns {
		require.NotContains(t, string(turn.Data), letter)
		switch turn.Phase {
		case "passages":
			require.Equal(t, "Documents used: minutes.md", turn.Text)
			require.Equal(t, "bm25/1", turn.Attempts[0].Model)
		case "propose":
			require.Equal(t, []transcript.Citation{{Source: 2, Quote: "the ferry carried 41,200 bicycles", Verdict: transcript.Verified}}, turn.Citations)
		}
		p := debatetest.PromptOf(t, d, turn.Key)
		require.Empty(t, p.Missing)
		if turn.Phase == "propose" {
			require.Equal(t, calls[0].Messages, p.Request.Messages)
		}
	}
	for c, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		require.NotEqual(t, debate.EntryWrong, c.Verdict, "entry %d: %s", c.Seq, c.Reason)
	}
	golden.Require(t, "testdata/passages.golden", system)
}

// Without shared documents, and with a negative number of templates, nothing is searched.
func TestNoPassages(t *testing.T) {
	for name, tt := range map[string]struct {
		protocol  skeptic.Protocol
		documents []evidence.Document
	}{
		"no documents":      {},
		"a private one":     {documents: []evidence.Document{evidence.Private("letter.md", letter, "Ann", "Bob", "Eve")}},
		"no retrieval":      {skeptic.Protocol{Templates: -1}, []evidence.Document{evidence.Shared("minutes.md", minutes)}},
		"nothing that fits": {documents: []evidence.Document{evidence.Shared("rules.md", "Speak softly.")}},
	} {
		t.Run(name, func(t *testing.T) {
			d, calls := retrieved(t, tt.protocol, tt.documents...)
			require.NotContains(t, calls[0].Messages[0].Text, "### Source")
			require.NotContains(t, calls[0].Messages[0].Text, "following passages")
			r := debatetest.Result(t, d)
			trace, err := skeptic.DecodeAnswer(r.Answer)
			require.NoError(t, err)
			require.Empty(t, trace.Sources)
			for _, turn := range r.Turns {
				require.False(t, turn.Phase == "passages" && name != "nothing that fits", name)
			}
		})
	}
}

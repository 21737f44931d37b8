package entrylist_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/entrylist"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func TestWhatIsWrongWithATurn(t *testing.T) {
	paid := transcript.Usage{Input: 3, Cost: 0.5}
	turn := &transcript.Turn{Attempts: []transcript.Attempt{{Usage: paid}}}
	free := paid
	free.Cost = 0
	broken := errors.New("the text differs")
	for name, x := range map[string]struct {
		found step.Reread
		want  string
	}{
		"nothing":          {step.Reread{Fits: true, Costs: []transcript.Usage{paid}}, ""},
		"another window":   {step.Reread{Missing: []string{"one"}}, "its window is not how the history fits into the prompt"},
		"an old counter":   {step.Reread{Missing: []string{"one", "two"}, Costs: []transcript.Usage{paid}}, ""},
		"another request":  {step.Reread{Fits: true, Differs: []int{2}}, "the request of its call 2 has another hash"},
		"another reply":    {step.Reread{Fits: true, Wrong: broken}, "the text differs"},
		"another cost":     {step.Reread{Fits: true, Costs: []transcript.Usage{free}}, "the cost of its call 1 is 0.5, want 0"},
		"the first reason": {step.Reread{Differs: []int{1}, Wrong: broken}, "its window is not how the history fits into the prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := entrylist.WrongTurn(turn, &x.found); x.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, x.want)
			}
		})
	}
	require.NoError(t, entrylist.WrongTurn(&transcript.Turn{Flags: []transcript.Flag{transcript.Edited}}, &step.Reread{Differs: []int{1}}),
		"a person gave it")
}

func TestNamesInABlindPrompt(t *testing.T) {
	m := judge.NewPseudonyms([]string{"Annabel", "Robert"}, "seed", "Jo", false)
	found := &step.Reread{Request: providers.Request{Messages: []providers.Message{{Text: "Nobody."}, {Text: "Then Annabel said no."}}, Schema: []byte(`{"title":"Robert"}`)}}
	require.Equal(t, []string{`message 2: "Annabel said no."`, `schema: "Robert\"}"`}, entrylist.NamesIn(m, found))
}

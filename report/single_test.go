package report_test

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report"
)

// One answer of one model is no vote, and its report does not speak of one.
func TestOneAnswer(t *testing.T) {
	for answer, want := range map[string]string{"42": "The answer is “42”; confidence 70 of 100.", "": "No answer."} {
		model := &scripted.Provider{Func: scripted.Values{"answer": answer, "confidence": 70, "reasoning": "I counted."}.Reply}
		d := debatetest.New(t, debate.Config{
			ID: "one", Topic: "What is 6 times 7?", Protocol: vote.Protocol{Samples: 1}, Participants: []debate.Participant{{Name: "Ann"}},
		}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
		debatetest.Finish(t, d)
		r := debatetest.Call(t, report.Collect, d)
		require.Len(t, model.Calls(), 1)

		tally, err := vote.DecodeAnswer(r.Result.Answer)
		require.NoError(t, err)
		require.True(t, tally.Single)
		require.Empty(t, tally.Decision)
		require.Equal(t, "Ann", tally.Agents[0].Name)
		require.Nil(t, r.Decision().Votes)
		require.Equal(t, answer, r.Decision().Winner)

		var md, html bytes.Buffer
		require.NoError(t, report.Markdown(&md, r))
		require.NoError(t, report.HTML(&html, r))
		for _, text := range []string{r.Result.Answer.Text, md.String(), html.String()} {
			// The name of the protocol and those of its prompts and replies are facts about how the debate ran.
			require.NotRegexp(t, `(?i)\bvot|unanim|majority|agents`, regexp.MustCompile(`vote[/-]\w+`).ReplaceAllString(text, ""))
		}
		require.Contains(t, md.String(), want)
		require.Contains(t, md.String(), "One answer")
	}
}

package debatetool_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
)

// A model that has forgotten the id of a debate finds the debate by its topic.
func TestDebatesAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.Memory()
		ann := sit(t, s, &model{}, debatetest.ShortPanel(2), debatetool.Options{Labels: map[string]string{"user": "ann"}})
		bob := sit(t, s, &model{}, debatetest.ShortPanel(2), debatetool.Options{Labels: map[string]string{"user": "bob"}})
		for _, question := range []string{"Ban cars?", "Tax cars?", "Drink tea?"} {
			debatetest.Call(t, ann.Run, debatetool.Input{Topic: question, ID: strings.ToLower(question[:3]) + "-1"})
			time.Sleep(time.Second)
		}
		debatetest.Call(t, bob.Start, debatetool.Input{Topic: "Ride cars?"})
		questions := func(text string, limit int) (list []string) {
			found, err := ann.List(t.Context(), text, limit)
			require.NoError(t, err)
			for _, o := range found {
				list = append(list, o.Topic)
			}
			return list
		}
		require.Equal(t, []string{"Drink tea?", "Tax cars?", "Ban cars?"}, questions("", 20))
		require.Equal(t, []string{"Tax cars?", "Ban cars?"}, questions(" CARS ", 20))
		require.Equal(t, []string{"Tax cars?"}, questions("cars", 1))
		require.Equal(t, []string{"Ban cars?"}, questions("ban-", 20), "by the id")
		require.Empty(t, questions("trains", 20))
		found, err := ann.List(t.Context(), "tax", 20)
		require.NoError(t, err)
		require.Equal(t, "completed", found[0].Status)
		require.Equal(t, "round limit in round 2", found[0].Outcome)
		require.Positive(t, found[0].Tokens)
		require.Empty(t, found[0].Turns)
		running, err := bob.List(t.Context(), "", 20)
		require.NoError(t, err)
		require.Len(t, running, 1, "those with other labels are not listed")
		require.Equal(t, "running", running[0].Status)
	})
}

// Programs read what a debate has decided as data.
func TestTheDecisionIsData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(2)
		c.Prices = price.Prices{"": {Input: 1, Output: 2}}
		b := sit(t, store.Memory(), offline.Model(false), c, debatetool.Options{})
		out := debatetest.Call(t, b.Run, debatetool.Input{Topic: "Ban cars?"})
		require.Equal(t, "Ban cars?", out.Topic)
		require.Contains(t, []string{"Ada", "Bo"}, out.Winner)
		require.Len(t, out.Scores, 2)
		require.Positive(t, out.Tokens)
		require.Positive(t, out.Cost)
		require.False(t, out.Created.IsZero())
		status := debatetest.Call(t, sit(t, store.Memory(), &model{}, c, debatetool.Options{}).Start, debatetool.Input{Topic: "Tax cars?"})
		require.Empty(t, status.Winner, "it has not ended")
	})
}

// An answer of a model in the votes is one short line without characters that nobody sees.
func TestAnswersInVotesAreShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := `{"answer": "Yes\n\u202e<<<1 end>>>\u0007 ` + strings.Repeat("really ", 40) + `", "confidence": 60, "reasoning": "So."}`
		m := &model{say: func(providers.Request) (string, error) { return long, nil }}
		b := sit(t, store.Memory(), m, debate.Config{Protocol: vote.Protocol{}, Participants: debatetest.ShortPanel(2).Participants, Limits: debate.Limits{MaxRounds: 1}}, debatetool.Options{})
		out := debatetest.Call(t, b.Run, debatetool.Input{Topic: "Ban cars?"})
		require.Regexp(t, `^Yes <<<1 end>>> really .*…$`, out.Winner)
		require.Len(t, []rune(out.Winner), 121)
		require.Equal(t, map[string]int{out.Winner: 2}, out.Votes)
	})
}

// What only those who write programs can do is not told to the models and people who use the tools.
func TestFailuresSayWhatTheCallerCanDo(t *testing.T) {
	for kind, want := range map[providers.ErrorKind]string{
		providers.Authentication: "refuses the server's key. Only those who run this server", providers.Billing: "does not serve the server's account", providers.InvalidRequest: "has no such model",
		providers.OutOfMemory: "too little memory", providers.ContentFiltered: "Put the topic in other words",
		providers.ServerError: "Try again later",
	} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := debatetest.ShortPanel(2)
				c.Retries = map[providers.ErrorKind]int{kind: 0}
				b := sit(t, store.Memory(), &model{say: failing(false, kind)}, c, debatetool.Options{})
				out := debatetest.Call(t, b.Run, ask)
				require.Equal(t, "failed", out.Status)
				require.Contains(t, out.Text(), want)
				require.NotRegexp(t, `Options|Retry|Edit|Limits|NumCtx`, out.Text())
			})
		})
	}
	e, err := debate.NewEngine(debate.Options{})
	require.NoError(t, err)
	set, err := debatetool.New(e, debatetool.Options{})
	require.NoError(t, err)
	_, err = set.Run(t.Context(), ask)
	require.ErrorContains(t, err, "- participants[0].provider: the engine has no providers\n")
	require.NotContains(t, err.Error(), "Options")
}

package middleware_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// If a model fails, the engine makes the next attempt, with the same model for a participant and with a substitute for a judge.
// Middleware measures each attempt.
func TestTheEngineRetriesAndSubstitutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := &middleware.Meter{}
		wrap := func(p providers.Provider) providers.Provider {
			return middleware.Wrap(p, meter.Measure, middleware.Concurrency(1),
				middleware.RateLimit(middleware.PerMinute{Requests: 60}), middleware.Timeout(middleware.Timeouts{}))
		}
		says := func(text string) func(providers.Request) scripted.Reply {
			return func(providers.Request) scripted.Reply { return scripted.Reply{Text: text} }
		}
		speaker := &scripted.Provider{
			Replies: []scripted.Reply{{Text: "I was say", Err: &providers.Error{Kind: providers.Network}}}, Func: says("So it is."),
		}
		broken := &scripted.Provider{Replies: fails(providers.Authentication)}
		other := &scripted.Provider{Func: scripted.Values{}.Reply}
		d, err := debate.New(t.Context(), debate.Config{
			Topic:        "Should cities ban private cars?",
			Participants: []debate.Participant{{Name: "Ada", Provider: "speaker", Model: "a"}, {Name: "Bo", Provider: "speaker", Model: "a"}},
			Judges:       []debate.Participant{{Name: "Judge", Provider: "broken", Model: "b"}},
			Substitutes:  []debate.Participant{{Provider: "other", Model: "c"}},
		}, debate.Options{Providers: map[string]providers.Provider{"speaker": wrap(speaker), "broken": wrap(broken), "other": wrap(other)}})
		require.NoError(t, err)

		turns := map[string]transcript.Turn{}
		for event, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			done, ok := event.(debate.TurnDone)
			if ok {
				turns[done.Turn.Actor] = done.Turn
			}
			if ok && done.Turn.Actor == "Judge" {
				break
			}
		}
		require.Equal(t, []string{"a network", "a "}, attempts(turns["Ada"]), "the text of a broken stream is discarded")
		require.Equal(t, "So it is.", turns["Ada"].Text)
		require.Equal(t, []string{"b authentication", "c "}, attempts(turns["Judge"]))
		require.Contains(t, turns["Judge"].Flags, transcript.Substituted)

		models := meter.Metrics().Models
		require.Equal(t, 1, models["a"].Errors[providers.Network])
		require.Equal(t, 1, models["b"].Errors[providers.Authentication])
		require.Equal(t, 1, models["c"].Calls)
		require.Empty(t, models["c"].Errors)
	})
}

// attempts returns the model and the kind of error of each attempt.
func attempts(t transcript.Turn) (list []string) {
	for _, a := range t.Attempts {
		list = append(list, a.Model+" "+a.ErrorKind)
	}
	return list
}

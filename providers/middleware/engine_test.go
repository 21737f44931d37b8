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

// If a stream breaks off, the engine discards its text, and the retry starts with the alternative.
func TestTheEnginesRetryBeginsWithTheAlternative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := &middleware.Meter{}
		first := &scripted.Provider{Replies: []scripted.Reply{{Text: "I was say", Err: &providers.Error{Kind: providers.Network}}}}
		second := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "So it is."} }}
		p := middleware.Wrap(first, meter.Measure,
			middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{Provider: second, Model: "b"}}}),
			middleware.Concurrency(1), middleware.RateLimit(middleware.PerMinute{Requests: 60}), middleware.Timeout(middleware.Timeouts{}))
		d, err := debate.New(t.Context(), debate.Config{
			Topic:        "Should cities ban private cars?",
			Participants: []debate.Participant{{Name: "Ada", Model: "a"}, {Name: "Bo", Model: "a"}},
			Judges:       []debate.Participant{{Name: "Judge", Model: "a"}},
		}, debate.Options{Providers: map[string]providers.Provider{"some": p}})
		require.NoError(t, err)

		var turn transcript.Turn
		for event, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			if done, ok := event.(debate.TurnDone); ok {
				turn = done.Turn
				break
			}
		}
		require.Equal(t, "So it is.", turn.Text)
		require.Len(t, turn.Attempts, 2)
		require.Equal(t, "a", turn.Attempts[0].Model)
		require.Equal(t, "network", turn.Attempts[0].ErrorKind)
		require.Equal(t, "b", turn.Attempts[1].Model)
		require.Len(t, first.Calls(), 1, "it rests")
		require.Equal(t, 1, meter.Metrics().Models["a"].Errors[providers.Network])
		require.Equal(t, 1, meter.Metrics().Models["b"].Calls)
	})
}

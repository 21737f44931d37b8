package step

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// The wait before a retry is between a second and a bound that doubles, but never shorter than the service asks for.
func TestWaitsKeepTheirBounds(t *testing.T) {
	for _, after := range []time.Duration{0, 20 * time.Second, 90 * time.Second} {
		for nth, most := range []time.Duration{2, 4, 8, 16, 32, 60, 60, 60, 60} {
			least, most := max(minBackoff, after), max(most*time.Second, after)
			drawn := map[time.Duration]bool{}
			for range 200 {
				d := backoff(&providers.Error{RetryAfter: after}, nth+1)
				require.GreaterOrEqual(t, d, least)
				require.LessOrEqual(t, d, most)
				drawn[d] = true
			}
			require.Equal(t, least < most, len(drawn) > 1, "waits are drawn if there is a choice")
		}
	}
}

// Each kind of error has its own number of retries, which the plan may change. Each is counted apart.
func TestRetriesByKind(t *testing.T) {
	for kind, n := range journal.DefaultRetries() {
		for _, own := range []int{-1, 0, 1, 4} {
			t.Run(fmt.Sprint(kind, own), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return failing(kind) }}
					r := newRun(t, model)
					r.Plan.Prompt.Shorten, r.Plan.Limits.Attempts = false, 99
					r.Plan.Retries = map[providers.ErrorKind]int{"another": 7}
					if own >= 0 {
						n = own
						r.Plan.Retries[kind] = own
					}
					_, err := do(t, r, &recorder{})
					var f *journal.Failure
					require.ErrorAs(t, err, &f)
					require.Equal(t, kind, f.Kind)
					require.Equal(t, n+1, f.Attempts)
					require.Len(t, model.Calls(), n+1)
				})
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		model := &scripted.Provider{}
		for range 3 {
			model.Replies = append(model.Replies, failing(providers.Network), failing(providers.ServerError))
		}
		_, err := do(t, newRun(t, model), &recorder{})
		var f *journal.Failure
		require.ErrorAs(t, err, &f)
		require.Equal(t, 6, f.Attempts, "the third of the kind that has two retries")
	})
}

// Substitutes, repeated requests and shortened prompts all count as attempts of one step.
func TestAStepMakesNoMoreAttemptsThanItMay(t *testing.T) {
	fails := failing(providers.ServerError)
	for name, tt := range map[string]struct {
		attempts int
		say      scripted.Reply
		want     string // providers in the order of calls
	}{
		"retries":                         {3, fails, "j j j"},
		"retries and substitutes":         {6, fails, "j j j j s s"},
		"enough for all":                  {14, fails, "j j j j s s s s u u u u"},
		"no call beside the first":        {1, fails, "j"},
		"a reply is not asked again":      {1, scripted.Reply{Text: "What?"}, "j"},
		"a reply is asked again once":     {5, scripted.Reply{Text: "What?"}, "j j s s u"},
		"a prompt is not shortened again": {3, failing(providers.ContextOverflow), "j j s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var called []string
				model := func(name string) Model {
					return Model{Provider: name, Window: 10000, Room: 9000, Client: providerFunc(func(
						ctx context.Context, r providers.Request,
					) (providers.Response, error) {
						called = append(called, name)
						return (&scripted.Provider{Replies: []scripted.Reply{tt.say}}).Generate(ctx, r)
					})}
				}
				r := newRun(t, nil)
				judging(r)
				list := append(r.Plan.Prompt.Messages[:2:2], r.Plan.Prompt.Messages[4]) // one turn, which can be cut once
				list[1].Text = list[1].Text[:1000]
				r.Plan.Prompt.Messages = list
				r.Plan.Model, r.Plan.Substitutes = model("j"), []Model{model("s"), model("u")}
				r.Plan.Limits = Limits{Attempts: tt.attempts, Time: time.Hour}
				r.Plan.Retries = map[providers.ErrorKind]int{providers.ServerError: 3}
				_, err := do(t, r, &recorder{})
				require.Error(t, err)
				require.Equal(t, tt.want, strings.Join(called, " "))
			})
		})
	}
}

// A reply that was cut is asked for with a higher limit, once.
func TestACutReplyGetsMoreRoom(t *testing.T) {
	cut := providers.Response{Text: `{"winner":`, FinishReason: providers.Length}
	var limits []int
	r := newRun(t, providerFunc(func(_ context.Context, q providers.Request) (providers.Response, error) {
		limits = append(limits, q.MaxTokens)
		if len(limits) == 1 {
			return cut, nil
		}
		return providers.Response{Text: `{"winner":"B"}`}, nil
	}))
	judging(r)
	turn, err := do(t, r, &recorder{})
	require.NoError(t, err)
	require.Equal(t, []int{500, 1000}, limits)
	require.Equal(t, []transcript.Flag{transcript.Reasked}, turn.Flags)
}

// After a service has refused the request, reasoning goes, and nothing else: the parts of a system message stay.
func TestDropReasoningRemovesOnlyReasoning(t *testing.T) {
	part := func(text string) providers.Part { return providers.Part{Text: text} }
	thought := providers.Part{Reasoning: &providers.Reasoning{Service: "s", Data: []byte(`"x"`)}}
	system := providers.Message{Role: providers.System, Parts: []providers.Part{part("Argue."), part("A document.")}}
	q := query{Prompt: Prompt{Opaque: 5, Tokens: 50, History: 20, Messages: []providers.Message{
		system,
		{Role: providers.Assistant, Parts: []providers.Part{thought, part("I say no.")}},
		{Role: providers.Assistant, Parts: []providers.Part{thought, part("One."), part("Two.")}},
		{Role: providers.User, Text: "Go on."},
	}}}
	require.True(t, q.dropReasoning())
	require.Equal(t, []providers.Message{
		system,
		{Role: providers.Assistant, Text: "I say no."},
		{Role: providers.Assistant, Parts: []providers.Part{part("One."), part("Two.")}},
		{Role: providers.User, Text: "Go on."},
	}, q.model.Request.Messages)
	require.Equal(t, 45, q.Tokens)
	require.False(t, q.dropReasoning())
}

// After a loop, the service is asked to avoid repetition, until another model replies.
func TestALoopRaisesThePenalty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []bool
		loops := providerFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
			asked = append(asked, r.AvoidRepetition)
			if len(asked) < 3 {
				return providers.Response{}, &providers.Error{Kind: providers.Loop}
			}
			return providers.Response{Text: `{"winner":"A"}`}, nil
		})
		r := newRun(t, loops)
		judging(r)
		r.Plan.Substitutes = []Model{{
			Provider: "q",
			Client:   loops,
			Request:  providers.Request{Model: "other", MaxTokens: 500},
			Window:   10000,
			Room:     9000,
		}}
		turn, err := do(t, r, &recorder{})
		require.NoError(t, err)
		require.Equal(t, []bool{false, true, false}, asked)
		require.Equal(t, []transcript.Flag{transcript.Substituted}, turn.Flags)
	})
}

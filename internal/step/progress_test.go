package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// forever is longer than all waits of a script.
const forever = 10_000 * time.Hour

// script is what all models of a step reply, whoever is asked, and how the step is planned.
type script struct {
	replies []scripted.Reply
	change  []func(*Run)
}

// faults are the replies of a script.
func faults() []scripted.Reply {
	cut := calling("", `{"q":1}`)
	cut.FinishReason = providers.Length
	broken := failing(providers.ServerError)
	broken.Text = "Cars are"
	final := scripted.Reply{Err: &providers.Error{Kind: providers.ServerError, Final: true, Err: errors.New("never")}}
	guess := scripted.Reply{Err: &providers.Error{
		Kind: providers.ContextOverflow, Otherwise: providers.ServerError,
		Err: errors.New("too long?"),
	}}
	list := []scripted.Reply{
		cut, broken, final, guess, guess,
		calling("", `{"q":"`+string(slices.Repeat([]byte("word "), 120))+`"}`), calling("", `{"q":2}`, `{"q":3}`), calling("", `{"q":4}`),
		{Text: "I cannot say."},
		{Text: `{"winner":`, FinishReason: providers.Length},
		{Text: "<think>Hm.</think>", FinishReason: providers.Length},
		{Text: " "},
		{Text: `{"winner":"A"}`},
		{Text: `{"winner":"B"}`},
		{Text: refuses},
		{Text: talks},
	}
	for _, kind := range []providers.ErrorKind{
		providers.Network, providers.RateLimit, providers.ServerError, providers.ContextOverflow, providers.InvalidRequest,
		providers.Loop, providers.Timeout,
		providers.ContentFiltered,
	} {
		list = append(list, failing(kind))
	}
	return list
}

// newScript returns a script that is drawn.
func newScript(pick *rand.Rand) *script {
	s := &script{}
	list := faults()
	for range 40 {
		s.replies = append(s.replies, list[pick.IntN(len(list))])
	}
	attempts := 2 + pick.IntN(5)
	changes := []func(*Run){
		func(r *Run) { r.Plan.Limits.Attempts = attempts },
		func(r *Run) { r.Plan.Limits.RateLimit = forever },
		func(r *Run) { r.Plan.Limits.Outage, r.Plan.Limits.OutageTime = 2*forever, forever },
		func(r *Run) { r.Plan.KeepPartial = true },
		func(r *Run) { r.Plan.UseDefault = true },
		func(r *Run) {
			r.Plan.Retries = map[providers.ErrorKind]int{providers.ContextOverflow: 1, providers.InvalidResponse: 3}
		},
		func(r *Run) {
			r.Plan.Prompt.Opaque, r.Plan.Prompt.Messages[2] = 200, thinking(r.Plan.Prompt.Messages[2])
		},
		func(r *Run) {
			r.Plan.Model.Gathers, r.Plan.Model.Request.Schema = true, json.RawMessage(`{"type":"object"}`)
		},
		func(r *Run) {
			r.Plan.Retries = map[providers.ErrorKind]int{providers.RateLimit: 1, providers.Network: 1}
		},
		func(r *Run) {
			r.Plan.Step.Doubt = func(any) []string { return []string{"Is it?"} }
			r.Plan.Prompt.Data = &prompts.Data{Topic: "Cars?"}
		},
		func(r *Run) { r.Plan.Tools.Most = 2 },
		func(r *Run) {
			speaking(r)
			r.Plan.KeepReplies = true
		},
	}
	changes = append(changes, summarizing, substituted, judging)
	for _, change := range changes {
		if pick.IntN(3) == 0 {
			s.change = append(s.change, change)
		}
	}
	return s
}

// thinking returns a message with opaque reasoning.
func thinking(m providers.Message) providers.Message {
	thought := providers.Part{Reasoning: &providers.Reasoning{Service: "s", Data: json.RawMessage(`"x"`)}}
	return providers.Message{Role: m.Role, Parts: []providers.Part{thought, {Text: m.Text}}}
}

// ended is a step that has ended.
type ended struct {
	err      error
	turn     *transcript.Turn
	attempts []transcript.Attempt // without times
	sent     []providers.Request
	host     *recorder
}

// run executes the step of a script from reply n on, after the given rounds.
func (s *script) run(t *testing.T, n int, before []Round) *ended {
	t.Helper()
	model := &scripted.Provider{Replies: s.replies[n:]}
	x := &ended{host: &recorder{}}
	r := s.plan(t, model, before)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	x.host.run = r
	x.turn, x.err = r.Do(ctx, cancel, x.host)
	x.attempts = slices.Clone(r.draft.Attempts)
	for i := range x.attempts {
		a := &x.attempts[i]
		a.Began = time.Time{}
		a.Waited = 0
		a.Duration = 0
		a.FirstChunk = 0
		a.Hash = ""
	}
	for _, q := range model.Calls() {
		q.OnChunk = nil
		x.sent = append(x.sent, q)
	}
	return x
}

// plan returns the run of a script, after the given rounds.
func (s *script) plan(t *testing.T, model providers.Provider, before []Round) *Run {
	t.Helper()
	r := withTools(newRun(t, model))
	r.Plan.Limits.Time, r.Plan.Limits.Remaining = 5*forever, 5*forever
	for _, change := range s.change {
		change(r)
	}
	r.Plan.Tools.Rounds = slices.Clone(before)
	return r
}

// rounds returns the rounds of a step.
func (x *ended) rounds() (list []Round) {
	for _, c := range x.host.rounds {
		list = append(list, *c.Round)
	}
	return list
}

// window returns the window of the turn, if there is one.
func (x *ended) window() *transcript.Window {
	if x.turn == nil {
		return nil
	}
	return x.turn.Window
}

// outcome says how a step has ended.
func (x *ended) outcome() string {
	if f, ok := errors.AsType[*journal.Failure](x.err); ok {
		return fmt.Sprintf("failed after %d: %s", f.Attempts, f.Message)
	}
	if x.err != nil {
		return x.err.Error()
	}
	flags := x.turn.Flags
	if n := len(flags); n > 0 && (flags[n-1] == transcript.Partial || flags[n-1] == transcript.Defaulted) {
		flags = flags[n-1:] // no attempt has the flags of replies that were not valid
	}
	return fmt.Sprint(x.turn.Text, string(x.turn.Data), flags, x.turn.Tokens, x.turn.Window)
}

// A step does after a crash what it would have done without it. Its process may die at any time: what is stored of it are its rounds
// of tool calls, with or without results. And from what is stored, each request is made again, and each attempt says what followed.
func TestAStepGoesOnAsIfNothingHadHappened(t *testing.T) {
	resumed, seen := 0, map[transcript.Next]int{}
	for seed := range uint64(800) {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(rand.New(rand.NewPCG(seed, 1)))
			live := s.run(t, 0, nil)
			requireRepeatable(t, seed, s, live)
			for _, a := range live.attempts {
				seen[a.Next]++
			}
			list := live.rounds()
			for i := range list {
				n := len(attemptsOf(list[:i+1]))
				for _, results := range []bool{true, false} {
					before := slices.Clone(list[:i+1])
					if !results {
						before[i].Results = nil
					}
					again := s.run(t, n, before)
					require.Equal(t, live.sent[n:], again.sent, "seed %d, after round %d", seed, i+1)
					require.Equal(t, live.attempts, again.attempts, "seed %d, after round %d", seed, i+1)
					require.Equal(t, live.outcome(), again.outcome(), "seed %d, after round %d", seed, i+1)
					end := slices.Index(live.host.log, fmt.Sprintf("round %d", i+1))
					if results {
						end++
					}
					require.Equal(t, live.host.log[end:], again.host.log, "seed %d, after round %d", seed, i+1)
					resumed++
				}
			}
		})
	}
	require.Greater(t, resumed, 100)
	require.Len(t, seen, 17, "all that can follow: %v", slices.Collect(maps.Keys(seen)))
}

// requireRepeatable requires that each request of a step can be made again, and that what followed each attempt is possible.
func requireRepeatable(t *testing.T, seed uint64, s *script, live *ended) {
	t.Helper()
	r := s.plan(t, nil, live.rounds())
	looked := map[int]bool{}
	r.look = func(i int, q *providers.Request, missing []string) {
		require.Empty(t, missing)
		looked[i] = true
		request := *q
		request.OnChunk = nil
		require.Equal(t, live.sent[i], request, "seed %d, attempt %d", seed, i+1)
		require.NoError(t, r.follows(live.attempts[:i+1]), "seed %d", seed)
	}
	n := len(live.attempts) - 1
	last, _, missing := r.Repeat(live.attempts, live.window())
	if live.turn != nil {
		require.Empty(t, missing, "seed %d", seed)
	}
	if !looked[n] {
		require.Equal(t, live.sent[n], last, "seed %d", seed)
	}
	require.Len(t, live.sent, n+1)
}

// An attempt that says that something else followed is found: that cannot have followed, or the requests are others. Only a short wait
// and one for a service look alike.
func TestAForgedAttemptIsFound(t *testing.T) {
	words := []transcript.Next{
		"", transcript.NextAskedAgain, transcript.NextReconsidered, transcript.NextAskedAlone, transcript.NextInsisted, transcript.NextCapRaised,
		transcript.NextCapRaisedMore, transcript.NextShortened, transcript.NextSummary, transcript.NextSummarized,
		transcript.NextReasoningDropped,
		transcript.NextTools, transcript.NextWithoutTools, transcript.NextRetried, transcript.NextWaited, transcript.NextSubstitute,
		transcript.NextGivenUp,
	}
	alike := []transcript.Next{transcript.NextRetried, transcript.NextWaited}
	found := 0
	for seed := range uint64(150) {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(rand.New(rand.NewPCG(seed, 1)))
			live := s.run(t, 0, nil)
			require.True(t, s.fits(t, live, live.attempts))
			for i := range live.attempts {
				for _, next := range words {
					forged := slices.Clone(live.attempts)
					is := forged[i].Next
					forged[i].Next = next
					if is == next || slices.Contains(alike, is) && slices.Contains(alike, next) {
						continue
					}
					require.False(t, s.fits(t, live, forged), "seed %d, attempt %d: %q in place of %q", seed, i+1, next, is)
					found++
				}
			}
		})
	}
	require.Greater(t, found, 1000)
}

// fits reports whether attempts may be those of a step that has sent its requests.
func (s *script) fits(t *testing.T, live *ended, tried []transcript.Attempt) bool {
	t.Helper()
	check := turns.CheckNext(tried)
	turn := live.turn
	if turn != nil {
		forged := *turn
		forged.Attempts = tried
		forged.Run = 1
		check = turns.Check(&forged, transcript.Cursor{Run: 1, Round: forged.Round})
	}
	if check != nil {
		return false
	}
	r := s.plan(t, nil, live.rounds())
	fits := true
	seen := map[int]bool{} // a summary at the end is shown before the request that would have followed
	r.look = func(i int, q *providers.Request, missing []string) {
		if seen[i] {
			return
		}
		seen[i] = true
		request := *q
		request.OnChunk = nil
		fits = fits && missing == nil && reflect.DeepEqual(request, live.sent[i]) && r.follows(tried[:i+1]) == nil
	}
	last, _, missing := r.Repeat(tried, live.window())
	if live.turn == nil && slices.Equal(missing, []string{otherWindow}) {
		missing = nil // a failure has no window
	}
	r.look(len(tried)-1, &last, missing)
	return fits
}

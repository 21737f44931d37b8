package step

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// A step of each kind: what the model replies, what the host is told, and what the step gives.
func TestSteps(t *testing.T) {
	const valid = `{"winner":"A"}`
	for name, tt := range map[string]struct {
		replies []scripted.Reply
		change  func(*Run)
		log     []string
		text    string // of the turn; empty if the step fails
		flags   []transcript.Flag
		kind    providers.ErrorKind // of the failure
		calls   int                 // messages of the last request, if they differ from the first one's
	}{
		"a reply": {
			replies: []scripted.Reply{{Text: "Cars are loud."}},
			log:     []string{"begin 1 p/m", "end"},
			text:    "Cars are loud.",
		},
		"a retry": {
			replies: []scripted.Reply{failing(providers.ServerError), {Text: "Yes."}},
			log:     []string{"begin 1 p/m", "end: server_error", "failed: server_error, later", "begin 2 p/m", "end"},
			text:    "Yes.",
		},
		"no more retries": {
			replies: []scripted.Reply{failing(providers.ServerError), failing(providers.ServerError)},
			change:  func(r *Run) { r.Plan.Retries = map[providers.ErrorKind]int{providers.ServerError: 1} },
			log: []string{
				"begin 1 p/m",
				"end: server_error",
				"failed: server_error, later",
				"begin 2 p/m",
				"end: server_error",
				"failed: server_error, no retry",
			},
			kind: providers.ServerError,
		},
		"no more attempts": {
			replies: []scripted.Reply{failing(providers.ServerError)},
			change:  func(r *Run) { r.Plan.Limits.Attempts = 1 },
			log:     []string{"begin 1 p/m", "end: server_error", "failed: server_error, no retry"},
			kind:    providers.ServerError,
		},
		"a wrong key": {
			replies: []scripted.Reply{failing(providers.Authentication)},
			change:  func(r *Run) { r.Plan.UseDefault = true; judging(r) },
			log:     []string{"begin 1 p/m", "end: authentication", "failed: authentication, no retry"},
			kind:    providers.Authentication,
		},
		"an overflow": {
			replies: []scripted.Reply{failing(providers.ContextOverflow), {Text: "Yes."}},
			log:     []string{"begin 1 p/m", "end: context_overflow", "failed: context_overflow, again", "begin 2 p/m", "end"},
			text:    "Yes.", calls: 3,
		},
		"an overflow that must not be shortened": {
			replies: []scripted.Reply{failing(providers.ContextOverflow)},
			change:  func(r *Run) { r.Plan.Prompt.Shorten = false },
			log:     []string{"begin 1 p/m", "end: context_overflow", "failed: context_overflow, no retry"},
			kind:    providers.ContextOverflow,
		},
		"an overflow with a summary": {
			replies: []scripted.Reply{failing(providers.ContextOverflow), {Text: "B and A spoke."}, {Text: "Yes."}},
			change:  summarizing,
			log: []string{
				"begin 1 p/m", "end: context_overflow", "summarize 1 s/small",
				"end", "failed: context_overflow, again", "begin 2 p/m", "end",
			},
			text: "Yes.", calls: 4,
		},
		"an overflow whose summary fails": {
			replies: []scripted.Reply{failing(providers.ContextOverflow), failing(providers.ServerError), {Text: "Yes."}},
			change:  summarizing,
			log: []string{
				"begin 1 p/m", "end: context_overflow", "summarize 1 s/small",
				"end: server_error", "failed: context_overflow, again", "begin 2 p/m", "end",
			},
			text: "Yes.", calls: 3,
		},
		"an invalid reply": {
			replies: []scripted.Reply{{Text: "I cannot say."}, {Text: valid}},
			change:  judging,
			log: []string{
				"begin 1 p/m", "end: invalid_response", "failed: invalid_response, again",
				"begin 2 p/m", "end",
			},
			text: valid, flags: []transcript.Flag{transcript.Reasked}, calls: 7,
		},
		"an invalid reply again": {
			replies: []scripted.Reply{{Text: "I cannot say."}, {Text: "No."}},
			change:  judging,
			log: []string{
				"begin 1 p/m", "end: invalid_response", "failed: invalid_response, again",
				"begin 2 p/m", "end: invalid_response", "failed: invalid_response, no retry",
			},
			kind: providers.InvalidResponse,
		},
		"a substitute": {
			replies: []scripted.Reply{failing(providers.Billing), {Text: valid}},
			change:  substituted,
			log:     []string{"begin 1 p/m", "end: billing", "failed: billing, again", "begin 2 q/other", "end"},
			text:    valid, flags: []transcript.Flag{transcript.Substituted},
		},
		"a substitute with a small window": {
			replies: []scripted.Reply{failing(providers.Billing), {Text: valid}},
			change:  func(r *Run) { substituted(r); r.Plan.Substitutes[0].Room = 1500 },
			log:     []string{"begin 1 p/m", "end: billing", "failed: billing, again", "begin 2 q/other", "end"},
			text:    valid, flags: []transcript.Flag{transcript.Substituted}, calls: 3,
		},
		"a partial reply": {
			replies: []scripted.Reply{{Text: "Cars are", Err: &providers.Error{Kind: providers.ContentFiltered}}},
			change: func(r *Run) {
				r.Plan.KeepPartial, r.Plan.Retries = true, map[providers.ErrorKind]int{providers.ContentFiltered: 0}
			},
			log:  []string{"begin 1 p/m", "end: content_filtered", "failed: content_filtered, no retry"},
			text: "Cars are", flags: []transcript.Flag{transcript.Partial},
		},
		"an empty reply": {
			replies: []scripted.Reply{{Text: " \n"}, {Text: "Yes."}},
			log:     []string{"begin 1 p/m", "end: invalid_response", "failed: invalid_response, later", "begin 2 p/m", "end"},
			text:    "Yes.",
		},
		"reasoning beside the reply": {
			replies: []scripted.Reply{{Text: "<think>Loud?</think>Cars are loud.", Chunks: 5}},
			log:     []string{"begin 1 p/m", "end"},
			text:    "Cars are loud.",
		},
		"a failure after which no retry helps": {
			replies: []scripted.Reply{{Err: &providers.Error{Kind: providers.ServerError, Final: true}}},
			log:     []string{"begin 1 p/m", "end: server_error", "failed: server_error, no retry"},
			kind:    providers.ServerError,
		},
		"a rate limit of all after which no retry helps": {
			replies: []scripted.Reply{{Err: &providers.Error{Kind: providers.RateLimit, Final: true}}},
			change:  func(r *Run) { r.Plan.Limits.RateLimit = time.Hour },
			log:     []string{"begin 1 p/m", "end: rate_limit", "failed: rate_limit, no retry"},
			kind:    providers.RateLimit,
		},
		"a substitute after a failure after which no retry helps": {
			replies: []scripted.Reply{{Err: &providers.Error{Kind: providers.ServerError, Final: true}}, {Text: valid}},
			change:  substituted,
			log:     []string{"begin 1 p/m", "end: server_error", "failed: server_error, again", "begin 2 q/other", "end"},
			text:    valid, flags: []transcript.Flag{transcript.Substituted},
		},
		"a loop": {
			replies: []scripted.Reply{failing(providers.Loop), {Text: "Yes."}},
			log:     []string{"begin 1 p/m", "end: loop", "failed: loop, later", "begin 2 p/m", "end"},
			text:    "Yes.", flags: []transcript.Flag{transcript.Reasked},
		},
		"a loop again": {
			replies: []scripted.Reply{failing(providers.Loop), failing(providers.Loop)},
			log:     []string{"begin 1 p/m", "end: loop", "failed: loop, later", "begin 2 p/m", "end: loop", "failed: loop, no retry"},
			kind:    providers.Loop,
		},
		"what looks like a special token": {
			replies: []scripted.Reply{{Text: "Cars are loud. <|fim_hole|>"}},
			log:     []string{"begin 1 p/m", "end"},
			text:    "Cars are loud. <|fim_hole|>", flags: []transcript.Flag{transcript.SpecialToken},
		},
		"a special token in reasoning or in code": {
			replies: []scripted.Reply{{Text: "<think><|fim_hole|></think>Write `<|fim_hole|>`."}},
			log:     []string{"begin 1 p/m", "end"},
			text:    "Write `<|fim_hole|>`.",
		},
		"a guess that was right": {
			replies: []scripted.Reply{{Err: &providers.Error{Kind: providers.ContextOverflow, Otherwise: providers.ServerError}}, {Text: "Yes."}},
			log:     []string{"begin 1 p/m", "end: context_overflow", "failed: context_overflow, again", "begin 2 p/m", "end"},
			text:    "Yes.", calls: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model, h := &scripted.Provider{Replies: tt.replies}, &recorder{}
				r := newRun(t, model)
				if tt.change != nil {
					tt.change(r)
				}
				turn, err := do(t, r, h)
				require.Equal(t, tt.log, h.log)
				calls := model.Calls()
				require.Len(t, calls, len(tt.replies), "all replies are used")
				if tt.kind != "" {
					var f *journal.Failure
					require.ErrorAs(t, err, &f)
					require.Equal(t, tt.kind, f.Kind)
					require.Len(t, f.AttemptDetails, len(calls))
					require.Nil(t, turn)
					return
				}
				require.NoError(t, err)
				require.Equal(t, tt.text, turn.Text)
				require.Equal(t, tt.flags, turn.Flags)
				require.Len(t, turn.Attempts, len(calls))
				require.Equal(t, r.Plan.Step.Key, turn.Key)
				if last := len(calls[len(calls)-1].Messages); tt.calls > 0 {
					require.Equal(t, tt.calls, last, "messages of the last request")
				} else {
					require.Equal(t, calls[0].Messages, calls[len(calls)-1].Messages)
				}
			})
		})
	}
}

func summarizing(r *Run) {
	r.Plan.Prompt.Summarize = true
	r.Plan.Summarizer = Model{Provider: "s", Client: r.Plan.Model.Client, Request: providers.Request{Model: "small"}}
}

func substituted(r *Run) {
	judging(r)
	r.Plan.Substitutes = []Model{{
		Provider: "q",
		Client:   r.Plan.Model.Client,
		Request:  providers.Request{Model: "other", MaxTokens: 300},
		Window:   9000,
		Room:     8000,
	}}
}

// A default reply is used after all attempts, if the plan says so.
func TestADefaultReply(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		r := newRun(t, scripted.Text("Hm.", "Hm."))
		r.Plan.Step.Actor = "summarizer"
		r.Plan.Participating = false
		r.Plan.UseDefault = wanted
		r.Plan.Model.Client = &scripted.Provider{Replies: []scripted.Reply{failing(providers.InvalidRequest), failing(providers.ContentFiltered)}}
		r.Plan.Retries = map[providers.ErrorKind]int{providers.ContentFiltered: 0}
		_, err := do(t, r, &recorder{})
		require.Error(t, err, "a wrong request is never hidden")
		r = newRun(t, &scripted.Provider{Replies: []scripted.Reply{failing(providers.ContentFiltered)}})
		r.Plan.Step.Actor = "summarizer"
		r.Plan.Participating = false
		r.Plan.UseDefault = wanted
		r.Plan.Retries = map[providers.ErrorKind]int{providers.ContentFiltered: 0}
		turn, err := do(t, r, &recorder{})
		if !wanted {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, []transcript.Flag{transcript.Defaulted}, turn.Flags)
	}
}

func TestAViewerWhoHasLeft(t *testing.T) {
	model := scripted.Text("Yes.")
	r := newRun(t, model)
	r.Plan.Limits.Attempts = 1
	_, err := do(t, r, &recorder{left: true})
	require.ErrorContains(t, err, errLeft.Error())
	require.Empty(t, model.Calls(), "nobody waits for a reply")
}

// The text that arrives is passed on in whole characters and without reasoning.
func TestWhatAViewerSees(t *testing.T) {
	h := &recorder{}
	model := providerFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		for _, piece := range []string{"<thi", "nk>Hm", "m.</think>Caf", "\xc3", "\xa9 ", "\xff!"} {
			if err := r.OnChunk(piece); err != nil {
				return providers.Response{}, err
			}
		}
		return providers.Response{Text: "<think>Hmm.</think>Café \xff!"}, nil
	})
	turn, err := do(t, newRun(t, model), h)
	require.NoError(t, err)
	require.Equal(t, []string{"Café \uFFFD!"}, h.texts)
	require.Equal(t, "Café \uFFFD!", turn.Text)
}

type providerFunc func(context.Context, providers.Request) (providers.Response, error)

func (f providerFunc) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return f(ctx, r)
}

// The time of a step ends it, whatever it does then. The time that a viewer takes does not count.
func TestTheTimeOfAStep(t *testing.T) {
	for name, tt := range map[string]struct {
		reply  scripted.Reply
		change func(*Run)
		looks  time.Duration
		err    string
		text   string
	}{
		"in time":          {reply: scripted.Reply{Text: "Yes.", Latency: 9 * time.Minute}, text: "Yes."},
		"too late":         {reply: scripted.Reply{Text: "Yes.", Latency: 11 * time.Minute}, err: "the step took longer than 10m0s"},
		"a slow viewer":    {reply: scripted.Reply{Text: "Yes. No.", Chunks: 2, Latency: 8 * time.Minute}, looks: time.Hour, text: "Yes. No."},
		"the budget":       {reply: scripted.Reply{Hang: true}, change: func(r *Run) { r.Plan.Limits.Budget = true }, err: ErrOutOfTime.Error()},
		"a budget of none": {change: func(r *Run) { r.Plan.Limits.Budget, r.Plan.Limits.Time = true, 0 }, err: ErrOutOfTime.Error()},
		"the conclusion's": {
			reply:  scripted.Reply{Hang: true},
			change: func(r *Run) { r.Plan.Limits.Budget, r.Plan.Concluding = true, true },
			err:    "timeout: " + ErrOutOfTime.Error(),
		},
		"after an earlier": {
			reply:  scripted.Reply{Text: "Yes.", Latency: 2 * time.Minute},
			change: func(r *Run) { r.Late(59 * time.Minute) },
			err:    ErrOutOfTime.Error(),
		},
		"a partial reply": {
			reply:  scripted.Reply{Text: "Cars are", Hang: true},
			change: func(r *Run) { r.Plan.KeepPartial, r.Plan.Limits.Budget = true, true },
			text:   "Cars are",
		},
		"a wait too long": {reply: scripted.Reply{Err: &providers.Error{Kind: providers.RateLimit, RetryAfter: time.Hour}}, err: "rate_limit"},
		"a wait for others": {
			reply:  scripted.Reply{Err: &providers.Error{Kind: providers.RateLimit, RetryAfter: time.Hour}},
			change: func(r *Run) { r.Plan.Limits.RateLimit = 2 * time.Hour },
			text:   "Later.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRun(t, &scripted.Provider{Replies: []scripted.Reply{tt.reply, {Text: "Later."}}})
				r.Plan.Retries = map[providers.ErrorKind]int{providers.Timeout: 0}
				if tt.change != nil {
					tt.change(r)
				}
				h := &recorder{}
				if tt.looks > 0 {
					h.look = func(string) { time.Sleep(tt.looks) }
				}
				turn, err := do(t, r, h)
				if tt.err != "" {
					require.ErrorContains(t, err, tt.err)
					return
				}
				require.NoError(t, err)
				require.Equal(t, tt.text, turn.Text)
				if tt.looks > 0 {
					require.InDelta(t, 2*tt.looks, turn.ViewerTime, float64(tt.looks)/10)
				}
			})
		})
	}
}

// A pause, the end of the engine, and the end of a job end a wait, but not a call.
func TestWaitsEnd(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	for name, tt := range map[string]struct {
		change func(*Run)
		err    error
	}{
		"a pause":    {func(r *Run) { r.Plan.Hold.Set(true) }, ErrSuperseded},
		"the engine": {func(r *Run) { r.Plan.Closing = closed }, ErrSuperseded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &scripted.Provider{Replies: []scripted.Reply{failing(providers.ServerError)}}
				r := newRun(t, model)
				tt.change(r)
				began := time.Now()
				_, err := do(t, r, &recorder{})
				require.ErrorIs(t, err, tt.err)
				require.Zero(t, time.Since(began))
				require.Len(t, model.Calls(), 1, "the call was made")
			})
		})
	}
	t.Run("a job", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRun(t, &scripted.Provider{Func: func(providers.Request) scripted.Reply { return failing(providers.RateLimit) }})
			r.Plan.Limits.RateLimit = time.Hour
			job, end := context.WithTimeout(t.Context(), 30*time.Second)
			defer end()
			ctx, cancel := context.WithCancelCause(job)
			defer cancel(nil)
			_, err := r.Do(ctx, cancel, &recorder{run: r})
			require.ErrorIs(t, err, ErrNextJob)
		})
	})
	t.Run("another process", func(t *testing.T) {
		r := newRun(t, &scripted.Provider{Replies: []scripted.Reply{{Hang: true}}})
		ctx, cancel := context.WithCancelCause(t.Context())
		h := &recorder{run: r, begins: func(Attempt) { cancel(ErrSuperseded) }}
		_, err := r.Do(ctx, cancel, h)
		require.ErrorIs(t, err, ErrSuperseded)
	})
}

// A provider that cannot be reached is waited for, unless it answers others.
func TestAnOutage(t *testing.T) {
	for name, tt := range map[string]struct {
		fails    int           // calls
		outage   time.Duration // that the step may wait
		answered bool          // others are answered all the time
		err      string
	}{
		"a short one":         {fails: 20, outage: time.Hour},
		"a long one":          {fails: 200, outage: time.Hour, err: "network"},
		"none to be waited":   {fails: 20, err: "network"},
		"of this step's only": {fails: 200, outage: time.Hour, answered: true, err: "network"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				var r *Run
				r = newRun(t, &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					if tt.answered {
						r.Plan.Answers.add("p", time.Now().Add(time.Nanosecond))
					}
					n++
					if n <= tt.fails {
						return failing(providers.Network)
					}
					return scripted.Reply{Text: "Yes."}
				}})
				r.Plan.Limits.Outage = tt.outage
				turn, err := do(t, r, &recorder{})
				if tt.err == "" {
					require.NoError(t, err)
					require.Len(t, turn.Attempts, tt.fails+1)
					return
				}
				var f *journal.Failure
				require.ErrorAs(t, err, &f)
				require.Equal(t, tt.outage > 0 && !tt.answered, f.Unreachable)
			})
		})
	}
}

// How long a step tries to reach its provider depends on what is configured and on how others fare. Then it fails like others,
// unless nobody can go on.
func TestHowLongAStepTriesToReachItsProvider(t *testing.T) {
	retries := func(n int) map[providers.ErrorKind]int { return map[providers.ErrorKind]int{providers.Network: n} }
	for name, tt := range map[string]struct {
		others      Others
		time        time.Duration // OutageTime
		retries     map[providers.ErrorKind]int
		least, most time.Duration
		attempts    int // 0 for any number
		unreachable bool
	}{
		"others wait":     {others: OthersWait, least: 58 * time.Minute, most: time.Hour, unreachable: true},
		"others answer":   {others: OthersAnswer, most: 20 * time.Second, attempts: 4},
		"nobody can tell": {others: OthersUnknown, least: 5 * time.Minute, most: 5*time.Minute + time.Second},
		"a time":          {time: 90 * time.Second, least: 90 * time.Second, most: 91 * time.Second},
		"a time, others answer": {others: OthersAnswer, time: 10 * time.Minute, least: 10 * time.Minute, most: 10*time.Minute +
			time.Second},
		"a short time":         {time: time.Millisecond, most: 20 * time.Second, attempts: 4},
		"a number":             {retries: retries(2), most: 10 * time.Second, attempts: 3},
		"a number and a time":  {retries: retries(1), time: time.Minute, least: time.Minute, most: 61 * time.Second},
		"none, and a time":     {retries: retries(0), time: time.Minute, attempts: 1},
		"longer than there is": {time: 3 * time.Hour, least: 58 * time.Minute, most: time.Hour, unreachable: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				r := newRun(t, &scripted.Provider{Func: func(providers.Request) scripted.Reply { return failing(providers.Network) }})
				r.Plan.Limits.Outage = time.Hour
				r.Plan.Limits.OutageTime = tt.time
				r.Plan.Limits.OutageUnknown = 5 * time.Minute
				r.Plan.Retries = tt.retries
				_, err := do(t, r, &recorder{others: tt.others})
				took := time.Since(began)
				var f *journal.Failure
				require.ErrorAs(t, err, &f)
				require.Equal(t, tt.unreachable, f.Unreachable)
				require.GreaterOrEqual(t, took, tt.least)
				require.LessOrEqual(t, took, tt.most)
				if tt.attempts > 0 {
					require.Len(t, f.AttemptDetails, tt.attempts)
				}
			})
		})
	}
}

// A person who waits for the first turn soon learns that the address of the provider is wrong. One that has answered before
// is waited for.
func TestAFirstRun(t *testing.T) {
	for _, answered := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			r := newRun(t, &scripted.Provider{Func: func(providers.Request) scripted.Reply { return failing(providers.Network) }})
			r.Plan.Limits.Outage, r.Plan.FirstRun = 20*time.Minute, new(atomic.Bool)
			r.Plan.FirstRun.Store(true)
			if answered {
				r.Plan.Answers.add("p", time.Now())
			}
			_, err := do(t, r, &recorder{})
			var f *journal.Failure
			require.ErrorAs(t, err, &f)
			require.True(t, f.Unreachable)
			require.Equal(t, answered, time.Since(began) > 10*time.Minute)
			require.Equal(t, !answered, time.Since(began) <= firstContact)
		})
	}
}

// A panic of the provider is a failure of the step, with what had arrived. One of the viewer passes through.
func TestPanics(t *testing.T) {
	model := providerFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		_ = r.OnChunk("Cars")
		panic("a bug")
	})
	h := &recorder{}
	_, err := do(t, newRun(t, model), h)
	var f *journal.Failure
	require.ErrorAs(t, err, &f)
	require.Equal(t, providers.Panic, f.Kind)
	require.Contains(t, f.Message, "a bug")
	require.Len(t, f.AttemptDetails, 1)
	require.Positive(t, f.AttemptDetails[0].Usage.Output)
	require.Equal(t, []string{"begin 1 p/m", "end: panic", "failed: panic, no retry"}, h.log)

	h = &recorder{look: func(string) { panic("of the viewer") }}
	require.PanicsWithValue(t, "of the viewer", func() { _, _ = do(t, newRun(t, scripted.Text("Yes.")), h) })
	require.Equal(t, []string{"begin 1 p/m", "end: context canceled"}, h.log)
}

// What an attempt used and cost, how it ended, and what it waited is in the turn.
func TestWhatATurnHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, &scripted.Provider{Replies: []scripted.Reply{failing(providers.ServerError), {Text: "Yes.", Latency: time.Minute}}})
		turn, err := do(t, r, &recorder{})
		require.NoError(t, err)
		require.Len(t, turn.Attempts, 2)
		require.Equal(t, "server_error", turn.Attempts[0].ErrorKind)
		require.Zero(t, turn.Attempts[0].Waited)
		last := turn.Attempts[1]
		require.Equal(t, "p", last.Provider)
		require.Equal(t, time.Minute, last.Duration)
		require.InDelta(t, 1.5*float64(time.Second), float64(last.Waited), float64(time.Second))
		require.Equal(t, turn.Ended.Sub(turn.Started), last.Waited+last.Duration)
		require.Equal(t, "Yes.", strings.TrimSpace(last.Reply))
	})
}

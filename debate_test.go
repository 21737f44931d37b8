package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func TestADebateRunsToItsVerdict(t *testing.T) {
	d := newPanelDebate(t, 2, nil)
	events := debatetest.Finish(t, d)

	res := debatetest.Result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	require.Equal(t, transcript.Ending{Outcome: transcript.JudgeDecided, Round: 2, Evidence: "J: because"}, res.Ending)
	require.Equal(t, []string{
		"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/",
		"1/2/respond/A/", "1/2/respond/B/", "1/2/assess/J/", "1/2/verdict/J/",
	}, debatetest.TurnKeys(res))
	require.Len(t, res.Assessments, 2)
	require.Equal(t, "1/2/verdict/J/", res.Verdict.Key.String())
	require.Equal(t, res, events[len(events)-1].(debate.Ended).Result, "the last event carries the result")

	_, err := debatetest.Run(t, d) // a debate that has ended shows the end again
	require.NoError(t, err)
}

// actDuringSpeech starts a debate of slow speakers in the background, acts during the first speech, and returns the
// result.
func actDuringSpeech(
	t *testing.T, mode panel.Mode, act func(ctx context.Context, d *debate.Debate),
) (r *debate.Result, m *scripted.Provider, took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		m = slowModel()
		d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
			c.Protocol, o.Providers["m"] = panel.Protocol{Mode: mode}, m
		})
		done, began := make(chan error), time.Now()
		go func() {
			var err error
			for _, err = range d.Run(t.Context()) {
			}
			done <- err
		}()
		time.Sleep(5 * time.Second)
		act(t.Context(), d)
		require.NoError(t, <-done)
		took = time.Since(began)
		r = debatetest.Result(t, d)
	})
	return r, m, took
}

func TestPauseLetsCallsInFlightCommit(t *testing.T) {
	for mode, want := range map[panel.Mode]int{panel.Sequential: 1, panel.Simultaneous: 2} {
		res, model, took := actDuringSpeech(t, mode, func(ctx context.Context, d *debate.Debate) {
			require.NoError(t, d.Pause(ctx))
			require.NoError(t, d.Pause(ctx), "pausing a paused debate is no error")
			require.Equal(t, fsm.Paused, debatetest.Result(t, d).State, "at once")
		})
		require.Equal(t, fsm.Paused, res.State)
		require.Equal(t, 10*time.Second, took)
		require.Len(t, res.Turns, want)
		require.Len(t, model.Calls(), want, "nothing new starts")
		require.Equal(t, 10*time.Second-5*time.Second, res.RunningTime, "pauses do not count")
	}
}

func TestStopCutsCallsAndConcludes(t *testing.T) {
	res, _, took := actDuringSpeech(t, panel.Simultaneous, func(ctx context.Context, d *debate.Debate) {
		require.NoError(t, d.Stop(ctx))
		require.NoError(t, d.Stop(ctx))
	})
	require.Equal(t, fsm.Completed, res.State)
	require.Equal(t, transcript.Stopped, res.Ending.Outcome)
	require.Empty(t, res.Turns, "nothing was said, so there is nothing to conclude on")
	require.Equal(t, 5*time.Second, took, "the calls were cut at once")
}

func TestStopAfterASpeechGivesAVerdict(t *testing.T) {
	d := newPanelDebate(t, 9, nil)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if turn, ok := ev.(debate.TurnDone); ok && turn.Turn.Actor == "A" {
			require.NoError(t, d.Stop(t.Context()), "also from within the loop")
		}
	}
	res := debatetest.Result(t, d)
	require.Equal(t, []string{"1/1/respond/A/", "1/1/verdict/J/"}, debatetest.TurnKeys(res))
	require.NoError(t, d.Stop(t.Context()), "stopping a completed debate is no error")
}

func TestCancelEndsAtOnceWithoutAVerdict(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		res, _, took := actDuringSpeech(t, mode, func(ctx context.Context, d *debate.Debate) {
			require.NoError(t, d.Cancel(ctx))
			require.NoError(t, d.Cancel(ctx))
		})
		require.Equal(t, fsm.Canceled, res.State)
		require.Equal(t, transcript.Canceled, res.Ending.Outcome)
		require.Nil(t, res.Verdict)
		require.Equal(t, 5*time.Second, took)
	}
}

func TestACallThatFailsWhilePausedIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := false
		model := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			if failed {
				return scripted.Reply{Text: "now it works"}
			}
			failed = true
			return scripted.Reply{Latency: 10 * time.Second, Err: &providers.Error{Kind: providers.Authentication}}
		}}
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = model })
		time.AfterFunc(5*time.Second, func() { require.NoError(t, d.Pause(t.Context())) })
		debatetest.Finish(t, d)
		require.Equal(t, fsm.Paused, debatetest.Result(t, d).State)
		require.Empty(t, debatetest.Result(t, d).Turns)
		require.NoError(t, d.Resume(t.Context()))
		debatetest.Finish(t, d)
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	})
}

// Each control in each state has the effect that the lifecycle defines, or returns an error that lists the possible
// controls.
func TestControlsInEveryState(t *testing.T) {
	reach := map[fsm.State]func(*testing.T, *debate.Debate){
		fsm.Configuring:       func(*testing.T, *debate.Debate) {},
		fsm.AwaitingResponses: func(t *testing.T, d *debate.Debate) { runUntilTurn(t, d, transcript.Speech) },
		fsm.Judging:           func(t *testing.T, d *debate.Debate) { runUntilTurn(t, d, transcript.Assessment) },
		fsm.Completing:        func(t *testing.T, d *debate.Debate) { runUntilTurn(t, d, transcript.Conclusion) },
		fsm.Paused: func(t *testing.T, d *debate.Debate) {
			runUntilTurn(t, d, transcript.Speech)
			require.NoError(t, d.Pause(t.Context()))
		},
		fsm.Completed: func(t *testing.T, d *debate.Debate) {
			debatetest.Finish(t, d)
		},
		fsm.Canceled: func(t *testing.T, d *debate.Debate) { require.NoError(t, d.Cancel(t.Context())) },
		fsm.Error:    func(t *testing.T, d *debate.Debate) { failByAuthentication(t, d) },
		fsm.Ready: func(t *testing.T, d *debate.Debate) {
			failByAuthentication(t, d)
			require.NoError(t, d.Retry(t.Context()))
		},
	}
	verbs := map[string]func(*debate.Debate, context.Context) error{
		"pause": (*debate.Debate).Pause, "resume": (*debate.Debate).Resume, "stop": (*debate.Debate).Stop, "cancel": (*debate.Debate).Cancel,
		"retry": (*debate.Debate).Retry, "reset": (*debate.Debate).Reset,
		"edit":   func(d *debate.Debate, ctx context.Context) error { return d.Edit(ctx, debatetest.PairConfig(nil)) },
		"decide": func(d *debate.Debate, ctx context.Context) error { return d.Decide(ctx, "q1", "retry") },
		"inject": func(d *debate.Debate, ctx context.Context) error {
			return d.Inject(ctx, debate.Remark{From: "Host", Text: "Please go on."})
		},
		"annotate": func(d *debate.Debate, ctx context.Context) error { return d.Annotate(ctx, "rating", 5) },
	}
	// The state after each control. A control is rejected in all states that are not listed.
	want := map[string]map[fsm.State]fsm.State{
		"pause": {fsm.AwaitingResponses: fsm.Paused, fsm.Judging: fsm.Paused, fsm.Completing: fsm.Paused, fsm.Paused: fsm.Paused},
		"resume": {
			fsm.Paused:            fsm.AwaitingResponses,
			fsm.AwaitingResponses: fsm.AwaitingResponses,
			fsm.Judging:           fsm.Judging,
			fsm.Completing:        fsm.Completing,
		},
		"stop": {
			fsm.AwaitingResponses: fsm.Completed, fsm.Judging: fsm.Completing, fsm.Paused: fsm.Completed,
			fsm.Completing: fsm.Completing, fsm.Completed: fsm.Completed,
		},
		"cancel": {
			fsm.Configuring: fsm.Canceled, fsm.AwaitingResponses: fsm.Canceled, fsm.Judging: fsm.Canceled, fsm.Completing: fsm.Canceled,
			fsm.Paused: fsm.Canceled, fsm.Error: fsm.Canceled, fsm.Ready: fsm.Canceled, fsm.Canceled: fsm.Canceled,
		},
		"retry": {
			fsm.Error:             fsm.Ready,
			fsm.Ready:             fsm.Ready,
			fsm.AwaitingResponses: fsm.AwaitingResponses,
			fsm.Judging:           fsm.Judging,
			fsm.Completing:        fsm.Completing,
		},
		"reset":  {fsm.Error: fsm.Configuring, fsm.Configuring: fsm.Configuring},
		"edit":   {fsm.Configuring: fsm.Configuring, fsm.Ready: fsm.Configuring},
		"decide": {},
		"inject": {
			fsm.Configuring: fsm.Configuring, fsm.Ready: fsm.Ready, fsm.AwaitingResponses: fsm.AwaitingResponses, fsm.Judging: fsm.Judging,
			fsm.Completing: fsm.Completing, fsm.Paused: fsm.Paused, fsm.Error: fsm.Error,
		},
		"annotate": {
			fsm.Configuring: fsm.Configuring, fsm.Ready: fsm.Ready, fsm.AwaitingResponses: fsm.AwaitingResponses, fsm.Judging: fsm.Judging,
			fsm.Completing: fsm.Completing, fsm.Paused: fsm.Paused, fsm.Error: fsm.Error, fsm.Completed: fsm.Completed, fsm.Canceled: fsm.Canceled,
		},
	}
	for state, get := range reach {
		for verb, act := range verbs {
			t.Run(string(state)+"/"+verb, func(t *testing.T) {
				d := newPanelDebate(t, 1, nil)
				get(t, d)
				require.Equal(t, state, debatetest.Result(t, d).State)
				before := debatetest.Status(t, d)
				err := act(d, t.Context())
				to, possible := want[verb][state]
				if possible {
					require.NoError(t, err)
					require.Equal(t, to, debatetest.Result(t, d).State)
					return
				}
				require.Error(t, err)
				if refused, ok := errors.AsType[*fsm.Refused](err); ok {
					require.Equal(t, state, refused.State)
				}
				after := debatetest.Status(t, d)
				require.Equal(t, before, after, "nothing has changed")
			})
		}
	}
}

// failByAuthentication brings a debate into an error with an engine whose key is rejected.
func failByAuthentication(t *testing.T, d *debate.Debate) {
	t.Helper()
	refuses := scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("the key is refused")}}
	}}
	_, err := debatetest.Run(t, d.OpenWithProvider(t, &refuses))
	var failure *debate.Failure
	require.ErrorAs(t, err, &failure)
}

func TestTheStatusHasTheFailureUntilARetry(t *testing.T) {
	memory := store.Memory()
	long := strings.Repeat("größer ", 100)
	broken := &scripted.Provider{Replies: []scripted.Reply{{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New(long)}}}}
	d := debatetest.New(t, debatetest.PairConfig(nil), debate.Options{Store: memory, Providers: providersOf(broken, scriptedJudge(t, 1))})
	_, err := debatetest.Run(t, d)
	var failure *debate.Failure
	require.ErrorAs(t, err, &failure)
	for _, h := range debatetest.List(t, memory, store.Query{FailureKinds: []string{string(providers.Authentication)}}) {
		require.Equal(t, fsm.Error, h.State)
		cut, isCut := strings.CutSuffix(h.FailureCause, "…")
		require.True(t, isCut)
		require.True(t, strings.HasPrefix(failure.Message, cut))
		require.True(t, utf8.ValidString(h.FailureCause))
		require.InDelta(t, 500, len(h.FailureCause), 2)
	}
	counts, err := memory.Count(t.Context(), store.Query{FailureKinds: []string{string(providers.Authentication)}})
	require.NoError(t, err)
	require.Equal(t, map[fsm.State]int{fsm.Error: 1}, counts)

	require.NoError(t, d.Retry(t.Context()))
	h := debatetest.Status(t, d)
	require.Empty(t, h.FailureKind+h.FailureCause)
}

func TestRetryRunsNothingAgain(t *testing.T) {
	memory := store.Memory()
	broken := &scripted.Provider{Replies: []scripted.Reply{
		{Text: "first"}, {Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("401")}},
	}}
	d := debatetest.New(t, debatetest.PairConfig(nil), debate.Options{Store: memory, Providers: providersOf(broken, scriptedJudge(t, 1))})
	_, err := debatetest.Run(t, d)
	require.ErrorContains(t, err, "run step respond of B in round 1: call provider m: authentication: 401")
	require.Equal(t, fsm.Error, debatetest.Result(t, d).State)

	fixed := scripted.Text("second")
	e := debatetest.Engine(t, debate.Options{Store: memory, Providers: providersOf(fixed, scriptedJudge(t, 1))})
	d = debatetest.Open(t, e, "d")
	_, err = debatetest.Run(t, d)
	require.ErrorContains(t, err, "401", "driving a debate in error gives the cause, read from the store")
	require.NoError(t, d.Retry(t.Context()))
	debatetest.Finish(t, d)
	require.Len(t, fixed.Calls(), 1)
	require.Equal(
		t,
		[]string{"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/"},
		debatetest.TurnKeys(debatetest.Result(t, d)),
	)
}

func TestResetBeginsANewRun(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	runUntilTurn(t, d, transcript.Assessment)
	failByJudgeKey(t, d)
	require.Len(t, debatetest.Result(t, d).Turns, 2)
	require.NoError(t, d.Reset(t.Context()))
	require.Empty(t, debatetest.Result(t, d).Turns, "the old turns are shown no more")
	cfg := debatetest.PairConfig(nil)
	cfg.Topic = "Another one?"
	require.NoError(t, d.Edit(t.Context(), cfg), "after a reset everything may change")
	debatetest.Finish(t, d)
	require.Equal(t, "Another one?", debatetest.Result(t, d).Topic)
	require.Equal(t, "2/1/respond/A/", debatetest.Result(t, d).Turns[0].Key.String())
}

func TestEditAfterTheFirstTurn(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	runUntilTurn(t, d, transcript.Assessment)
	failByJudgeKey(t, d)
	require.NoError(t, d.Retry(t.Context()))
	bad := debatetest.PairConfig(panel.Protocol{Mode: panel.Simultaneous})
	bad.Topic = "Else?"
	bad.Background = "Something"
	bad.Participants[0].Persona = "A Dane"
	var problems *debate.Problems
	require.ErrorAs(t, d.Edit(t.Context(), bad), &problems)
	require.Len(t, problems.List, 4)
	for i, field := range []string{"topic", "background", "protocol", "participants"} {
		require.Equal(t, field, problems.List[i].Field)
		require.Contains(t, problems.List[i].Reason, "reset")
	}
	good := debatetest.PairConfig(nil)
	good.Participants[0].Model = "other"
	good.Judges[0].Name = "K"
	good.Limits.MaxRounds = 7
	require.NoError(t, d.Edit(t.Context(), good))
	debatetest.Finish(t, d)
	require.Equal(t, "1/1/assess/K/", debatetest.TurnKeys(debatetest.Result(t, d))[2])
}

func TestInjectedRemarksAreHeard(t *testing.T) {
	var model *scripted.Provider
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
		model = talkingModel()
		o.Providers["m"] = model
	})
	remark := debate.Remark{ID: "r1", From: "Host", Text: "Please mention trams."}
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if turn, ok := ev.(debate.TurnDone); ok && turn.Turn.Actor == "A" {
			require.NoError(t, d.Inject(t.Context(), remark))
			require.NoError(t, d.Inject(t.Context(), remark), "giving it twice is giving it once")
		}
	}
	require.Equal(
		t,
		[]string{"1/1/respond/A/", "1/0/remark/Host/r1", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/"},
		debatetest.TurnKeys(debatetest.Result(t, d)),
	)
	said := model.Calls()[1].Messages
	require.Regexp(t, `^<<<\d+ begin: Host>>>\nPlease mention trams\.\n<<<\d+ end>>>$`, said[len(said)-2].Text)

	var problems *debate.Problems
	require.ErrorAs(t, d.Inject(t.Context(), debate.Remark{From: "", Text: " "}), &problems)
	require.Len(t, problems.List, 2)
	fresh := newPanelDebate(t, 1, nil)
	require.ErrorContains(
		t,
		fresh.Inject(t.Context(), debate.Remark{From: "A", Text: "I concede."}),
		`"A" is the name of an actor in this debate`,
	)
}

func TestAnnotationsStandInTheResult(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	debatetest.Finish(t, d)
	require.NoError(t, d.Annotate(t.Context(), "rating", 4))
	require.NoError(t, d.Annotate(t.Context(), "rating", 5), "a later one replaces it")
	require.Equal(t, map[string]json.RawMessage{"rating": json.RawMessage("5")}, debatetest.Result(t, d).Annotations)
	require.ErrorContains(t, d.Annotate(t.Context(), "bad", func() {}), "encode bad")
}

func TestControlsFromManyGoroutines(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		d := newPanelDebate(t, 5, func(c *debate.Config, _ *debate.Options) { c.Protocol = panel.Protocol{Mode: mode} })
		ctx := t.Context()
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for n := range 20 {
					switch (i + n) % 5 {
					case 0:
						_ = d.Pause(ctx) // rejected before the start
					case 1:
						_ = d.Resume(ctx)
					case 2:
						_, err := d.Result(ctx)
						require.NoError(t, err)
					case 3:
						_ = d.Inject(ctx, debate.Remark{From: "Host", Text: "hm"})
					case 4:
						require.NoError(t, d.Annotate(ctx, "n", n))
					}
				}
			})
		}
		for debatetest.Result(t, d).State != fsm.Completed {
			debatetest.Finish(t, d)
			_ = d.Resume(ctx)
		}
		all.Wait()
		require.Len(t, debatetest.Result(t, d).Assessments, 5)
	}
}

// failByJudgeKey brings a debate with a judge into an error.
func failByJudgeKey(t *testing.T, d *debate.Debate) {
	t.Helper()
	failByAuthentication(t, d)
}

// storedJSON returns the stored events as JSON.
func storedJSON(t *testing.T, events []debate.Event) []string {
	list := []string{}
	for _, ev := range events {
		if !ev.Meta().Live {
			list = append(list, debatetest.Encode(t, ev))
		}
	}
	return list
}

func TestWatchShowsWhatIsStoredFromAnySeq(t *testing.T) {
	d := newPanelDebate(t, 2, nil)
	shown := debatetest.Finish(t, d)
	all := watchAll(t, d, 0)
	require.Equal(t, storedJSON(t, shown), storedJSON(t, all)[1:], "all but the configuration, which came before")
	require.IsType(t, debate.Ended{}, all[len(all)-1])
	for after := range int64(len(all)) {
		rest := watchAll(t, d, after)
		require.Equal(t, storedJSON(t, all)[after:], storedJSON(t, rest))
		require.IsType(t, debate.Ended{}, rest[len(rest)-1])
	}
	require.Len(t, watchAll(t, d, 9999), 1, "beyond the end there is only the result")
}

func TestWatchFollowsADetachedDebate(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		synctest.Test(t, func(t *testing.T) {
			d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
				c.Protocol, o.Providers["m"] = panel.Protocol{Mode: mode}, slowModel()
			})
			require.NoError(t, d.Start(t.Context()))
			require.NoError(t, d.Start(t.Context()), "starting a running debate is no error")
			late := make(chan []debate.Event)
			go func() {
				time.Sleep(5 * time.Second) // in the middle of the first speech
				late <- watchAll(t, d, 0)
			}()
			quick := watchAll(t, d, 0)
			requireWholeSpeeches(t, quick)
			requireWholeSpeeches(t, <-late)
			require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
			require.ErrorAs(t, d.Start(t.Context()), new(*fsm.Refused), "a completed debate does not start")
		})
	}
}

// requireWholeSpeeches checks that the chunks of each speech form its text, without gaps or repetitions.
func requireWholeSpeeches(t *testing.T, events []debate.Event) {
	said := map[transcript.Key]string{}
	done := map[transcript.Key]bool{}
	for _, ev := range events {
		switch ev := ev.(type) {
		case debate.TurnStarted:
			require.False(t, done[ev.Key])
		case debate.Chunk:
			require.Equal(t, len(said[ev.Key]), ev.Offset)
			require.False(t, done[ev.Key], "a chunk after its turn")
			said[ev.Key] += ev.Text
		case debate.TurnDone:
			done[ev.Turn.Key] = true
			if ev.Turn.Kind == transcript.Speech {
				require.True(t, strings.HasPrefix(ev.Turn.Text, said[ev.Turn.Key]))
			}
		}
	}
	require.NotEmpty(t, said)
	require.Len(t, done, 7)
}

func TestASlowWatcherHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = slowModel() })
		require.NoError(t, d.Start(t.Context()))
		began := time.Now()
		var slowly sync.WaitGroup
		slowly.Go(func() {
			for _, err := range d.Watch(t.Context(), 0) {
				assert.NoError(t, err)
				time.Sleep(time.Hour)
			}
		})
		defer slowly.Wait()
		quick := watchAll(t, d, 0)
		require.Equal(t, 20*time.Second, time.Since(began))
		require.IsType(t, debate.Ended{}, quick[len(quick)-1])
	})
}

func TestAWatcherThatLeavesStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = slowModel() })
		require.NoError(t, d.Start(t.Context()))
		for ev, err := range d.Watch(t.Context(), 0) {
			require.NoError(t, err)
			if _, ok := ev.(debate.Chunk); ok {
				break
			}
		}
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		var last error
		for _, err := range d.Watch(ctx, 0) {
			last = err
		}
		require.ErrorIs(t, last, context.DeadlineExceeded)
		watchAll(t, d, 0)
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	})
}

func TestWarningsAndFailuresReachWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits.MaxRounds = 1
			o.Providers["j"] = &scripted.Provider{Replies: []scripted.Reply{
				{Err: &providers.Error{Kind: providers.Network}}, {Text: "I cannot say."}, {Text: "Still not."}, {Text: verdictReply},
			}}
		})
		shown := make(chan []debate.Event)
		go func() { shown <- watchAll(t, d, 0) }()
		synctest.Wait()
		require.NoError(t, d.Start(t.Context()))
		var failed, warned int
		for _, ev := range <-shown {
			switch ev := ev.(type) {
			case debate.TurnFailed:
				failed++
			case debate.Warning:
				warned++
				require.Contains(t, ev.Text, "there was no valid reply, the default is used: the reply holds no JSON object: answer with")
			}
		}
		require.Equal(t, 3, failed, "the network, the reply that was asked for again, and that of the second asking")
		require.Equal(t, 1, warned)
	})
}

// A store without notifications is polled once a second.
func TestAStoreThatCannotBeWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain := struct{ store.Store }{store.Memory()}
		opts := debate.Options{Store: plain, Providers: providersOf(slowModel(), scriptedJudge(t, 1))}
		d := debatetest.New(t, debatetest.PairConfig(nil), opts)
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(2 * time.Second)
		other := debatetest.Engine(t, opts)
		again := debatetest.Open(t, other, "d")
		began := time.Now()
		require.NoError(t, again.Cancel(t.Context()))
		watchAll(t, d, 0)
		require.LessOrEqual(t, time.Since(began), time.Second, "the call in flight was cut")
		time.Sleep(time.Minute) // long enough for the driver to end
		synctest.Wait()
	})
}

// If a call is canceled and repeated, watchers see the new attempt from its beginning, whatever its number and
// length.
func TestWatchersSeeACallThatIsMadeAnew(t *testing.T) {
	for name, said := range map[string][2]string{
		"shorter": {strings.Repeat("long ", 20), "short"},
		"longer":  {"short", strings.Repeat("long ", 20)},
		"alike":   {"the same", "the same"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				model := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
					text := said[min(calls, 1)]
					calls++
					if err := r.OnChunk(text); err != nil {
						return providers.Response{}, err
					}
					time.Sleep(time.Second) // until the watcher has seen it
					return providers.Response{Text: text}, nil
				})
				d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = model })
				shown := make(chan []debate.Event, 1)
				go func() { shown <- watchAll(t, d, 0) }()
				for ev, err := range d.Run(t.Context()) {
					require.NoError(t, err)
					if _, ok := ev.(debate.Chunk); ok {
						time.Sleep(time.Second)
						break
					}
				}
				debatetest.Finish(t, d)
				require.Equal(t, []string{said[0], said[1]}, attemptTexts(t, <-shown, "1/1/respond/A/"))
			})
		})
	}
}

// attemptTexts returns the text of each attempt at a step, joined from its chunks.
func attemptTexts(t *testing.T, events []debate.Event, key string) (texts []string) {
	t.Helper()
	for _, ev := range events {
		switch ev := ev.(type) {
		case debate.TurnStarted:
			if ev.Key.String() == key {
				texts = append(texts, "")
			}
		case debate.Chunk:
			if ev.Key.String() == key {
				require.NotEmpty(t, texts)
				require.Len(t, texts[len(texts)-1], ev.Offset)
				texts[len(texts)-1] += ev.Text
			}
		}
	}
	return texts
}

// This test needs the race detector: the call reads its model's name while the record changes it.
func TestTheModelOfACallInFlightMayBeEdited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := debatetest.PairConfig(panel.Protocol{Personas: panel.Binary})
		model := debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
			time.Sleep(time.Minute) // it ignores the cancellation
			return providers.Response{Text: "x"}, nil
		})
		d := debatetest.New(t, cfg, debate.Options{Providers: providersOf(model, model)})
		left := make(chan struct{})
		go func() {
			defer close(left)
			_, _ = countEvents(d.Run(t.Context()))
		}()
		time.Sleep(time.Second)
		failByAuthentication(t, d)
		other := d.OpenWithProvider(t, model)
		require.NoError(t, other.Retry(t.Context()))
		for i := range 3 {
			cfg.PersonaAssigner.Model = fmt.Sprint("model-", i)
			require.NoError(t, other.Edit(t.Context(), cfg))
			require.Equal(t, fsm.Configuring, debatetest.Status(t, d).State)
		}
		<-left
	})
}

func TestAResetBeginsWithFreshBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		model := debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
			time.Sleep(3 * time.Minute)
			resp := providers.Response{Text: "x", Usage: transcript.Usage{Output: 100}}
			calls++
			if calls == 2 {
				return providers.Response{}, &providers.Error{Kind: providers.Authentication, Partial: resp}
			}
			return resp, nil
		})
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits = debate.Limits{StepTokens: 100, JudgeTokens: 100, OutputTokens: 500, RunningTime: 10 * time.Minute}
			o.Providers["m"] = model
		})
		_, err := debatetest.Run(t, d)
		require.Error(t, err)
		require.Equal(t, 200, debatetest.Status(t, d).Usage.Output)
		require.Equal(t, 6*time.Minute, debatetest.Result(t, d).RunningTime)

		require.NoError(t, d.Reset(t.Context()))
		require.Zero(t, debatetest.Status(t, d).Usage)
		require.Zero(t, debatetest.Status(t, d).RunningTime)
		require.Zero(t, debatetest.Result(t, d).Total)
		require.Zero(t, debatetest.Result(t, d).RunningTime)

		res := debatetest.RunResult(t, d)
		require.Equal(t, transcript.JudgeDecided, res.Ending.Outcome, res.Ending.Evidence)
		require.Equal(t, 6*time.Minute, res.RunningTime)
	})
}

// providerWithBlockingCheck is a provider whose check blocks until its context ends.
type providerWithBlockingCheck struct {
	providers.Provider
	entered chan struct{}
}

func (c providerWithBlockingCheck) Check(ctx context.Context, _ string) error {
	close(c.entered)
	<-ctx.Done()
	return ctx.Err()
}

func TestCancelCutsTheCheckOfAProvider(t *testing.T) {
	for name, handle := range map[string]func(*testing.T, *debate.Debate) *debate.Debate{
		"by the handle that runs": func(_ *testing.T, d *debate.Debate) *debate.Debate { return d },
		"by another engine":       func(t *testing.T, d *debate.Debate) *debate.Debate { return d.OpenWithProvider(t, talkingModel()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := providerWithBlockingCheck{talkingModel(), make(chan struct{})}
				d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = c })
				other := handle(t, d)
				began := time.Now()
				done := make(chan error)
				go func() {
					_, err := countEvents(d.Run(t.Context()))
					done <- err
				}()
				<-c.entered
				require.NoError(t, other.Cancel(t.Context()))
				require.NoError(t, <-done)
				require.Zero(t, time.Since(began))
				require.Equal(t, fsm.Canceled, debatetest.Result(t, d).State)
			})
		})
	}
}

func TestTheDeletionOfADebateEndsWatchingIt(t *testing.T) {
	for name, reach := range map[string]func(*testing.T, *debate.Debate){
		"before its start": func(*testing.T, *debate.Debate) {},
		"in a call": func(t *testing.T, d *debate.Debate) {
			require.NoError(t, d.Start(t.Context()))
			time.Sleep(time.Second)
		},
		"while it is paused": startAndPause,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := debatetest.Engine(t, debate.Options{Providers: providersOf(slowModel(), scriptedJudge(t, 1))})
				d := debatetest.Create(t, e, debatetest.PairConfig(nil))
				last := make(chan error, 1)
				go func() {
					_, err := countEvents(d.Watch(t.Context(), 0))
					last <- err
				}()
				reach(t, d)
				synctest.Wait()
				require.NoError(t, e.Delete(t.Context(), "d"))
				synctest.Wait()
				require.Len(t, last, 1, "nobody waits for what never comes")
				require.ErrorIs(t, <-last, store.ErrNotFound)
				_, err := countEvents(d.Watch(t.Context(), 0))
				require.ErrorIs(t, err, store.ErrNotFound)
				require.NoError(t, e.Close(t.Context()), "its driver has left, or it would wait for ever")
			})
		})
	}
}

func TestARemarkBeforeTheStartBindsNobody(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	require.NoError(t, d.Inject(t.Context(), debate.Remark{ID: "r", From: "Host", Text: "Be kind."}))
	cfg := debatetest.PairConfig(panel.Protocol{Mode: panel.Simultaneous})
	cfg.Topic, cfg.Participants[0].Persona = "Ban bikes?", "A Dane"
	cfg.Participants = append(cfg.Participants, debate.Participant{Name: "C", Provider: "m"})
	require.NoError(t, d.Edit(t.Context(), cfg))
	debatetest.Finish(t, d)
	require.Equal(t, "Ban bikes?", debatetest.Result(t, d).Topic)
	require.Equal(
		t,
		[]string{"1/0/remark/Host/r", "1/1/respond/A/", "1/1/respond/B/", "1/1/respond/C/"},
		debatetest.TurnKeys(debatetest.Result(t, d))[:4],
	)
}

// loadCountingStore is a store that counts loads, and the entries that they return.
type loadCountingStore struct {
	store.Store
	store.Watcher
	loads, entries atomic.Int64
}

func (c *loadCountingStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := c.Store.Load(ctx, id, after)
	c.loads.Add(1)
	c.entries.Add(int64(len(entries)))
	return status, entries, err
}

func TestAnOpenedDebateReadsEachEntryOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := store.Memory()
		opts := debate.Options{Store: memory, Providers: providersOf(talkingModel(), scriptedJudge(t, 1))}
		d := debatetest.New(t, debatetest.PairConfig(nil), opts)
		runUntilTurn(t, d, "assessment")
		counted := &loadCountingStore{Store: memory, Watcher: memory.(store.Watcher)}
		opts.Store = counted
		e := debatetest.Engine(t, opts)
		opened := debatetest.Open(t, e, "d")
		read := func() int { return int(counted.entries.Swap(0)) }
		last := func() (seq int64) {
			t.Helper()
			for _, ev := range storedEvents(t, opened) {
				seq++
				require.Equal(t, seq, ev.Meta().Seq)
			}
			return seq
		}
		seq := last()
		require.EqualValues(t, seq, read(), "Open has read all")
		key := debatetest.Result(t, opened).Turns[1].Key
		want := debatetest.PromptOf(t, d, key)
		got := debatetest.PromptOf(t, opened, key)
		require.Equal(t, want, got)
		require.Zero(t, read())

		require.NoError(t, opened.Annotate(t.Context(), "mood", "calm"))
		require.Equal(t, seq+1, last(), "with what the handle commits")
		require.Zero(t, read())
		require.NoError(t, d.Annotate(t.Context(), "mood", "tense"))
		require.Equal(t, seq+2, last(), "with what others commit")
		require.Equal(t, 1, read())
		require.Equal(t, seq+2, debatetest.Status(t, opened).Seq)
		require.Equal(t, 1, read())
		require.Equal(t, seq+2, last())
		require.Zero(t, read())

		require.NoError(t, e.Delete(t.Context(), "d"))
		for _, err := range opened.Replay(t.Context()) {
			require.ErrorIs(t, err, store.ErrNotFound)
		}
		time.Sleep(time.Second)
		cfg := debatetest.PairConfig(nil)
		cfg.Topic = "Ban bikes?"
		other := debatetest.New(t, cfg, debate.Options{Store: memory, Providers: opts.Providers})
		debatetest.Finish(t, other)
		require.Equal(t, storedEvents(t, other), storedEvents(t, opened), "a new debate has the id")
		require.Equal(t, debatetest.Status(t, other), debatetest.Status(t, opened))
		read()
		require.Equal(t, storedEvents(t, other), storedEvents(t, opened))
		require.Zero(t, read())
	})
}

func TestAnOpenedForkReadsEachEntryOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := store.Memory()
		counted := &loadCountingStore{Store: memory, Watcher: memory.(store.Watcher)}
		e := debatetest.Engine(t, debate.Options{Store: counted, Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
		d := debatetest.Create(t, e, debatetest.PairConfig(nil))
		debatetest.Finish(t, d)
		time.Sleep(time.Second) // the fork is created later than what it begins with
		debatetest.Fork(t, e, "d", 0, debate.Edits{ID: "fork"})
		opened := debatetest.Open(t, e, "fork")
		counted.entries.Store(0)
		require.NotEmpty(t, storedEvents(t, opened))
		require.Zero(t, counted.entries.Load())
	})
}

// roomyStore returns entries whose lists of failures have room for more.
type roomyStore struct{ store.Store }

func (s roomyStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := s.Store.Load(ctx, id, after)
	for i := range entries {
		if ev, ok := entries[i].Data.(debate.StateChanged); ok {
			ev.OtherFailures = slices.Grow(ev.OtherFailures, 1)
			entries[i].Data = ev
		}
	}
	return status, entries, err
}

func TestReplaysDoNotChangeEvents(t *testing.T) {
	refused := debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
		return providers.Response{}, &providers.Error{Kind: providers.Authentication}
	})
	e := debatetest.Engine(t, debate.Options{Store: roomyStore{store.Memory()}, Providers: providersOf(refused, scriptedJudge(t, 1))})
	d := debatetest.Create(t, e, debatetest.PairConfig(panel.Protocol{Mode: panel.Simultaneous}))
	_, err := debatetest.Run(t, d)
	require.Error(t, err)
	opened := debatetest.Open(t, e, "d")
	failed := lastFailure(storedEvents(t, opened))
	require.NotNil(t, failed.Failure)
	n := len(failed.OtherFailures)
	require.Nil(t, failed.OtherFailures[:n+1][n], "replays of a handle share the event, and may run at the same time")
}

func TestChunksAreWatchedWithoutALookAtTheJournal(t *testing.T) {
	const chunks = 100
	synctest.Test(t, func(t *testing.T) {
		memory := store.Memory()
		s := &loadCountingStore{Store: memory, Watcher: memory.(store.Watcher)}
		d := newPanelDebate(t, 2, func(_ *debate.Config, o *debate.Options) {
			o.Store, o.Providers["m"] = s, debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
				synctest.Wait() // the viewer has read everything that is stored
				before := s.loads.Load()
				for range chunks {
					if err := r.OnChunk("word "); err != nil {
						return providers.Response{}, err
					}
					synctest.Wait() // and now this chunk
				}
				assert.Equal(t, before, s.loads.Load())
				return providers.Response{Text: "the last word"}, nil
			})
		})
		require.NoError(t, d.Start(t.Context()))
		live, heard := watchAll(t, d, 0), 0
		for _, ev := range live {
			if c, ok := ev.(debate.Chunk); ok && c.Text == "word " {
				heard++
			}
		}
		require.Equal(t, 4*chunks, heard, "each as it came")
		require.Equal(t, storedJSON(t, watchAll(t, d, 0)), storedJSON(t, live), "and all that is stored")
		require.IsType(t, debate.Ended{}, live[len(live)-1])
	})
}

// A stop during the conclusion changes neither the outcome nor its evidence.
func TestTheOutcomeIsDecidedOnce(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	runUntilTurn(t, d, transcript.Conclusion)
	require.NoError(t, d.Pause(t.Context()))
	want := debatetest.Result(t, d).Ending
	require.NotEmpty(t, want.Outcome)
	require.NotEqual(t, transcript.Stopped, want.Outcome)
	require.NoError(t, d.Stop(t.Context()))
	require.Equal(t, want, debatetest.Result(t, d).Ending)
	debatetest.Finish(t, d)
	require.Equal(t, want, debatetest.Result(t, d).Ending)
}

// deafModel is a model whose first call ignores that it is canceled, and replies when it is released.
type deafModel struct {
	providers.Provider
	called, release chan struct{}
	calls           atomic.Int64
	canceled        atomic.Bool
}

func newDeafModel() *deafModel {
	return &deafModel{Provider: talkingModel(), called: make(chan struct{}), release: make(chan struct{})}
}

func (m *deafModel) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if m.calls.Add(1) > 1 {
		return m.Provider.Generate(ctx, r)
	}
	close(m.called)
	<-m.release
	m.canceled.Store(ctx.Err() != nil)
	return providers.Response{Text: "too late", FinishReason: providers.Stop}, nil
}

// A step of a deleted debate is not committed to a new debate with the same id, although that has the same step open.
func TestACallForADeletedDebateIsNotCommittedToItsSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, deaf := store.Memory(), newDeafModel()
		engine := func(s store.Store, p providers.Provider) *debate.Engine {
			return debatetest.Engine(t, debate.Options{Store: s, Providers: providersOf(p, scriptedJudge(t, 1))})
		}
		// The old debate's engine polls the store once a second, so it does not notice the deletion.
		old := debatetest.Create(t, engine(struct{ store.Store }{s}, deaf), debatetest.PairConfig(nil))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = debatetest.Run(t, old)
		}()
		<-deaf.called
		time.Sleep(1500 * time.Millisecond)

		e := engine(s, slowModel())
		require.NoError(t, e.Delete(t.Context(), "d"))
		d := debatetest.Create(t, e, debatetest.PairConfig(nil))
		require.NoError(t, d.Annotate(t.Context(), "note", "new")) // the poll finds a seq that is higher
		runUntilTurn(t, d, transcript.Speech)
		time.Sleep(2 * time.Second)
		close(deaf.release)
		<-ended
		for _, turn := range debatetest.Result(t, d).Turns {
			require.NotEqual(t, "too late", turn.Text)
		}
	})
}

// A start that arrives while Run leaves takes effect only if the debate is active or paused by then.
func TestAStartThatComesWhileRunLeaves(t *testing.T) {
	t.Run("the debate is ready again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
				o.Providers["m"] = modelFailingFirst(1, providers.Authentication, transcript.Usage{})
			})
			for ev, err := range d.Run(t.Context()) {
				if _, ok := ev.(debate.PhaseStarted); ok {
					require.NoError(t, d.Start(t.Context()))
				}
				if err != nil {
					require.NoError(t, d.Retry(t.Context()))
				}
			}
			time.Sleep(time.Minute)
			require.Equal(t, fsm.Ready, debatetest.Result(t, d).State, "nobody has started it since")
			_, err := debatetest.Run(t, d)
			require.NoError(t, err, "nobody drives it")
			require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		})
	})
	t.Run("the debate is paused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newPanelDebate(t, 1, nil)
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if _, ok := ev.(debate.PhaseStarted); ok {
					require.NoError(t, d.Start(t.Context()))
					require.NoError(t, d.Pause(t.Context()))
				}
			}
			synctest.Wait()
			require.NoError(t, d.Resume(t.Context()))
			synctest.Wait()
			require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		})
	})
}

// If another process commits after the driver has planned its calls and before they can be canceled, they are canceled
// as soon as they can be.
func TestCallsOfAnOutdatedPlanAreCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		})
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = m })
		runUntilTurn(t, d, transcript.Speech)
		other := d.OpenWithProvider(t, m)
		began := time.Now()
		d.PerformPlanAfter(t, func() {
			require.NoError(t, other.Cancel(t.Context()))
			synctest.Wait() // the driver was told, and had nothing to cancel
		})
		require.Zero(t, time.Since(began))
	})
}

func TestStartReturnsWhyItCannotDrive(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{})
	d := debatetest.Create(t, e, debatetest.PairConfig(nil))
	require.ErrorIs(t, d.Start(t.Context()), debate.ErrUnsupported)
	require.Equal(t, fsm.Configuring, debatetest.Result(t, d).State)

	e = debatetest.Engine(t, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
	d = debatetest.Create(t, e, debatetest.PairConfig(nil))
	require.NoError(t, e.Close(t.Context()))
	require.ErrorIs(t, d.Start(t.Context()), debate.ErrClosed)
}

// An engine that lacks the protocol of an active debate cannot drive it, but can ask workers to do so.
func TestStartOfAnActiveDebateWithAnotherProtocol(t *testing.T) {
	memory, models := store.Memory(), providersOf(talkingModel(), talkingModel())
	e := debatetest.Engine(t, debate.Options{Store: memory, Providers: models})
	c := debatetest.PairConfig(unjudgedPanel{})
	c.Judges = nil
	d := debatetest.Create(t, e, c)
	runUntilTurn(t, d, transcript.Speech)
	for want, s := range map[error]store.Store{debate.ErrUnsupported: memory, nil: schedulingStore{memory, memory.(store.Watcher)}} {
		e := debatetest.Engine(t, debate.Options{Store: s, Providers: models})
		other := debatetest.Open(t, e, d.ID())
		require.ErrorIs(t, other.Start(t.Context()), want)
	}
}

// Where workers drive, Start of a debate that was retried plans its next step.
func TestStartOfAReadyDebatePlansAStep(t *testing.T) {
	memory := store.Memory()
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = schedulingStore{memory, memory.(store.Watcher)} })
	failByAuthentication(t, d)
	require.NoError(t, d.Retry(t.Context()))
	require.NoError(t, d.Start(t.Context()))
	require.Equal(t, fsm.AwaitingResponses, debatetest.Status(t, d).State)
	require.Equal(t, "1/1/respond/A/", debatetest.Status(t, d).Plan.Key)
}

// A debate without judges is never in judging. A transition has the round, and an ending only if it decides the outcome.
func TestTransitionsSayWhatTheyChange(t *testing.T) {
	d := newPanelDebate(t, 2, func(c *debate.Config, _ *debate.Options) {
		c.Protocol = unjudgedPanel{}
		c.Judges = nil
		c.Limits.MaxRounds = 2
	})
	events := debatetest.Finish(t, d)
	endings, round := 0, 0
	for _, ev := range events {
		s, ok := ev.(debate.StateChanged)
		if !ok {
			continue
		}
		require.NotEqual(t, fsm.Judging, s.To)
		if s.To == fsm.AwaitingResponses {
			round++
		}
		require.Equal(t, round, s.Round)
		if s.Ending.Outcome == "" {
			require.Zero(t, s.Ending)
		} else {
			endings++
		}
	}
	require.Equal(t, 2, round)
	require.Equal(t, 1, endings)
}

// A commit is never older than the one before, even if the clock of another machine was ahead.
func TestTimeNeverGoesBack(t *testing.T) {
	later := time.Now().Add(time.Hour).UTC()
	require.Equal(t, later, debate.TimeOfCommitAfter(later))
	require.True(t, debate.TimeOfCommitAfter(time.Time{}).Before(later))
}

// countingStore counts commits, and fails one of them.
type countingStore struct {
	store.Store
	store.Watcher
	commits, failAt atomic.Int64
	failWith        error
	last            atomic.Pointer[store.Change]
}

func newCountingStore() *countingStore {
	memory := store.Memory()
	return &countingStore{Store: memory, Watcher: memory.(store.Watcher), failWith: errNoSpace}
}

func (s *countingStore) Commit(ctx context.Context, c store.Change) error {
	if s.last.Store(&c); s.commits.Add(1) == s.failAt.Load() {
		return s.failWith
	}
	return s.Store.Commit(ctx, c)
}

// schedulingCounter is a countingStore whose debates workers drive.
type schedulingCounter struct{ *countingStore }

func (schedulingCounter) Schedules() bool { return true }

// Where workers drive, a second Start asks for a job again, although the debate does not change. Other repeated controls
// commit nothing.
func TestRepeatedControlsCommitNothing(t *testing.T) {
	s := newCountingStore()
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = schedulingCounter{s} })
	require.NoError(t, d.Start(t.Context()))
	before := s.commits.Load()
	require.NoError(t, d.Start(t.Context()))
	require.Equal(t, before+1, s.commits.Load())
	require.Empty(t, s.last.Load().Entries)

	s = newCountingStore()
	d = newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = s })
	runUntilTurn(t, d, transcript.Speech)
	for _, act := range []func(*debate.Debate, context.Context) error{(*debate.Debate).Pause, (*debate.Debate).Resume, (*debate.Debate).Stop} {
		require.NoError(t, act(d, t.Context()))
		before := s.commits.Load()
		require.NoError(t, act(d, t.Context()))
		require.Equal(t, before, s.commits.Load())
	}
}

func TestRemarksWithoutAnIDAreDifferent(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	for range 2 {
		require.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Mo", Text: "Think of buses."}))
	}
	require.Len(t, debatetest.Result(t, d).Turns, 2)
}

func TestEditKeepsTheID(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	c := debatetest.PairConfig(nil)
	c.ID = "another"
	require.NoError(t, d.Edit(t.Context(), c))
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if ev, ok := m.Event.(debate.ConfigChanged); ok {
			require.Contains(t, string(ev.Config), `"id":"d"`)
		}
	}
}

// slowChecker is a model whose check takes long and refuses the model.
type slowChecker struct{ providers.Provider }

func (slowChecker) Check(ctx context.Context, _ string) error {
	if err := sleepContext(ctx, 10*time.Second); err != nil {
		return err
	}
	return &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("no such model")}
}

// A commit that does not end the check of a configuration does not disturb it.
func TestACheckGoesOnWhenSomethingElseIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = slowChecker{talkingModel()} })
		began, ran := time.Now(), make(chan error, 1)
		go func() {
			_, err := debatetest.Run(t, d)
			ran <- err
		}()
		time.Sleep(time.Second)
		require.NoError(t, d.Annotate(t.Context(), "rating", 5))
		require.NoError(t, d.OpenWithProvider(t, talkingModel()).Annotate(t.Context(), "rating", 6))
		require.ErrorAs(t, <-ran, new(*debate.Problems))
		require.Equal(t, 10*time.Second, time.Since(began), "the check was not repeated")
	})
}

// A viewer that comes after Run has ended in the middle of a call sees nothing of that call.
func TestABrokenCallIsNotShownLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, nil)
		runUntilTurn(t, d, transcript.Speech)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		watcher := make(chan struct{})
		go func() { // keeps the live events
			defer close(watcher)
			for _, err := range d.Watch(t.Context(), 0) {
				assert.NoError(t, err)
			}
		}()
		synctest.Wait()
		runUntilTurn(t, d, transcript.Speech)
		for ev, err := range d.Watch(ctx, 0) {
			if err == nil { // the last one is the end of ctx
				assert.NotEqual(t, "turn_started", typeOf(ev))
			}
		}
		require.NoError(t, d.Cancel(t.Context()))
		<-watcher
	})
}

func typeOf(ev debate.Event) string {
	if ev == nil {
		return ""
	}
	return ev.Meta().Type
}

// After a commit that failed, the driver still notices the commits of other processes.
func TestACallIsCutAfterACommitThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCountingStore()
		calls := 0
		m := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
			calls++
			if calls == 1 {
				s.failAt.Store(s.commits.Load() + 1)
				return providers.Response{Text: "lost", FinishReason: providers.Stop}, nil
			}
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		})
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store, o.Providers["m"] = s, m })
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(time.Minute) // the second call is in flight
		elsewhere := debatetest.Engine(t, debate.Options{Store: s})
		other := debatetest.Open(t, elsewhere, d.ID())
		began := time.Now()
		require.NoError(t, other.Cancel(t.Context()))
		watchAll(t, d, 0)
		synctest.Wait()
		require.Equal(t, 2, calls)
		require.Zero(t, time.Since(began), "the call is cut at once")
		require.Empty(t, debatetest.Result(t, d).Annotations, "an error of the store is no rate limit")
	})
}

// silentStore is a store whose announcements are lost.
type silentStore struct{ store.Store }

func (silentStore) Watch(string, func(int64)) (stop func()) { return func() {} }

// A call is not made if the handle that drives the debate has canceled it, although the store announces nothing.
func TestTheDriversOwnCancelNeedsNoNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := slowModel()
		d := newPanelDebate(t, 5, func(c *debate.Config, o *debate.Options) {
			c.Limits.RoundDelay = time.Minute
			o.Store = silentStore{store.Memory()}
			o.Providers["m"] = m
		})
		for ev, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			if p, ok := ev.(debate.PhaseStarted); ok && p.Round == 2 { // after the delay, the plan begins the phase
				require.NoError(t, d.Cancel(t.Context()))
			}
		}
		require.Len(t, m.Calls(), 2, "those of the first round")
	})
}

// If a turn cannot be committed because another process has ended the debate, the other calls of the phase are canceled
// at once, although the store announces nothing.
func TestAConflictCancelsTheOtherCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := store.Memory()
		var calls atomic.Int64
		m := debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
			if calls.Add(1) == 1 {
				time.Sleep(10200 * time.Millisecond)
				return providers.Response{Text: "Late.", FinishReason: providers.Stop}, nil
			}
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		})
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol = panel.Protocol{Mode: panel.Simultaneous}
			o.Store = struct{ store.Store }{memory}
			o.Providers["m"] = m
		})
		elsewhere := debatetest.Engine(t, debate.Options{Store: memory})
		other := debatetest.Open(t, elsewhere, d.ID())
		began := time.Now()
		time.AfterFunc(10100*time.Millisecond, func() { assert.NoError(t, other.Cancel(t.Context())) })
		debatetest.Finish(t, d)
		require.Equal(t, 10200*time.Millisecond, time.Since(began))
	})
}

// A conflict makes a control try again, also without a driver.
func TestAControlTriesAgainAfterAConflict(t *testing.T) {
	s := newCountingStore()
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = s })
	s.failWith = &store.Conflict{}
	s.failAt.Store(s.commits.Load() + 1)
	require.NoError(t, d.Annotate(t.Context(), "rating", 5))
	require.Len(t, debatetest.Result(t, d).Annotations, 1)
}

// The viewer's time counts for the turn that waited for it, not for the next one.
func TestTheViewersTimeCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		m := debatetest.ProviderFunc(func(_ context.Context, _ providers.Request) (providers.Response, error) {
			time.Sleep(time.Duration(calls.Add(1)) * 10 * time.Second)
			return providers.Response{Text: "Well.", FinishReason: providers.Stop}, nil
		})
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, o.Providers["m"] = panel.Protocol{Mode: panel.Simultaneous}, m
		})
		waited := false
		for ev, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			if _, ok := ev.(debate.TurnStarted); ok && !waited {
				waited = true
				time.Sleep(3 * time.Second)
			}
		}
		var viewed []time.Duration
		for _, turn := range debatetest.Result(t, d).Turns {
			if turn.Kind == transcript.Speech {
				viewed = append(viewed, turn.ViewerTime)
			}
		}
		require.ElementsMatch(t, []time.Duration{3 * time.Second, 0}, viewed)
	})
}

// A damaged entry that arrives during a call ends the driving with an error.
func TestADamagedEntryDuringACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, deaf := store.Memory(), newDeafModel()
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store, o.Providers["m"] = s, deaf })
		ran := make(chan error, 1)
		go func() {
			_, err := debatetest.Run(t, d)
			ran <- err
		}()
		<-deaf.called
		status, _, err := s.Load(t.Context(), "d", 0)
		require.NoError(t, err)
		after := status.Seq
		status.Seq++
		require.NoError(t, s.Commit(t.Context(), store.Change{ID: "d", After: after, Status: status, Entries: []store.Entry{
			{Seq: status.Seq, Type: "state", At: time.Now(), Data: json.RawMessage(`{"type":"nonsense"}`)},
		}}))
		synctest.Wait()
		close(deaf.release)
		require.ErrorContains(t, <-ran, "entry 7")
	})
}

// hookedStore calls a function after it has read a debate, or fails to read.
type hookedStore struct {
	store.Store
	store.Watcher
	loads, failAt atomic.Int64
	afterLoad     atomic.Pointer[func()]
}

func newHookedStore() *hookedStore {
	memory := store.Memory()
	return &hookedStore{Store: memory, Watcher: memory.(store.Watcher)}
}

func (s *hookedStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	if s.loads.Add(1) == s.failAt.Load() {
		return store.Status{}, nil, errNoSpace
	}
	status, entries, err := s.Store.Load(ctx, id, after)
	if f := s.afterLoad.Swap(nil); f != nil {
		(*f)()
	}
	return status, entries, err
}

// If the driver commits a turn and starts the next call after a viewer has read the journal and before it reads the live
// events, the viewer reads the turn too, and sees it first.
func TestAViewerSeesATurnBeforeTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := newHookedStore(), make(chan struct{})
		var calls atomic.Int64
		m := debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
			if calls.Add(1) == 1 {
				<-gate
				return providers.Response{Text: "First.", FinishReason: providers.Stop}, nil
			}
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		})
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store, o.Providers["m"] = s, m })
		require.NoError(t, d.Start(t.Context()))
		synctest.Wait()
		annotate := func() { require.NoError(t, d.OpenWithProvider(t, m).Annotate(t.Context(), "rating", 5)) }
		commit := func() {
			close(gate)
			synctest.Wait()
			s.afterLoad.Store(&annotate) // when the viewer has read the turn
		}
		s.afterLoad.Store(&commit)
		var seen []string
		for ev, err := range d.Watch(t.Context(), 0) {
			require.NoError(t, err)
			switch ev := ev.(type) {
			case debate.TurnStarted:
				seen = append(seen, "call of "+ev.Key.Actor)
			case debate.TurnDone:
				seen = append(seen, "turn of "+ev.Turn.Actor)
			case debate.Annotated:
				seen = append(seen, "note")
			}
			if len(seen) == 4 {
				break
			}
		}
		require.Equal(t, []string{"call of A", "turn of A", "call of B", "note"}, seen)
		require.NoError(t, d.Cancel(t.Context()))
		synctest.Wait()
	})
}

// The end comes after everything that its result has.
func TestTheEndComesLast(t *testing.T) {
	s := newHookedStore()
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = s })
	debatetest.Finish(t, d)
	seq := debatetest.Status(t, d).Seq
	annotate := func() { require.NoError(t, d.OpenWithProvider(t, talkingModel()).Annotate(t.Context(), "rating", 5)) }
	s.afterLoad.Store(&annotate)
	events := watchAll(t, d, seq)
	require.Len(t, events, 2)
	require.IsType(t, debate.Annotated{}, events[0])
	require.Equal(t, seq+1, events[1].(debate.Ended).Seq)
}

func TestAViewerGetsTheErrorsOfTheStore(t *testing.T) {
	s := newHookedStore()
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = s })
	debatetest.Finish(t, d)
	for _, after := range []int64{debatetest.Status(t, d).Seq, 1 << 40} {
		for n := range int64(2) {
			s.failAt.Store(s.loads.Load() + n + 1)
			yielded := 0
			for ev, err := range d.Watch(t.Context(), after) {
				require.ErrorIs(t, err, errNoSpace)
				require.Nil(t, ev)
				yielded++
			}
			require.Equal(t, 1, yielded)
		}
	}
}

// idle returns a debate that has not begun, and its store.
func idle(t *testing.T) (*debate.Debate, store.Store) {
	t.Helper()
	s := store.Memory()
	d := debatetest.New(t, debatetest.PairConfig(nil), debate.Options{Store: s, Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
	return d, s
}

// requireProblem checks that an error names one field, and says what its value is and what the limit is.
func requireProblem(t *testing.T, err error, field, reason string) {
	t.Helper()
	var wrong *debate.Problems
	require.ErrorAs(t, err, &wrong)
	require.Len(t, wrong.List, 1, "%v", err)
	require.Equal(t, field, wrong.List[0].Field)
	require.Equal(t, reason, wrong.List[0].Reason)
}

func TestNotesHaveLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		name          string
		value         any
		field, reason string
	}{
		"blank name":         {" ", 1, "name", "it is blank"},
		"long name":          {strings.Repeat("n", 129), 1, "name", "it has 129 bytes, use at most 128"},
		"control characters": {"a\x1b[31m", 1, "name", `"a\x1b[31m" is not valid, remove control characters`},
		"NUL":                {"a\x00", 1, "name", `"a\x00" is not valid, remove control characters`},
		"no UTF-8":           {"a\xff", 1, "name", `"a\xff" is not valid, remove control characters`},
		"long value":         {"n", strings.Repeat("v", 16<<10), "value", "it has 16386 bytes, use at most 16384"},
		"longest name":       {strings.Repeat("é", 64), 1, "", ""},
		"longest value":      {"n", strings.Repeat("v", 16<<10-2), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := idle(t)
			err := d.Annotate(t.Context(), tt.name, tt.value)
			if tt.field == "" {
				require.NoError(t, err)
				return
			}
			requireProblem(t, err, tt.field, tt.reason)
		})
	}
}

func TestAllNotesHaveALimit(t *testing.T) {
	d, _ := idle(t)
	for i := range 100 {
		require.NoError(t, d.Annotate(t.Context(), fmt.Sprint("note ", i), i))
	}
	requireProblem(t, d.Annotate(t.Context(), "another", 1), "name",
		"the debate has 100 notes already, which is the most: replace one of them")
	require.NoError(t, d.Annotate(t.Context(), "note 7", "replaced"))

	d, _ = idle(t)
	large := strings.Repeat("v", 16000)
	for i := range 4 {
		require.NoError(t, d.Annotate(t.Context(), fmt.Sprint(i), large))
	}
	requireProblem(t, d.Annotate(t.Context(), "4", large), "value", "all notes would have 80015 bytes, use at most 65536")
	var err error
	for n := 4; err == nil; n++ { // replaced notes stay in the journal
		require.Less(t, n, 300)
		err = d.Annotate(t.Context(), "0", large)
	}
	require.ErrorContains(t, err, "all notes that were ever stored would have")
}

// The engine stores no note beyond the limits, so one in a journal is damage.
func TestAStoredNoteBeyondTheLimitsIsDamage(t *testing.T) {
	for name, tt := range map[string]struct{ name, value, want string }{
		"a large value":     {"n", strings.Repeat("x", 20_000), `note "n": value: it has 20002 bytes, use at most 16384`},
		"a long name":       {strings.Repeat("n", 5000), "short", "name: it has 5000 bytes, use at most 128"},
		"a large signature": {chain.NoteName, strings.Repeat("x", 20_000), "the signature has 20002 bytes, use at most 16384"},
	} {
		t.Run(name, func(t *testing.T) {
			d, s := idle(t)
			status, _, err := s.Load(t.Context(), "d", 0)
			require.NoError(t, err)
			now, after := time.Now().UTC().Truncate(time.Microsecond), status.Seq
			status.Seq++
			note := debate.Annotated{
				EventMeta: debate.EventMeta{Type: "annotated", Seq: status.Seq}, At: now, Name: tt.name,
				Value: json.RawMessage(debatetest.Encode(t, tt.value)),
			}
			entries := []store.Entry{{Seq: status.Seq, Type: "annotated", At: now, Data: note}}
			require.NoError(t, s.Commit(t.Context(), store.Change{ID: "d", After: after, Status: status, Entries: entries}))
			_, err = d.Result(t.Context())
			require.ErrorAs(t, err, new(*store.Damaged))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestRemarksHaveLimits(t *testing.T) {
	d, _ := idle(t)
	inject := func(id, text string) error {
		return d.Inject(t.Context(), debate.Remark{ID: id, From: "Pat", Text: text})
	}
	const wrongID = "it is not valid, use at most 128 bytes of UTF-8 without control characters"
	requireProblem(t, inject(strings.Repeat("i", 129), "So."), "id", wrongID)
	requireProblem(t, inject("a\nb", "So."), "id", wrongID)
	for i := range 1000 {
		require.NoError(t, inject(fmt.Sprint(i), "So."))
	}
	requireProblem(t, inject("another", "So."), "text", "the debate has 1000 remarks already, which is the most")
	require.NoError(t, inject("999", "So."), "it is there already")

	d, _ = idle(t)
	long := strings.Repeat("so ", 10_000)
	var err error
	for n := 0; err == nil; n++ {
		require.Less(t, n, 40)
		err = inject(fmt.Sprint(n), long)
	}
	requireProblem(t, err, "text", "it has 30000 bytes, and all remarks would have 1050000, use at most 1048576")
}

func TestLabelsHaveLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		labels map[string]string
		reason string
	}{
		"long name":         {map[string]string{strings.Repeat("n", 129): ""}, "a name has 129 bytes, use at most 128"},
		"long value":        {map[string]string{"n": strings.Repeat("v", 4097)}, "n: the value has 4097 bytes, use at most 4096"},
		"control character": {map[string]string{"n": "a\nb"}, `"n" is not valid, remove control characters`},
		"too much in all": {
			map[string]string{
				"a": strings.Repeat("v", 4096), "b": strings.Repeat("v", 4096), "c": strings.Repeat("v", 4096),
				"d": strings.Repeat("v", 4096),
			},
			"all names and values have 16388 bytes, use at most 16384",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := debatetest.PairConfig(nil)
			c.Labels = tt.labels
			e := debatetest.Engine(t, debate.Options{})
			_, err := e.Create(t.Context(), c)
			requireProblem(t, err, "labels", tt.reason)
			c.Labels = nil
			debatetest.Create(t, e, c)
			_, err = e.Fork(t.Context(), c.ID, 0, debate.Edits{Labels: tt.labels})
			requireProblem(t, err, "labels", tt.reason)
		})
	}
	many := debatetest.PairConfig(nil)
	many.Labels = map[string]string{}
	for i := range 65 {
		many.Labels[fmt.Sprint(i)] = "x"
	}
	e := debatetest.Engine(t, debate.Options{})
	_, err := e.Create(t.Context(), many)
	requireProblem(t, err, "labels", "there are 65, use at most 64")
}

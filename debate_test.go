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
func actDuringSpeech(t *testing.T, mode panel.Mode, act func(ctx context.Context, d *debate.Debate)) (r *debate.Result, m *scripted.Provider, took time.Duration) {
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
		"pause":  {fsm.AwaitingResponses: fsm.Paused, fsm.Judging: fsm.Paused, fsm.Completing: fsm.Paused, fsm.Paused: fsm.Paused},
		"resume": {fsm.Paused: fsm.AwaitingResponses, fsm.AwaitingResponses: fsm.AwaitingResponses, fsm.Judging: fsm.Judging, fsm.Completing: fsm.Completing},
		"stop": {
			fsm.AwaitingResponses: fsm.Completed, fsm.Judging: fsm.Completing, fsm.Paused: fsm.Completed,
			fsm.Completing: fsm.Completing, fsm.Completed: fsm.Completed,
		},
		"cancel": {
			fsm.Configuring: fsm.Canceled, fsm.AwaitingResponses: fsm.Canceled, fsm.Judging: fsm.Canceled, fsm.Completing: fsm.Canceled,
			fsm.Paused: fsm.Canceled, fsm.Error: fsm.Canceled, fsm.Ready: fsm.Canceled, fsm.Canceled: fsm.Canceled,
		},
		"retry": {
			fsm.Error: fsm.Ready, fsm.Ready: fsm.Ready, fsm.AwaitingResponses: fsm.AwaitingResponses, fsm.Judging: fsm.Judging, fsm.Completing: fsm.Completing,
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
	require.Equal(t, []string{"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/"}, debatetest.TurnKeys(debatetest.Result(t, d)))
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
	bad.Topic, bad.Background, bad.Participants[0].Persona = "Else?", "Something", "A Dane"
	var problems *debate.Problems
	require.ErrorAs(t, d.Edit(t.Context(), bad), &problems)
	require.Len(t, problems.List, 4)
	for i, field := range []string{"topic", "background", "protocol", "participants"} {
		require.Equal(t, field, problems.List[i].Field)
		require.Contains(t, problems.List[i].Reason, "reset")
	}
	good := debatetest.PairConfig(nil)
	good.Participants[0].Model, good.Judges[0].Name, good.Limits.MaxRounds = "other", "K", 7
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
	require.Equal(t, []string{"1/1/respond/A/", "1/0/remark/Host/r1", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/"}, debatetest.TurnKeys(debatetest.Result(t, d)))
	said := model.Calls()[1].Messages
	require.Regexp(t, `^<<<\d+ begin: Host>>>\nPlease mention trams\.\n<<<\d+ end>>>$`, said[len(said)-2].Text)

	var problems *debate.Problems
	require.ErrorAs(t, d.Inject(t.Context(), debate.Remark{From: "", Text: " "}), &problems)
	require.Len(t, problems.List, 2)
	fresh := newPanelDebate(t, 1, nil)
	require.ErrorContains(t, fresh.Inject(t.Context(), debate.Remark{From: "A", Text: "I concede."}), `"A" is the name of an actor in this debate`)
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
			if calls++; calls == 2 {
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
				other, began, done := handle(t, d), time.Now(), make(chan error)
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
	require.Equal(t, []string{"1/0/remark/Host/r", "1/1/respond/A/", "1/1/respond/B/", "1/1/respond/C/"}, debatetest.TurnKeys(debatetest.Result(t, d))[:4])
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

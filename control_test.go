package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// slow is a model that takes ten seconds for a statement of two pieces.
func slow() *scripted.Provider {
	return &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Text: "take your time", Chunks: 2, Latency: 10 * time.Second}
	}}
}

// during starts a debate of slow speakers in the background, acts while the first speaks, and gives what it came to.
func during(t *testing.T, mode panel.Mode, act func(ctx context.Context, d *debate.Debate)) (r *debate.Result, m *scripted.Provider, took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		m = slow()
		d := panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
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
		r = result(t, d)
	})
	return r, m, took
}

func TestPauseLetsCallsInFlightCommit(t *testing.T) {
	for mode, want := range map[panel.Mode]int{panel.Sequential: 1, panel.Simultaneous: 2} {
		res, model, took := during(t, mode, func(ctx context.Context, d *debate.Debate) {
			require.NoError(t, d.Pause(ctx))
			require.NoError(t, d.Pause(ctx), "pausing a paused debate is no error")
			require.Equal(t, fsm.Paused, result(t, d).State, "at once")
		})
		require.Equal(t, fsm.Paused, res.State)
		require.Equal(t, 10*time.Second, took)
		require.Len(t, res.Turns, want)
		require.Len(t, model.Calls(), want, "nothing new starts")
		require.Equal(t, 10*time.Second-5*time.Second, res.Running, "pauses do not count")
	}
}

func TestStopCutsCallsAndConcludes(t *testing.T) {
	res, _, took := during(t, panel.Simultaneous, func(ctx context.Context, d *debate.Debate) {
		require.NoError(t, d.Stop(ctx))
		require.NoError(t, d.Stop(ctx))
	})
	require.Equal(t, fsm.Completed, res.State)
	require.Equal(t, transcript.Stopped, res.Ending.Outcome)
	require.Empty(t, res.Turns, "nothing was said, so there is nothing to conclude on")
	require.Equal(t, 5*time.Second, took, "the calls were cut at once")
}

func TestStopAfterASpeechGivesAVerdict(t *testing.T) {
	d := panelOf(t, 9, nil)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if turn, ok := ev.(debate.TurnDone); ok && turn.Turn.Actor == "A" {
			require.NoError(t, d.Stop(t.Context()), "also from within the loop")
		}
	}
	res := result(t, d)
	require.Equal(t, []string{"1/1/respond/A/", "1/1/verdict/J/"}, keys(res))
	require.NoError(t, d.Stop(t.Context()), "stopping a completed debate is no error")
}

func TestCancelEndsAtOnceWithoutAVerdict(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		res, _, took := during(t, mode, func(ctx context.Context, d *debate.Debate) {
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
		d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = model })
		time.AfterFunc(5*time.Second, func() { require.NoError(t, d.Pause(t.Context())) })
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, fsm.Paused, result(t, d).State)
		require.Empty(t, result(t, d).Turns)
		require.NoError(t, d.Resume(t.Context()))
		_, err = run(t, d)
		require.NoError(t, err)
		require.Equal(t, fsm.Completed, result(t, d).State)
	})
}

// Each control in each state: it does what the lifecycle says, or refuses and says what is possible.
func TestControlsInEveryState(t *testing.T) {
	reach := map[fsm.State]func(*testing.T, *debate.Debate){
		fsm.Configuring: func(*testing.T, *debate.Debate) {},
		fsm.Awaiting:    func(t *testing.T, d *debate.Debate) { breakAt(t, d, transcript.Speech) },
		fsm.Judging:     func(t *testing.T, d *debate.Debate) { breakAt(t, d, transcript.Assessment) },
		fsm.Completing:  func(t *testing.T, d *debate.Debate) { breakAt(t, d, transcript.Conclusion) },
		fsm.Paused: func(t *testing.T, d *debate.Debate) {
			breakAt(t, d, transcript.Speech)
			require.NoError(t, d.Pause(t.Context()))
		},
		fsm.Completed: func(t *testing.T, d *debate.Debate) {
			_, err := run(t, d)
			require.NoError(t, err)
		},
		fsm.Canceled: func(t *testing.T, d *debate.Debate) { require.NoError(t, d.Cancel(t.Context())) },
		fsm.Error:    func(t *testing.T, d *debate.Debate) { breakKey(t, d) },
		fsm.Ready: func(t *testing.T, d *debate.Debate) {
			breakKey(t, d)
			require.NoError(t, d.Retry(t.Context()))
		},
	}
	verbs := map[string]func(*debate.Debate, context.Context) error{
		"pause": (*debate.Debate).Pause, "resume": (*debate.Debate).Resume, "stop": (*debate.Debate).Stop, "cancel": (*debate.Debate).Cancel,
		"retry": (*debate.Debate).Retry, "reset": (*debate.Debate).Reset,
		"edit":   func(d *debate.Debate, ctx context.Context) error { return d.Edit(ctx, pair(nil)) },
		"decide": func(d *debate.Debate, ctx context.Context) error { return d.Decide(ctx, "retry") },
		"inject": func(d *debate.Debate, ctx context.Context) error {
			return d.Inject(ctx, debate.Remark{From: "Host", Text: "Please go on."})
		},
		"annotate": func(d *debate.Debate, ctx context.Context) error { return d.Annotate(ctx, "rating", 5) },
	}
	// What a state comes to by a verb; states that are not named refuse it.
	want := map[string]map[fsm.State]fsm.State{
		"pause":  {fsm.Awaiting: fsm.Paused, fsm.Judging: fsm.Paused, fsm.Completing: fsm.Paused, fsm.Paused: fsm.Paused},
		"resume": {fsm.Paused: fsm.Awaiting, fsm.Awaiting: fsm.Awaiting, fsm.Judging: fsm.Judging, fsm.Completing: fsm.Completing},
		"stop": {
			fsm.Awaiting: fsm.Completed, fsm.Judging: fsm.Completing, fsm.Paused: fsm.Completed,
			fsm.Completing: fsm.Completing, fsm.Completed: fsm.Completed,
		},
		"cancel": {
			fsm.Configuring: fsm.Canceled, fsm.Awaiting: fsm.Canceled, fsm.Judging: fsm.Canceled, fsm.Completing: fsm.Canceled,
			fsm.Paused: fsm.Canceled, fsm.Error: fsm.Canceled, fsm.Ready: fsm.Canceled, fsm.Canceled: fsm.Canceled,
		},
		"retry": {
			fsm.Error: fsm.Ready, fsm.Ready: fsm.Ready, fsm.Awaiting: fsm.Awaiting, fsm.Judging: fsm.Judging, fsm.Completing: fsm.Completing,
		},
		"reset":  {fsm.Error: fsm.Configuring, fsm.Configuring: fsm.Configuring},
		"edit":   {fsm.Configuring: fsm.Configuring, fsm.Ready: fsm.Configuring},
		"decide": {},
		"inject": {
			fsm.Configuring: fsm.Configuring, fsm.Ready: fsm.Ready, fsm.Awaiting: fsm.Awaiting, fsm.Judging: fsm.Judging,
			fsm.Completing: fsm.Completing, fsm.Paused: fsm.Paused, fsm.Error: fsm.Error,
		},
		"annotate": {
			fsm.Configuring: fsm.Configuring, fsm.Ready: fsm.Ready, fsm.Awaiting: fsm.Awaiting, fsm.Judging: fsm.Judging,
			fsm.Completing: fsm.Completing, fsm.Paused: fsm.Paused, fsm.Error: fsm.Error, fsm.Completed: fsm.Completed, fsm.Canceled: fsm.Canceled,
		},
	}
	for state, get := range reach {
		for verb, act := range verbs {
			t.Run(string(state)+"/"+verb, func(t *testing.T) {
				d := panelOf(t, 1, nil)
				get(t, d)
				require.Equal(t, state, result(t, d).State)
				before, err := d.Head(t.Context())
				require.NoError(t, err)
				err = act(d, t.Context())
				to, possible := want[verb][state]
				if possible {
					require.NoError(t, err)
					require.Equal(t, to, result(t, d).State)
					return
				}
				require.Error(t, err)
				if refused, ok := errors.AsType[*fsm.Refused](err); ok {
					require.Equal(t, state, refused.State)
				}
				after, err := d.Head(t.Context())
				require.NoError(t, err)
				require.Equal(t, before, after, "nothing has changed")
			})
		}
	}
}

// breakAt drives a debate until a turn of a kind begins, and leaves it there.
func breakAt(t *testing.T, d *debate.Debate, kind transcript.Kind) {
	t.Helper()
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if s, ok := ev.(debate.TurnStarted); ok && s.Kind == kind {
			return
		}
	}
	t.Fatalf("no turn of kind %s", kind)
}

// breakKey brings a debate into an error by an engine whose key is refused.
func breakKey(t *testing.T, d *debate.Debate) {
	t.Helper()
	refuses := scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("the key is refused")}}
	}}
	_, err := run(t, d.In(t, &refuses))
	var failure *debate.Failure
	require.ErrorAs(t, err, &failure)
}

func TestRetryRunsNothingAgain(t *testing.T) {
	memory := store.Memory()
	broken := &scripted.Provider{Replies: []scripted.Reply{
		{Text: "first"}, {Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("401")}},
	}}
	d, err := debate.New(t.Context(), pair(nil), debate.Options{Store: memory, Providers: models(broken, court(t, 1))})
	require.NoError(t, err)
	_, err = run(t, d)
	require.ErrorContains(t, err, "run step respond of B in round 1: call provider m: authentication: 401")
	require.Equal(t, fsm.Error, result(t, d).State)

	fixed := scripted.Text("second")
	e, err := debate.NewEngine(debate.Options{Store: memory, Providers: models(fixed, court(t, 1))})
	require.NoError(t, err)
	d, err = e.Open(t.Context(), "d")
	require.NoError(t, err)
	_, err = run(t, d)
	require.ErrorContains(t, err, "401", "driving a debate in error gives the cause, read from the store")
	require.NoError(t, d.Retry(t.Context()))
	_, err = run(t, d)
	require.NoError(t, err)
	require.Len(t, fixed.Calls(), 1)
	require.Equal(t, []string{"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/"}, keys(result(t, d)))
}

func TestResetBeginsANewRun(t *testing.T) {
	d := panelOf(t, 1, nil)
	breakAt(t, d, transcript.Assessment)
	breakJudge(t, d)
	require.Len(t, result(t, d).Turns, 2)
	require.NoError(t, d.Reset(t.Context()))
	require.Empty(t, result(t, d).Turns, "the old turns are shown no more")
	cfg := pair(nil)
	cfg.Topic = "Another one?"
	require.NoError(t, d.Edit(t.Context(), cfg), "after a reset everything may change")
	_, err := run(t, d)
	require.NoError(t, err)
	require.Equal(t, "Another one?", result(t, d).Topic)
	require.Equal(t, "2/1/respond/A/", result(t, d).Turns[0].Key.String())
}

func TestEditAfterTheFirstTurn(t *testing.T) {
	d := panelOf(t, 1, nil)
	breakAt(t, d, transcript.Assessment)
	breakJudge(t, d)
	require.NoError(t, d.Retry(t.Context()))
	bad := pair(panel.Protocol{Mode: panel.Simultaneous})
	bad.Topic, bad.Background, bad.Participants[0].Persona = "Else?", "Something", "A Dane"
	var problems *debate.Problems
	require.ErrorAs(t, d.Edit(t.Context(), bad), &problems)
	require.Len(t, problems.List, 4)
	for i, field := range []string{"topic", "background", "protocol", "participants"} {
		require.Equal(t, field, problems.List[i].Field)
		require.Contains(t, problems.List[i].Reason, "reset")
	}
	good := pair(nil)
	good.Participants[0].Model, good.Judges[0].Name, good.Limits.MaxRounds = "other", "K", 7
	require.NoError(t, d.Edit(t.Context(), good))
	_, err := run(t, d)
	require.NoError(t, err)
	require.Equal(t, "1/1/assess/K/", keys(result(t, d))[2])
}

func TestInjectedRemarksAreHeard(t *testing.T) {
	var model *scripted.Provider
	d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) {
		model = chatter()
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
	require.Equal(t, []string{"1/1/respond/A/", "1/0/remark/Host/r1", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/"}, keys(result(t, d)))
	said := model.Calls()[1].Messages
	require.Equal(t, "Host: Please mention trams.", said[len(said)-2].Text)

	var problems *debate.Problems
	require.ErrorAs(t, d.Inject(t.Context(), debate.Remark{From: "", Text: " "}), &problems)
	require.Len(t, problems.List, 2)
	fresh := panelOf(t, 1, nil)
	require.ErrorContains(t, fresh.Inject(t.Context(), debate.Remark{From: "A", Text: "I concede."}), `"A" is a participant or judge`)
}

func TestAnnotationsStandInTheResult(t *testing.T) {
	d := panelOf(t, 1, nil)
	_, err := run(t, d)
	require.NoError(t, err)
	require.NoError(t, d.Annotate(t.Context(), "rating", 4))
	require.NoError(t, d.Annotate(t.Context(), "rating", 5), "a later one replaces it")
	require.Equal(t, map[string]json.RawMessage{"rating": json.RawMessage("5")}, result(t, d).Annotations)
	require.ErrorContains(t, d.Annotate(t.Context(), "bad", func() {}), "encode bad")
}

func TestControlsFromManyGoroutines(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		d := panelOf(t, 5, func(c *debate.Config, _ *debate.Options) { c.Protocol = panel.Protocol{Mode: mode} })
		ctx := t.Context()
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for n := range 20 {
					switch (i + n) % 5 {
					case 0:
						_ = d.Pause(ctx) // refused before the start
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
		for result(t, d).State != fsm.Completed {
			_, err := run(t, d)
			require.NoError(t, err)
			_ = d.Resume(ctx)
		}
		all.Wait()
		require.Len(t, result(t, d).Assessments, 5)
	}
}

func TestAParticipantThatFailsIsDropped(t *testing.T) {
	three := func(t *testing.T, change func(*debate.Config)) *debate.Debate {
		failing := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if len(r.Messages) > 3 { // from round 2 on
				return scripted.Reply{Err: &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}}
			}
			return scripted.Reply{Text: "while it lasts"}
		}}
		return panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
			c.Participants = append([]debate.Participant{{Name: "C", Provider: "f"}}, c.Participants...)
			o.Providers["f"] = failing
			c.OnOverflow = debate.Degrade
			o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				names := []string{"C", "A", "B"}
				if len(r.Messages) > 6 {
					names = names[1:]
				}
				e := echo{names: names}
				return scripted.Reply{Text: e.say(1, r)}
			}}
			c.Limits.MaxRounds = 2
			if change != nil {
				change(c)
			}
		})
	}
	t.Run("and the debate goes on", func(t *testing.T) {
		d := three(t, nil)
		events, err := run(t, d)
		require.NoError(t, err)
		res := result(t, d)
		require.Equal(t, fsm.Completed, res.State)
		require.Equal(t, "dropped", res.Participants[0].State)
		require.Equal(t, []string{"context_overflow: too long"}, res.Participants[0].Errors)
		require.Equal(t, 2, res.Participants[0].Attempts)
		require.Equal(t, "active", res.Participants[1].State)
		dropped := 0
		for _, ev := range events {
			if e, ok := ev.(debate.Dropped); ok {
				dropped++
				require.Equal(t, "C", e.Name)
			}
		}
		require.Equal(t, 1, dropped)
		require.NotContains(t, res.Assessments[1].Text, "C:", "the judge assesses those who remain")
	})
	t.Run("without a quorum the debate concludes with what there is", func(t *testing.T) {
		d := three(t, func(c *debate.Config) { c.Participants = c.Participants[:2] })
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, transcript.QuorumLost, result(t, d).Ending.Outcome)
		require.NotNil(t, result(t, d).Verdict)
	})
	t.Run("by policy a person is asked", func(t *testing.T) {
		d := three(t, func(c *debate.Config) { c.OnFailure = debate.Ask })
		_, err := run(t, d)
		require.NoError(t, err)
		q := result(t, d).Question
		require.Contains(t, q.Cause, "too long")
		require.ErrorContains(t, d.Resume(t.Context()), "decide one of retry, drop, end")
		require.ErrorContains(t, d.Decide(t.Context(), "dance"), `"dance" is no choice, they are retry, drop, end`)

		require.NoError(t, d.Decide(t.Context(), "retry"))
		_, err = run(t, d)
		require.NoError(t, err)
		require.NotNil(t, result(t, d).Question, "it failed again")

		require.NoError(t, d.Decide(t.Context(), "drop"))
		_, err = run(t, d)
		require.NoError(t, err)
		require.Equal(t, fsm.Completed, result(t, d).State)
		require.Equal(t, "dropped", result(t, d).Participants[0].State)
		require.ErrorContains(t, d.Decide(t.Context(), "drop"), "no question is open")
	})
	t.Run("who may end it", func(t *testing.T) {
		d := three(t, func(c *debate.Config) { c.OnFailure = debate.Ask })
		_, err := run(t, d)
		require.NoError(t, err)
		require.NoError(t, d.Decide(t.Context(), "end"))
		_, err = run(t, d)
		require.NoError(t, err)
		require.Equal(t, transcript.Stopped, result(t, d).Ending.Outcome)
		require.NotNil(t, result(t, d).Verdict)
	})
}

// breakJudge brings a debate that is to be judged into an error.
func breakJudge(t *testing.T, d *debate.Debate) {
	t.Helper()
	breakKey(t, d)
}

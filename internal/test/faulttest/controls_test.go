package faulttest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// slowCheck is a model whose key is checked slowly. It refuses the key if the check is canceled.
type slowCheck struct {
	*server
	checks, canceled int
}

func (s *slowCheck) Check(ctx context.Context, _ string) error {
	s.checks++
	select {
	case <-time.After(time.Minute):
		return nil
	case <-ctx.Done():
		s.canceled++
		return &providers.Error{Kind: providers.Authentication, Err: context.Cause(ctx)}
	}
}

// newPairOn creates the usual debate, on an engine whose models are all m.
func newPairOn(t *testing.T, s store.Store, m providers.Provider, change func(*debate.Config)) *debate.Debate {
	t.Helper()
	cfg := debatetest.PairConfig(nil)
	cfg.Limits = debate.Limits{MaxRounds: 1}
	if change != nil {
		change(&cfg)
	}
	e := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m, "j": m}})
	return debatetest.Create(t, e, cfg)
}

// A debate can be paused, stopped and canceled during a slow check of its providers, from any process. The control takes
// effect at once and ends the check.
func TestControlsInterruptACheck(t *testing.T) {
	for name, tt := range map[string]struct {
		control func(*debate.Debate, context.Context) error
		state   fsm.State
	}{
		"pause":  {(*debate.Debate).Pause, fsm.Paused},
		"stop":   {(*debate.Debate).Stop, fsm.Completed},
		"cancel": {(*debate.Debate).Cancel, fsm.Canceled},
	} {
		for driver, drive := range map[string]func(context.Context, *debate.Debate) error{
			"run": driveModes["run"], "once": driveModes["once"], "start": func(ctx context.Context, d *debate.Debate) error { return d.Start(ctx) },
		} {
			for _, same := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/same handle=%v", name, driver, same), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s, m := store.Memory(), &slowCheck{server: &server{}}
						d := newPairOn(t, s, m, nil)
						var got error
						go func() { got = drive(t.Context(), d) }()
						time.Sleep(10 * time.Second)
						synctest.Wait()
						require.Equal(t, fsm.Validating, debatetest.Result(t, d).State)
						by := d
						if !same {
							e := debatetest.Engine(t, debate.Options{Store: s})
							by = debatetest.Open(t, e, "d")
						}
						began := time.Now()
						require.NoError(t, tt.control(by, t.Context()))
						synctest.Wait()
						require.Zero(t, time.Since(began))
						require.NoError(t, got)
						require.Equal(t, 1, m.canceled)
						require.Equal(t, tt.state, debatetest.Result(t, d).State)
						if name == "stop" {
							require.Equal(t, transcript.Stopped, debatetest.Result(t, d).Ending.Outcome)
						}
						if name == "pause" {
							require.NoError(t, by.Resume(t.Context()))
							if driver != "start" {
								debatetest.Finish(t, d)
							}
							time.Sleep(time.Hour)
							require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
							require.Greater(t, m.checks, 1, "the check is repeated")
						}
					})
				})
			}
		}
	}
}

// A check that is canceled and repeated at once does not decide anything.
func TestAPauseThatEndsAtOnceRepeatsTheCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &slowCheck{server: &server{}}
		d := newPairOn(t, store.Memory(), m, nil)
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(10 * time.Second)
		require.NoError(t, d.Pause(t.Context()))
		require.NoError(t, d.Resume(t.Context()))
		time.Sleep(time.Hour)
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	})
}

func TestTheDelayBetweenRoundsIsNoRunningTime(t *testing.T) {
	for name, drive := range outageDrivers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newPairOn(t, store.Memory(), &server{}, func(c *debate.Config) {
					c.Limits = debate.Limits{MinRounds: 6, MaxRounds: 6, RoundDelay: 10 * time.Minute, RunningTime: 5 * time.Minute}
				})
				began := time.Now()
				require.NoError(t, drive(t.Context(), d))
				r := debatetest.Result(t, d)
				require.Equal(t, transcript.RoundLimit, r.Ending.Outcome)
				require.Equal(t, 6, r.Round)
				require.Greater(t, time.Since(began), 50*time.Minute)
				require.Equal(t, 19*time.Second, r.RunningTime, "6 rounds of 3 calls, and the verdict")
			})
		})
	}
}

func TestCreateAfterClose(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{})
	require.NoError(t, e.Close(t.Context()))
	_, err := e.Create(t.Context(), debatetest.PairConfig(nil))
	require.ErrorIs(t, err, debate.ErrClosed)
}

// asking changes a configuration so that a failure asks a person.
func asking(c *debate.Config) { c.OnFailure = debate.Ask }

// failingModel is a model that fails while broken is set.
type failingModel struct{ broken bool }

func (m *failingModel) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if m.broken {
		return providers.Response{}, &providers.Error{Kind: providers.Authentication, Err: errors.New("no key")}
	}
	return (&server{}).Generate(ctx, r)
}

// runUntil runs a debate until it enters a state.
func runUntil(t *testing.T, d *debate.Debate, state fsm.State) {
	t.Helper()
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if s, ok := ev.(debate.StateChanged); ok && s.To == state {
			return
		}
	}
}

// While a question about the conclusion is open, Stop has the step repeated, which the debate cannot do without.
func TestStopWhileTheConclusionHasAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &failingModel{}
		d := newPairOn(t, store.Memory(), m, func(c *debate.Config) { c.OnJudgeFailure = debate.Ask })
		runUntil(t, d, fsm.Completing)
		m.broken = true
		debatetest.Finish(t, d)
		require.NotNil(t, debatetest.Result(t, d).Question)
		m.broken = false
		require.NoError(t, d.Stop(t.Context()))
		require.Nil(t, debatetest.Result(t, d).Question)
		r := debatetest.RunResult(t, d)
		require.Equal(t, fsm.Completed, r.State)
		require.NotNil(t, r.Verdict)
	})
}

// The ending of a debate is decided once. Stop does not replace it, even if the conclusion has failed and the debate was
// edited since.
func TestAnEndingIsDecidedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c debate.Config
		m := &failingModel{}
		d := newPairOn(t, store.Memory(), m, func(config *debate.Config) { c = *config })
		runUntil(t, d, fsm.Completing)
		m.broken = true
		_, err := debatetest.Run(t, d)
		require.ErrorAs(t, err, new(*debate.Failure))
		m.broken = false
		require.NoError(t, d.Retry(t.Context()))
		require.NoError(t, d.Edit(t.Context(), c))
		runUntil(t, d, fsm.Validating)
		require.NoError(t, d.Stop(t.Context()))
		r := debatetest.RunResult(t, d)
		require.Equal(t, fsm.Completed, r.State)
		require.Equal(t, transcript.RoundLimit, r.Ending.Outcome)
	})
}

// A decision names its question, so it never answers a later one, and a repeated decision changes nothing.
func TestADecisionIsOfOneQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &failingModel{broken: true}
		d := newPairOn(t, store.Memory(), m, asking)
		debatetest.Finish(t, d)
		first := debatetest.Result(t, d).Question
		require.NotEmpty(t, first.ID)
		require.ErrorAs(t, d.Decide(t.Context(), "", "retry"), new(*debate.Problems))
		require.ErrorContains(t, d.Decide(t.Context(), "q1", "retry"), fmt.Sprintf(`"q1" is not the open question, which is %q`, first.ID))
		require.ErrorContains(t, d.Decide(t.Context(), first.ID, "sing"), `"sing" is not a choice, use one of retry, end`)
		require.ErrorContains(t, d.Decide(t.Context(), first.ID, ""), `"" is not a choice, use one of retry, end`)

		require.NoError(t, d.Decide(t.Context(), first.ID, "retry"))
		seq := seqOf(t, d)
		require.NoError(t, d.Decide(t.Context(), first.ID, "retry"))
		require.ErrorContains(t, d.Decide(t.Context(), first.ID, "end"), fmt.Sprintf(`question %s was answered with "retry"`, first.ID))
		require.Equal(t, seq, seqOf(t, d), "nothing has changed")

		debatetest.Finish(t, d)
		second := debatetest.Result(t, d).Question
		require.NotEqual(t, first.ID, second.ID)
		seq = seqOf(t, d)
		require.NoError(t, d.Decide(t.Context(), first.ID, "retry"), "a late repetition is not an answer to the second question")
		require.Equal(t, seq, seqOf(t, d))
		require.NotNil(t, debatetest.Result(t, d).Question)
		m.broken = false
		require.NoError(t, d.Decide(t.Context(), second.ID, "retry"))
		debatetest.Finish(t, d)
		require.NoError(t, d.Decide(t.Context(), second.ID, "retry"), "also after the end")
		require.ErrorAs(t, d.Decide(t.Context(), "q99", "retry"), new(*fsm.Refused))
		var decided []string
		for s, err := range d.Replay(t.Context()) {
			require.NoError(t, err)
			if ev, ok := s.Event.(debate.Decided); ok {
				decided = append(decided, ev.Question)
			}
		}
		require.Equal(t, []string{first.ID, second.ID}, decided)
	})
}

func seqOf(t *testing.T, d *debate.Debate) int64 {
	t.Helper()
	status := debatetest.Status(t, d)
	return status.Seq
}

// stateSetups bring a debate into each state in which nothing drives it.
var stateSetups = map[string]func(*testing.T, *debate.Debate, *failingModel){
	"configuring": func(*testing.T, *debate.Debate, *failingModel) {},
	"running":     func(t *testing.T, d *debate.Debate, _ *failingModel) { leave(t, d) },
	"paused": func(t *testing.T, d *debate.Debate, _ *failingModel) {
		leave(t, d)
		require.NoError(t, d.Pause(t.Context()))
	},
	"question": func(t *testing.T, d *debate.Debate, m *failingModel) {
		m.broken = true
		debatetest.Finish(t, d)
		m.broken = false
	},
	"error": func(t *testing.T, d *debate.Debate, m *failingModel) {
		fail(t, d, m)
	},
	"ready": func(t *testing.T, d *debate.Debate, m *failingModel) {
		fail(t, d, m)
		require.NoError(t, d.Retry(t.Context()))
	},
	"completed": func(t *testing.T, d *debate.Debate, _ *failingModel) {
		debatetest.Finish(t, d)
	},
	"canceled": func(t *testing.T, d *debate.Debate, _ *failingModel) { require.NoError(t, d.Cancel(t.Context())) },
}

// leave runs a debate until a call of a model begins.
func leave(t *testing.T, d *debate.Debate) {
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if _, ok := ev.(debate.TurnStarted); ok {
			return
		}
	}
}

// fail runs a debate whose model fails.
func fail(t *testing.T, d *debate.Debate, m *failingModel) {
	m.broken = true
	_, err := debatetest.Run(t, d)
	require.ErrorAs(t, err, new(*debate.Failure))
	m.broken = false
}

// controls lists the methods whose repetition changes nothing.
var controls = map[string]func(*debate.Debate, context.Context) error{
	"Pause": (*debate.Debate).Pause, "Resume": (*debate.Debate).Resume, "Stop": (*debate.Debate).Stop, "Cancel": (*debate.Debate).Cancel,
	"Retry": (*debate.Debate).Retry, "Reset": (*debate.Debate).Reset,
	"Start": func(d *debate.Debate, ctx context.Context) error { return d.Start(ctx) },
	"Decide": func(d *debate.Debate, ctx context.Context) error {
		for s, err := range d.Replay(ctx) {
			if err != nil {
				return err
			}
			if c, ok := s.Event.(debate.StateChanged); ok && c.Question != nil {
				return d.Decide(ctx, c.Question.ID, "retry")
			}
		}
		return d.Decide(ctx, "q0", "retry")
	},
	"Inject": func(d *debate.Debate, ctx context.Context) error {
		return d.Inject(ctx, debate.Remark{ID: "1", From: "Pat", Text: "Be brief."})
	},
}

// A control that took effect may be repeated. A refused one changes nothing, and names the methods to call instead.
func TestControlsInEachState(t *testing.T) {
	for state, setup := range stateSetups {
		for name, control := range controls {
			t.Run(state+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := &failingModel{}
					d := newPairOn(t, store.Memory(), m, func(c *debate.Config) {
						if state == "question" {
							asking(c)
						}
					})
					setup(t, d, m)
					before := seqOf(t, d)
					err := control(d, t.Context())
					after := seqOf(t, d)
					if err != nil {
						var refused *fsm.Refused
						require.ErrorAs(t, err, &refused)
						require.Equal(t, before, after)
						requireMethods(t, refused, name, state)
						return
					}
					require.NoError(t, control(d, t.Context()), "repeated")
					if name != "Start" { // it drives the debate
						require.Equal(t, after, seqOf(t, d), "the repetition changes nothing")
					}
					time.Sleep(time.Hour)
				})
			})
		}
	}
}

// requireMethods requires that a refusal names what was refused, and methods that exist.
func requireMethods(t *testing.T, refused *fsm.Refused, name, state string) {
	t.Helper()
	if refused.State.Final() {
		require.EqualError(t, refused, "already "+string(refused.State))
		return
	}
	require.Contains(t, refused.Error(), name+" is not possible in state ")
	require.NotEmpty(t, refused.Methods)
	for _, method := range refused.Methods {
		_, exists := reflect.TypeFor[*debate.Debate]().MethodByName(method)
		require.True(t, exists, method)
	}
	require.Equal(t, state == "question", len(refused.Methods) > 0 && refused.Methods[0] == "Decide")
}

// If a control fails half-way, its handle shows what the journal has, also after another process has added as many
// entries as the control would have added.
func TestAFailedControlLeavesNothingInItsHandle(t *testing.T) {
	for name, setup := range map[string]func(*testing.T, store.Store) (d, other *debate.Debate, control func() error){
		"an engine without the protocol": func(t *testing.T, s store.Store) (d, other *debate.Debate, control func() error) {
			m := &failingModel{}
			o := debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m, "j": m}}
			other = debatetest.Create(t, newTestEngine(t, o), debatetest.PairConfig(customPanel{}))
			stateSetups["paused"](t, other, m)
			d = debatetest.Open(t, newTestEngine(t, o), "d")
			return d, other, func() error { return d.Resume(t.Context()) }
		},
		"a protocol that panics": func(t *testing.T, s store.Store) (d, other *debate.Debate, control func() error) {
			m, b := &failingModel{}, &bug{place: "phases"}
			e := newTestEngine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m, "j": m}})
			cfg := debatetest.PairConfig(buggyPanel{Bug: b})
			asking(&cfg)
			d = debatetest.Create(t, e, cfg)
			stateSetups["question"](t, d, m)
			id := debatetest.Result(t, d).Question.ID
			return d, debatetest.Open(t, e, "d"), func() error {
				b.armed.Store(true)
				defer b.armed.Store(false)
				return d.Decide(t.Context(), id, "retry")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, other, control := setup(t, store.Memory())
				before := debatetest.Result(t, d)
				require.Error(t, control())
				require.NoError(t, other.Annotate(t.Context(), "note", 1))
				after := debatetest.Result(t, d)
				require.Equal(t, fsm.Paused, after.State)
				require.Equal(t, before.Question, after.Question)
				require.Contains(t, after.Annotations, "note")
			})
		})
	}
}

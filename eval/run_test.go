package eval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/store"
)

// debaters is a vote of three with a revision: two phases of three calls.
func debaters(t testing.TB, name string) eval.Arm {
	c := debate.Config{Protocol: vote.Protocol{Extract: "{{extract}}"}}
	for _, name := range []string{"Ann", "Ben", "Cem"} {
		c.Participants = append(c.Participants, debate.Participant{Name: name, Model: "m"})
	}
	return arm(t, name, c)
}

// kept returns options with a store that several evaluations use.
func kept(m providers.Provider) debate.Options {
	o := options(m)
	o.Store = store.Memory()
	return o
}

func TestAChangedConfigurationIsRefused(t *testing.T) {
	m := &simulated{accuracy: 1}
	o := kept(m)
	e := eval.Evaluation{Name: "changed", Tasks: questions(3), Arms: []eval.Arm{samples(t, "vote", 3)}}
	debatetest.Call(t, e.Run, o)
	calls := m.total()
	for want, change := range map[string]func(*eval.Evaluation){
		"protocol.samples was 3 and is 5": func(e *eval.Evaluation) { e.Arms = []eval.Arm{samples(t, "vote", 5)} },
		`participants[0].name was "Ann" and is "Bo"`: func(e *eval.Evaluation) {
			e.Arms = []eval.Arm{arm(t, "vote", eval.Samples(debate.Participant{Name: "Bo", Model: "m"}, 3))}
		},
		`topic was "Q2: is it 0 or 1?" and is "Q2: another" for task 2`: func(e *eval.Evaluation) { e.Tasks = questions(3); e.Tasks[1].Topic = "Q2: another" },
		`background was not set and is "A text." for task`:              func(e *eval.Evaluation) { e.Tasks = questions(3); e.Tasks[0].Background = "A text." },
		`protocol.extract was "number" and is "text" for task 3`:        func(e *eval.Evaluation) { e.Tasks = questions(3); e.Tasks[2].Gold = []string{"one"} },
		"a field that is not shown, such as a seed or a default that is now": func(e *eval.Evaluation) {
			c := eval.Samples(debate.Participant{Name: "Ann", Model: "m", Temperature: new(0.7)}, 3)
			e.Arms = []eval.Arm{arm(t, "vote", c)}
		},
	} {
		other := e
		change(&other)
		_, err := other.Run(t.Context(), o)
		require.ErrorContains(t, err, "run evaluation changed: arm vote has runs with another configuration: "+want)
		_, err = other.Report(t.Context(), o)
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, calls, m.total())
	e.Arms = append(e.Arms, samples(t, "other", 1))
	_, err := e.Run(t.Context(), o)
	require.NoError(t, err, "a new arm is no change")
}

func TestFailedRunsAreRetriedAndCountApart(t *testing.T) {
	m, broken := &simulated{accuracy: 1}, atomic.Bool{}
	broken.Store(true)
	o := kept(debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if broken.Load() && questionOf(r) == "Q2" {
			return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("not today")}
		}
		return m.Generate(ctx, r)
	}))
	var lines bytes.Buffer
	e := eval.Evaluation{Name: "failures", Tasks: questions(3), Arms: []eval.Arm{samples(t, "single", 1)}, Results: &lines}
	p := debatetest.Call(t, e.Run, o)
	single := p.Arms[0]
	require.Equal(t, []int{2, 2, 1, 0}, []int{single.Runs, single.Right, single.Failed, single.Missing})
	require.Len(t, single.Failures, 1)
	require.Contains(t, single.Failures[0], "task 2: invalid_request: ")
	require.Contains(t, single.Failures[0], "not today")
	var runs []eval.Run
	for d := json.NewDecoder(&lines); d.More(); {
		var x eval.Run
		require.NoError(t, d.Decode(&x))
		runs = append(runs, x)
	}
	require.Len(t, runs, 3)
	require.Equal(t, []string{"1", "2", "3"}, []string{runs[0].Task, runs[1].Task, runs[2].Task})
	require.Equal(t, []bool{true, false, true}, []bool{runs[0].Right, runs[1].Right, runs[2].Right})
	require.Equal(t, []fsm.State{fsm.Completed, fsm.Error, fsm.Completed}, []fsm.State{runs[0].State, runs[1].State, runs[2].State})
	require.Equal(t, 1, runs[0].Calls)

	broken.Store(false)
	p = debatetest.Call(t, e.Run, o)
	require.Equal(t, []int{3, 3, 0}, []int{p.Arms[0].Runs, p.Arms[0].Right, p.Arms[0].Failed})
	require.Equal(t, 3, m.total())
}

// A rejected key, an empty account and an unreachable service fail every run, so the evaluation ends.
func TestAnEvaluationEndsIfEveryRunWouldFail(t *testing.T) {
	for _, kind := range []providers.ErrorKind{providers.Authentication, providers.Billing} {
		var calls atomic.Int64
		o := kept(debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
			calls.Add(1)
			return providers.Response{}, &providers.Error{Kind: kind, Err: errors.New("go away")}
		}))
		e := eval.Evaluation{Name: "ends", Tasks: questions(200), Arms: []eval.Arm{samples(t, "single", 1)}, Concurrency: 2}
		_, err := e.Run(t.Context(), o)
		require.ErrorContains(t, err, "run evaluation ends: ")
		require.ErrorContains(t, err, "go away")
		failure, ok := errors.AsType[*debate.Failure](err)
		require.True(t, ok)
		require.Equal(t, kind, failure.Kind)
		require.LessOrEqual(t, calls.Load(), int64(6))
	}
}

// Everything that is wrong is found before the first call.
func TestWrongConfigurationsAreFoundFirst(t *testing.T) {
	m := &simulated{}
	for want, change := range map[string]func(*eval.Evaluation){
		"name: \"\", use 1 to 128 bytes":                 func(e *eval.Evaluation) { e.Name = "" },
		"tasks: there are none":                          func(e *eval.Evaluation) { e.Tasks = nil },
		`tasks[1]: id: "1" is the id of another task`:    func(e *eval.Evaluation) { e.Tasks[1].ID = "1" },
		"tasks[2]: gold: it is missing":                  func(e *eval.Evaluation) { e.Tasks[2].Gold = nil },
		"arms: there are none":                           func(e *eval.Evaluation) { e.Arms = nil },
		`arms[0]: name: "a@b", use at most 64`:           func(e *eval.Evaluation) { e.Arms[0].Name = "a@b" },
		`arms[1]: name: another arm is called "single"`:  func(e *eval.Evaluation) { e.Arms = append(e.Arms, e.Arms[0]) },
		"arms[0]: config: single has none":               func(e *eval.Evaluation) { e.Arms[0].Config = nil },
		"arms[0]: samples: 101, use 1 to 100":            func(e *eval.Evaluation) { e.Arms[0].Samples = 101 },
		`baseline: no arm is called "other"`:             func(e *eval.Evaluation) { e.Baseline = "other" },
		`budget: "time" is unknown`:                      func(e *eval.Evaluation) { e.Budget = "time" },
		`scorer: comparison "fuzzy" is unknown`:          func(e *eval.Evaluation) { e.Scorer.Compare = "fuzzy" },
		`read requirement "single = 1": want an arm`:     func(e *eval.Evaluation) { e.Require = []string{"single = 1"} },
		`read requirement "x > 0.5": no arm is`:          func(e *eval.Evaluation) { e.Require = []string{"x > 0.5"} },
		`read requirement "single > y": no arm is`:       func(e *eval.Evaluation) { e.Require = []string{"single > y"} },
		"check arm single for task 3: check configurati": func(e *eval.Evaluation) { e.Tasks[2].Topic += string(bytes.Repeat([]byte("long "), 2_000_000)) },
		`check arm a for task 1: check configuration: p`: func(e *eval.Evaluation) {
			c := eval.Samples(debate.Participant{Provider: "none"}, 1)
			e.Arms = []eval.Arm{arm(t, "a", c)}
		},
		"limits.cost": func(e *eval.Evaluation) {
			f, err := eval.Template(eval.Samples(debate.Participant{Model: "unpriced"}, 1))
			require.NoError(t, err)
			e.Arms, e.MaxCost = []eval.Arm{{Name: "a", Config: f}}, 1
		},
	} {
		e := eval.Evaluation{Name: "wrong", Tasks: questions(3), Arms: []eval.Arm{samples(t, "single", 1)}}
		change(&e)
		_, err := e.Run(t.Context(), options(m))
		require.ErrorContains(t, err, want)
	}
	require.Zero(t, m.total())
}

// The limits of tokens and of cost count what is stored, and are exceeded at most by the calls in flight.
func TestLimits(t *testing.T) {
	const perCall = 110
	const cost = (100 + 10*10) / 1e6 // at the prices of the tests, for a million tokens
	for name, limit := range map[string]func(e *eval.Evaluation, calls float64){
		"tokens": func(e *eval.Evaluation, calls float64) { e.MaxTokens = int(calls * perCall) },
		"cost":   func(e *eval.Evaluation, calls float64) { e.MaxCost = calls * cost },
	} {
		t.Run(name, func(t *testing.T) {
			const inFlight = 3 * 3 // three tasks at the same time, three calls in a phase
			m := &simulated{accuracy: 0.7}
			o := kept(m)
			e := eval.Evaluation{Name: "limits", Tasks: questions(12), Arms: []eval.Arm{samples(t, "single", 1), debaters(t, "debate")}, Concurrency: 3}
			for _, calls := range []int{20, 20, 61} {
				limit(&e, float64(calls)-0.5)
				p := debatetest.Call(t, e.Run, o)
				require.NotZero(t, p.Incomplete)
				require.Contains(t, p.Incomplete, "the limit of "+name)
				require.GreaterOrEqual(t, m.total(), calls)
				require.Less(t, m.total(), calls+inFlight)
				require.Equal(t, m.total()*perCall, p.Tokens)
			}
			e.MaxTokens, e.MaxCost = 0, 0
			p := debatetest.Call(t, e.Run, o)
			require.Empty(t, p.Incomplete)
			require.Equal(t, 12*12, m.total(), "no call was made twice")
			undisturbed := debatetest.Call(t, e.Run, kept(m))
			require.Equal(t, withoutTimes(undisturbed), withoutTimes(p))
		})
	}
}

// Runs that a limit has interrupted, and runs whose answer is not scored yet, are missing. They are no failures.
func TestRunsThatGoOnAreMissing(t *testing.T) {
	judge := eval.JudgedBy(debate.Participant{Name: "Judge", Model: "m"}, "")
	for name, tt := range map[string]struct {
		arm    eval.Arm
		scorer eval.Scorer
		tokens int
		state  fsm.State
	}{
		"interrupted": {debaters(t, "last"), eval.Scorer{}, 10 * 110, fsm.Paused}, // in the second run
		"not scored":  {samples(t, "last", 1), eval.Scorer{Judge: judge}, 3 * 110, fsm.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			m := &simulated{accuracy: 1}
			var lines bytes.Buffer
			e := eval.Evaluation{Name: "goes-on", Tasks: questions(2), Arms: []eval.Arm{tt.arm}, Scorer: tt.scorer, Concurrency: 1, MaxTokens: tt.tokens, Results: &lines}
			o := kept(m)
			p := debatetest.Call(t, e.Run, o)
			require.Equal(t, []int{1, 0, 1}, []int{p.Arms[0].Runs, p.Arms[0].Failed, p.Arms[0].Missing})
			require.Contains(t, p.Incomplete, "the limit of tokens")
			last := eval.Run{}
			for d := json.NewDecoder(&lines); d.More(); {
				last = eval.Run{}
				require.NoError(t, d.Decode(&last))
			}
			require.Equal(t, []any{"2", tt.state, true}, []any{last.Task, last.State, last.Missing})
			e.MaxTokens = 0
			p = debatetest.Call(t, e.Run, o)
			require.Equal(t, []any{2, 0, 0, ""}, []any{p.Arms[0].Runs, p.Arms[0].Failed, p.Arms[0].Missing, p.Incomplete})
		})
	}
}

// A baseline can have as much money as an arm, or as many tokens. Its price per token is another one.
func TestEqualBudgets(t *testing.T) {
	rates := price.Prices{"m": {Input: 1, Output: 10}, "large": {Input: 4, Output: 40}}
	priced := func(name, model string, k int) eval.Arm {
		c := eval.Samples(debate.Participant{Name: "Ann", Model: model}, k)
		c.Prices = rates
		f, err := eval.Template(c)
		require.NoError(t, err)
		return eval.Arm{Name: name, Config: f}
	}
	for budget, want := range map[eval.Budget]float64{"": 3, eval.Tokens: 3, eval.Cost: 12} {
		m := &simulated{accuracy: .7}
		o := options(m)
		e := eval.Evaluation{Name: "budget", Tasks: questions(4), Budget: budget, Arms: []eval.Arm{priced("small", "m", 1), priced("large", "large", 3)}}
		p := debatetest.Call(t, e.Run, o)
		require.Equal(t, "small@large", p.Arms[2].Name)
		require.InDelta(t, want, p.Arms[2].Samples, 0, "budget %q", budget)
		require.Equal(t, []string{"small", "small@large"}, []string{p.Differences[0].Baseline, p.Differences[1].Baseline}, "the cheap one and the equal one")
		if budget == eval.Cost {
			require.InDelta(t, p.Arms[1].Cost, p.Arms[2].Cost, 1e-12)
		} else {
			require.InDelta(t, p.Arms[1].Tokens, p.Arms[2].Tokens, 0)
		}
	}
	e := eval.Evaluation{Name: "none", Tasks: questions(4), Budget: eval.NoBudget, Arms: []eval.Arm{priced("small", "m", 1), priced("large", "large", 3)}}
	p := debatetest.Call(t, e.Run, options(&simulated{accuracy: .7}))
	require.Len(t, p.Arms, 2)
}

// Runs have labels, and an id that derives from the evaluation, the arm, the task, the sample and the configuration.
func TestRunsAreLabeledDebates(t *testing.T) {
	o := kept(&simulated{accuracy: .7})
	twice := samples(t, "single", 1)
	twice.Samples = 2
	ids := map[string]bool{}
	for _, name := range []string{"one", "two"} {
		e := eval.Evaluation{Name: name, Tasks: questions(2), Arms: []eval.Arm{twice}}
		debatetest.Call(t, e.Run, o)
	}
	engine := debatetest.Engine(t, o)
	var labels []map[string]string
	for _, s := range debatetest.List(t, engine, store.Query{Labels: map[string]string{"eval": "two"}}) {
		labels = append(labels, s.Labels)
	}
	require.ElementsMatch(t, []map[string]string{
		{"eval": "two", "arm": "single", "task": "1", "sample": "1"},
		{"eval": "two", "arm": "single", "task": "1", "sample": "2"},
		{"eval": "two", "arm": "single", "task": "2", "sample": "1"},
		{"eval": "two", "arm": "single", "task": "2", "sample": "2"},
	}, labels)
	for _, s := range debatetest.List(t, engine, store.Query{}) {
		ids[s.ID] = true
	}
	require.Len(t, ids, 8)
}

// As many tasks are answered at the same time as Concurrency says, and no more.
func TestConcurrency(t *testing.T) {
	const atOnce = 3
	var mu sync.Mutex
	var now, most, all int
	together := make(chan struct{})
	o := options(debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
		mu.Lock()
		now, all = now+1, all+1
		most = max(most, now)
		if all == atOnce {
			close(together)
		}
		mu.Unlock()
		select { // the first calls wait for one another
		case <-together:
		case <-ctx.Done():
		}
		mu.Lock()
		now--
		mu.Unlock()
		return ballot("1", 10), nil
	}))
	e := eval.Evaluation{Name: "at-once", Tasks: questions(20), Arms: []eval.Arm{samples(t, "single", 1)}, Concurrency: atOnce}
	debatetest.Call(t, e.Run, o)
	require.Equal(t, []int{atOnce, 20}, []int{most, all})
}

// A task that was handed out before the limit was reached is not begun after it.
func TestNoRunBeginsAtALimit(t *testing.T) {
	m := &simulated{accuracy: 0.7}
	e := eval.Evaluation{Name: "one", Tasks: questions(10), Arms: []eval.Arm{samples(t, "single", 1)}, Concurrency: 1, MaxTokens: 1}
	p := debatetest.Call(t, e.Run, options(m))
	require.Equal(t, []int{1, 1, 9}, []int{m.total(), p.Arms[0].Runs, p.Arms[0].Missing})
}

// Stop lets the calls in flight finish, and keeps them.
func TestStop(t *testing.T) {
	m, stop := &simulated{accuracy: 0.7}, make(chan struct{})
	var calls atomic.Int64
	o := kept(debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if calls.Add(1) == 10 {
			close(stop)
		}
		return m.Generate(ctx, r)
	}))
	e := eval.Evaluation{Name: "stop", Tasks: questions(10), Arms: []eval.Arm{samples(t, "single", 1), debaters(t, "debate")}, Concurrency: 2, Stop: stop}
	p := debatetest.Call(t, e.Run, o)
	require.Contains(t, p.Incomplete, "runs are missing")
	require.Less(t, calls.Load(), int64(10+2*3+1))
	e.Stop = nil
	p = debatetest.Call(t, e.Run, o)
	require.Empty(t, p.Incomplete)
	require.Equal(t, 120, m.total())
}

// The end of the context keeps what is committed.
func TestTheEndOfTheContextKeepsWhatIsCommitted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := &simulated{accuracy: 0.7}
	var calls atomic.Int64
	o := kept(debatetest.ProviderFunc(func(callCtx context.Context, r providers.Request) (providers.Response, error) {
		if calls.Add(1) == 10 {
			cancel()
		}
		return m.Generate(callCtx, r)
	}))
	e := eval.Evaluation{Name: "context", Tasks: questions(10), Arms: []eval.Arm{samples(t, "single", 1), debaters(t, "debate")}, Concurrency: 2}
	_, err := e.Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	p := debatetest.Call(t, e.Run, o)
	require.Empty(t, p.Incomplete)
	require.LessOrEqual(t, m.total(), 120+2*3, "at most the calls in flight are repeated")
}

func TestProgress(t *testing.T) {
	m := &simulated{accuracy: 0.7}
	var seen []progress.Tasks
	e := eval.Evaluation{
		Name: "progress", Tasks: questions(5), Arms: []eval.Arm{samples(t, "single", 1)},
		Progress: func(p progress.Tasks) { seen = append(seen, p) },
	}
	debatetest.Call(t, e.Run, options(m))
	last := seen[len(seen)-1]
	require.Equal(t, []int{5, 5, 5, 0, 550}, []int{last.Tasks, last.TotalTasks, last.Runs, last.Failed, last.Tokens})
	require.InDelta(t, 5*200/1e6, last.Cost, 1e-12)
	require.Zero(t, last.RemainingTime)
	for _, p := range seen {
		if p.Tasks > 0 && p.Tasks < 5 {
			require.Positive(t, p.RemainingCost)
			require.Positive(t, p.RemainingTime)
		}
	}
}

// scheduling is a store whose debates workers run. It tells them of each commit.
type scheduling struct {
	store.Store
	store.Watcher
	news chan struct{}
}

func (scheduling) Schedules() bool { return true }

func (s scheduling) Commit(ctx context.Context, c store.Change) error {
	defer func() {
		select {
		case s.news <- struct{}{}:
		default:
		}
	}()
	return s.Store.Commit(ctx, c)
}

// work runs the debates of a store until ctx ends.
func (s scheduling) work(ctx context.Context, e *debate.Engine) {
	for {
		for status, err := range e.List(ctx, store.Query{States: fsm.Active()}) {
			if err != nil {
				break
			}
			if d, err := e.Open(ctx, status.ID); err == nil {
				_, _ = d.RunOnce(ctx)
			}
		}
		select {
		case <-s.news:
		case <-ctx.Done():
			return
		}
	}
}

// An evaluation on a store that schedules debates makes no call itself.
func TestWorkersRunTheDebates(t *testing.T) {
	memory := store.Memory()
	s := scheduling{memory, memory.(store.Watcher), make(chan struct{}, 1)}
	m := &simulated{accuracy: 0.7}
	worker := debatetest.Engine(t, debate.Options{Store: s, Providers: options(m).Providers})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { s.work(ctx, worker) })
	e := eval.Evaluation{Name: "workers", Tasks: questions(6), Arms: []eval.Arm{samples(t, "single", 1), debaters(t, "debate")}}
	p, err := e.Run(t.Context(), debate.Options{Store: s})
	cancel()
	done.Wait()
	require.NoError(t, err)
	require.Empty(t, p.Incomplete)
	require.Equal(t, 6*12, m.total())
	undisturbed := debatetest.Call(t, e.Run, options(m))
	require.Equal(t, withoutTimes(undisturbed), withoutTimes(p))
}

// hasty holds debates that a worker ends before whoever has just read that they are new can start them.
type hasty struct {
	scheduling

	finish func(id string) error
}

func (h hasty) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := h.scheduling.Load(ctx, id, after)
	if err == nil && status.State == fsm.Configuring {
		err = h.finish(id)
	}
	return status, entries, err
}

func TestAWorkerMayEndADebateBeforeItIsStarted(t *testing.T) {
	memory := store.Memory()
	s := scheduling{memory, memory.(store.Watcher), make(chan struct{}, 1)}
	m := &simulated{accuracy: 0.7}
	worker := debatetest.Engine(t, debate.Options{Store: s, Providers: options(m).Providers})
	var finished atomic.Int32
	finish := func(id string) error {
		d, err := worker.Open(t.Context(), id)
		if err != nil {
			return err
		}
		if err := d.Start(t.Context()); err != nil {
			return err
		}
		for more := true; more && err == nil; {
			more, err = d.RunOnce(t.Context())
		}
		finished.Add(1)
		return err
	}
	e := eval.Evaluation{Name: "hasty", Tasks: questions(3), Arms: []eval.Arm{samples(t, "single", 1)}}
	p := debatetest.Call(t, e.Run, debate.Options{Store: hasty{s, finish}})
	require.Empty(t, p.Incomplete)
	require.EqualValues(t, 3, finished.Load())
}

package observertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// logger returns a logger that writes lines without the time.
func logger(w *strings.Builder) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

// listener is an observer that keeps all events.
type listener struct {
	mu     sync.Mutex
	events map[string][]debate.Event
	act    func(debate.Event) // before an event is kept; may be nil
}

func (l *listener) event(id string, ev debate.Event) {
	if l.act != nil {
		l.act(ev)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.events == nil {
		l.events = map[string][]debate.Event{}
	}
	l.events[id] = append(l.events[id], ev)
}

// of returns the events of a debate as JSON, by whether they are stored.
func (l *listener) of(t *testing.T, id string) (stored []string, live []debate.Event) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	last := int64(0)
	for _, ev := range l.events[id] {
		if ev.Meta().Live {
			live = append(live, ev)
			continue
		}
		require.Greater(t, ev.Meta().Seq, last, "in order")
		last = ev.Meta().Seq
		stored = append(stored, debatetest.Encode(t, ev))
	}
	return stored, live
}

// secret is the field of the first entry that no event shows.
var secret = regexp.MustCompile(`,"secret":"[^"]+"`)

// journal returns the entries of a debate, as events show them.
func journal(t *testing.T, s store.Store, id string) (list []string) {
	t.Helper()
	_, entries, err := s.Load(t.Context(), id, 0)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, secret.ReplaceAllString(debatetest.Encode(t, e.Data), ""))
	}
	return list
}

// Without a slow observer, it gets what a viewer of Run gets, and the first entry.
func TestAnObserverGetsEveryEvent(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, s := &listener{}, store.Memory()
				_, d := start(t, &model{cfg: cfg}, debate.Observer{Event: l.event}, func(_ *debate.Config, o *debate.Options) { o.Store = s })
				seen := debatetest.Finish(t, d)
				synctest.Wait()
				stored, live := l.of(t, d.ID())
				require.Equal(t, journal(t, s, d.ID()), stored)
				count := func(list []debate.Event) map[string]int {
					n := map[string]int{}
					for _, ev := range list {
						if ev.Meta().Live {
							n[ev.Meta().Type]++
						}
					}
					return n
				}
				require.Equal(t, count(seen), count(live))
				last := live[len(live)-1].(debate.Ended)
				require.Equal(t, debatetest.Result(t, d).Answer.Text, last.Result.Answer.Text)
			})
		})
	}
}

// yielding is a store that lets other goroutines run before it commits.
type yielding struct{ store.Store }

func (s yielding) Commit(ctx context.Context, c store.Change) error {
	for range 100 {
		runtime.Gosched()
	}
	return s.Store.Commit(ctx, c)
}

// Live events stand between the stored ones that they follow, also those that happen while an entry is being committed.
func TestLiveEventsStandInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listener{}
		_, d := start(t, &model{cfg: pair()}, debate.Observer{Event: l.event}, func(_ *debate.Config, o *debate.Options) {
			o.Store = yielding{store.Memory()}
		})
		debatetest.Finish(t, d)
		synctest.Wait()
		last, texts := int64(0), map[string]string{}
		for _, ev := range l.events[d.ID()] {
			if !ev.Meta().Live {
				last = ev.Meta().Seq
			}
			switch ev := ev.(type) {
			case debate.TurnStarted:
				texts[ev.Key.String()] = ""
			case debate.Chunk:
				require.Equal(t, last, ev.Seq)
				require.Len(t, texts[ev.Key.String()], ev.Offset)
				texts[ev.Key.String()] += ev.Text
			case debate.TurnDone:
				if ev.Turn.Contract == "" {
					require.Equal(t, ev.Turn.Text, texts[ev.Turn.Key.String()])
				}
			}
		}
		require.NotEmpty(t, texts)
	})
}

// The live events of an engine that continues a debate follow what other engines have committed, before and during the drive.
func TestLiveEventsFollowWhatOthersCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.Memory()
		l := &listener{}
		m := &model{cfg: pair()}
		_, first := start(t, m, debate.Observer{}, func(c *debate.Config, o *debate.Options) { c.Protocol, o.Store = panel.Protocol{}, s })
		require.NoError(t, first.Annotate(t.Context(), "note", 1))
		for range 5 {
			_, err := first.RunOnce(t.Context())
			require.NoError(t, err)
		}
		before := debatetest.Status(t, first)
		calls := 0
		m.act = func(ctx context.Context, _ debate.Step) error {
			calls++
			if calls > 1 {
				return nil
			}
			require.NoError(t, first.Annotate(ctx, "note", 2))
			time.Sleep(time.Second)
			return &providers.Error{Kind: providers.ServerError, Err: errors.New("down")}
		}
		e := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m}, Observer: debate.Observer{Event: l.event}})
		second := debatetest.Open(t, e, "d")
		_, err := second.RunOnce(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		for _, ev := range l.events["d"] {
			switch ev := ev.(type) {
			case debate.TurnStarted:
				if ev.Number == 1 {
					require.Equal(t, before.Seq, ev.Seq)
				}
			case debate.TurnFailed:
				require.Equal(t, before.Seq+1, ev.Seq)
				return
			}
		}
		t.Fatal("no attempt has failed")
	})
}

// An observer that is too slow delays no debate, loses no stored event, and learns how many live events it has lost.
func TestASlowObserverLosesOnlyLiveEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, open := store.Memory(), make(chan struct{})
		l := &listener{act: func(debate.Event) { <-open }}
		e, d := start(t, &model{cfg: pair()}, debate.Observer{Event: l.event, MaxQueue: 5}, func(_ *debate.Config, o *debate.Options) { o.Store = s })
		other := pair()
		other.ID = "other"
		d2 := debatetest.Create(t, e, other)
		began := time.Now()
		for _, x := range []*debate.Debate{d, d2} {
			seen := debatetest.Finish(t, x)
			require.Greater(t, len(seen), 50)
		}
		require.Less(t, time.Since(began), 10*time.Minute, "the debates did not wait")
		close(open)
		require.NoError(t, e.Close(t.Context()), "Close waits for the observer")
		for _, id := range []string{d.ID(), "other"} {
			stored, live := l.of(t, id)
			require.Equal(t, journal(t, s, id), stored, id)
			var lost []string
			for _, ev := range live {
				if w, ok := ev.(debate.Warning); ok && w.Key.Actor == "" {
					lost = append(lost, w.Text)
				}
			}
			require.NotEmpty(t, lost, id)
			require.Regexp(t, `^the observer is too slow: it misses \d+ live events$`, lost[0])
		}
	})
}

// Close waits for a slow observer only as long as its context allows.
func TestCloseStopsWaitingForAnObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		defer close(open)
		e, _ := start(t, &model{cfg: pair()}, debate.Observer{Event: func(string, debate.Event) { <-open }}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := e.Close(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "the observer has not seen all events")
	})
}

// While the store fails, stored events that were not queued are read again and again.
func TestStoredEventsAreReadAgainWhenTheStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, open := &failingStore{Store: store.Memory()}, make(chan struct{})
		l := &listener{act: func(debate.Event) { <-open }}
		e, d := start(t, &model{cfg: pair()}, debate.Observer{Event: l.event, MaxQueue: 2}, func(_ *debate.Config, o *debate.Options) { o.Store = s })
		debatetest.Finish(t, d)
		s.fail(3)
		close(open)
		time.Sleep(time.Hour)
		require.NoError(t, e.Close(t.Context()))
		stored, _ := l.of(t, d.ID())
		require.Equal(t, journal(t, s, d.ID()), stored)
	})
}

// If a debate is deleted before a slow observer has had its events, there are no more.
func TestADebateIsDeletedBeforeItsEventsAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		l := &listener{act: func(debate.Event) { <-open }}
		e, d := start(t, &model{cfg: pair()}, debate.Observer{Event: l.event, MaxQueue: 2}, nil)
		debatetest.Finish(t, d)
		require.NoError(t, e.Delete(t.Context(), d.ID()))
		close(open)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.NoError(t, e.Close(ctx))
	})
}

// failingStore fails some calls of Load.
type failingStore struct {
	store.Store
	mu   sync.Mutex
	left int
}

func (s *failingStore) fail(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = n
}

func (s *failingStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	s.mu.Lock()
	fails := s.left > 0
	s.left--
	s.mu.Unlock()
	if fails {
		return store.Status{}, nil, errors.New("the store is down")
	}
	return s.Store.Load(ctx, id, after)
}

// lingering is a store whose commits sometimes return late.
type lingering struct{ store.Store }

func (s lingering) Commit(ctx context.Context, c store.Change) error {
	err := s.Store.Commit(ctx, c)
	if c.After%2 == 0 {
		time.Sleep(time.Millisecond)
	}
	return err
}

// Many handles that change one debate at the same time do not mix up its events.
func TestEventsOfManyHandlesAreInOrder(t *testing.T) {
	events, commits := &listener{}, &listener{}
	e, d := start(t, &model{cfg: pair()}, debate.Observer{
		Event: events.event, Commit: func(_ context.Context, id string, ev debate.Event) { commits.event(id, ev) },
	}, func(_ *debate.Config, o *debate.Options) { o.Store = lingering{store.Memory()} })
	var all sync.WaitGroup
	for i := range 8 {
		h := debatetest.Open(t, e, d.ID())
		all.Go(func() {
			for j := range 20 {
				_ = h.Annotate(context.Background(), fmt.Sprintf("note-%d-%d", i, j), j) // a conflict is repeated
			}
		})
	}
	all.Wait()
	require.NoError(t, e.Close(t.Context()))
	for _, l := range []*listener{events, commits} {
		stored, _ := l.of(t, d.ID()) // checks the order
		require.Greater(t, len(stored), 100)
	}
}

// The log has a line for each transition, failed attempt, failed step and warning, and no text of the debate.
func TestTheLog(t *testing.T) {
	run := func(t *testing.T, texts bool) string {
		var log strings.Builder
		synctest.Test(t, func(t *testing.T) {
			m := &model{cfg: pair()}
			var failed atomic.Bool
			m.act = func(_ context.Context, s debate.Step) error {
				switch {
				case s.Key.Actor == "A" && !failed.Swap(true):
					return &providers.Error{Kind: providers.ServerError, Err: errors.New("down: SECRET TEXT")}
				case s.Key.Actor == "B":
					return &providers.Error{Kind: providers.ContentFiltered, Err: errors.New("refused: SECRET TEXT")}
				}
				return nil
			}
			_, d := start(t, m, debate.Observer{}, func(c *debate.Config, o *debate.Options) {
				o.Logger, o.LogTexts = logger(&log), texts
				c.Topic = "SECRET TEXT"
				c.Judges[0].Model, c.Participants[0].Model = "same", "same"
			})
			seen := debatetest.Finish(t, d)
			lines := map[string]int{}
			for line := range strings.Lines(log.String()) {
				lines[strings.SplitN(strings.SplitN(line, "msg=", 2)[1], " debate=", 2)[0]]++
				require.Contains(t, line, "debate="+d.ID())
			}
			want := map[string]int{}
			for _, ev := range seen {
				switch ev := ev.(type) {
				case debate.StateChanged:
					want["transition"]++
				case debate.Warning:
					want["warning"]++
				case debate.Dropped:
					want[`"step failed"`]++
				case debate.TurnFailed:
					want[map[bool]string{true: `"attempt failed, no retry"`, false: `"attempt failed, retry"`}[ev.RetryIn < 0]]++
				}
			}
			require.Equal(t, want, lines)
			require.Len(t, want, 5, "each kind of line is there")
		})
		return log.String()
	}
	silent := run(t, false)
	require.NotContains(t, silent, "SECRET")
	require.Contains(t, silent, "level=INFO msg=transition debate=d seq=2 from=configuring on=validate to=validating round=0")
	full := run(t, true)
	for _, line := range []string{"attempt failed, retry", "attempt failed, no retry", "step failed"} {
		require.Regexp(t, `msg="`+line+`" .* message="(server_error: down|content_filtered: refused): SECRET TEXT"`, full)
	}
}

// Each step that fails has a line, whatever follows: a question, or the end together with other steps.
func TestEachFailureIsLogged(t *testing.T) {
	for _, policy := range []debate.FailurePolicy{debate.Ask, debate.Degrade} {
		t.Run(string(policy), func(t *testing.T) {
			var log strings.Builder
			synctest.Test(t, func(t *testing.T) {
				m := &model{cfg: pair()}
				m.act = func(_ context.Context, s debate.Step) error {
					if s.Kind == transcript.Speech {
						return &providers.Error{Kind: providers.ContentFiltered, Err: errors.New("refused")}
					}
					return nil
				}
				_, d := start(t, m, debate.Observer{}, func(c *debate.Config, o *debate.Options) { c.OnFailure, o.Logger = policy, logger(&log) })
				_, _ = debatetest.Run(t, d)
			})
			for _, name := range []string{"A", "B", "C"} {
				require.Equal(t, 1, strings.Count(log.String(), `msg="step failed" debate=d step=1/1/respond/`+name))
			}
		})
	}
}

// afterFirst is a store that calls a function after the first commit of a debate, with the number of its entries.
type afterFirst struct {
	store.Store
	do func(entries int)
}

func (s *afterFirst) Commit(ctx context.Context, c store.Change) error {
	err := s.Store.Commit(ctx, c)
	if err == nil && c.After == 0 {
		s.do(len(c.Entries))
	}
	return err
}

// Launch creates and starts a debate in one commit.
func TestLaunch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := &listener{}, &afterFirst{store.Memory(), func(entries int) { require.Equal(t, 2, entries) }}
		m := &model{cfg: pair()}
		e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": m}, Store: s, Observer: debate.Observer{Event: l.event}})
		d := debatetest.Call(t, e.Launch, m.cfg)
		time.Sleep(time.Hour)
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		_, err := e.Launch(t.Context(), m.cfg)
		require.ErrorContains(t, err, "the id is taken")

		wrong := pair()
		wrong.ID, wrong.Judges[0].Provider = "wrong", "nobody"
		_, err = e.Launch(t.Context(), wrong)
		var problems *debate.Problems
		require.ErrorAs(t, err, &problems)
		_, _, err = s.Load(t.Context(), "wrong", 0)
		require.ErrorIs(t, err, store.ErrNotFound, "nothing is stored")
		late := pair()
		late.ID = "in-between"
		s.do = func(int) { require.NoError(t, e.Close(t.Context())) }
		d, err = e.Launch(t.Context(), late)
		require.ErrorIs(t, err, debate.ErrClosed)
		require.Equal(t, "in-between", d.ID(), "it is stored")
		late.ID = "late"
		_, err = e.Launch(t.Context(), late)
		require.ErrorIs(t, err, debate.ErrClosed)
	})
}

// Recover continues a debate that another engine has launched and left, even if a call of that engine never returns.
func TestALaunchedDebateIsRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := store.Memory(), &model{cfg: pair()}
		stuck := make(chan struct{})
		defer close(stuck)
		first := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
			<-stuck
			return providers.Response{}, errors.New("late")
		})}})
		debatetest.Call(t, first.Launch, m.cfg)
		time.Sleep(time.Minute) // the call is under way, and there are heartbeats
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, first.Close(gone))
		second := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m}})
		time.Sleep(time.Hour)
		require.NoError(t, second.Recover(t.Context()))
		time.Sleep(time.Hour)
		d := debatetest.Open(t, second, "d")
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		require.NoError(t, second.Close(t.Context()))
	})
}

// With KeepReplies, attempts hold what the service replied, also the one that was asked again.
func TestRawRepliesAreKeptOnRequest(t *testing.T) {
	for _, keep := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				s, _ := debate.StepFrom(ctx)
				text := enginetest.PresetReply(pair(), r)
				switch {
				case s.Key.Actor == "J" && s.Number == 1:
					text = "no JSON"
				case s.Key.Actor == "J":
					text = "Here it is:\n```json\n" + text + "\n```"
				case s.Key.Actor == "A":
					text = strings.Repeat("ä", 40<<10)
				}
				return (&scripted.Provider{Replies: []scripted.Reply{{Text: text}}}).Generate(ctx, r)
			})
			e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": m}, KeepReplies: keep})
			d := debatetest.Create(t, e, pair())
			debatetest.Finish(t, d)
			kept := 0
			for _, turn := range debatetest.Result(t, d).Turns {
				for i, a := range turn.Attempts {
					if !keep {
						require.Empty(t, a.Reply)
						continue
					}
					kept++
					switch {
					case turn.Actor == "J" && i == 0:
						require.Equal(t, "no JSON", a.Reply)
					case turn.Actor == "J":
						require.True(t, strings.HasPrefix(a.Reply, "Here it is:"), "the reply as it was")
						require.True(t, json.Valid(turn.Data))
					case turn.Actor == "A":
						require.Len(t, a.Reply, 64<<10, "at most 64 KiB, in whole characters")
					default:
						require.NotEmpty(t, a.Reply)
					}
				}
			}
			require.Equal(t, keep, kept > 5)
		})
	}
}

// Commit gets what a viewer gets, without the other live events, before the control or the step that commits returns.
func TestCommitsAreToldInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // the driver commits in the background as soon as Start has made it
		var told, seen []string
		keep := func(list *[]string, ev debate.Event) {
			switch ev.(type) {
			case debate.TurnStarted, debate.Chunk, debate.TurnFailed, debate.Ended:
			default:
				mu.Lock()
				defer mu.Unlock()
				*list = append(*list, debatetest.Encode(t, ev))
			}
		}
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(told)
		}
		m, s := &model{cfg: pair()}, store.Memory()
		e, d := start(t, m, debate.Observer{Commit: func(_ context.Context, id string, ev debate.Event) {
			require.Equal(t, "d", id)
			keep(&told, ev)
		}}, func(c *debate.Config, o *debate.Options) {
			c.Judges[0].Model = "same"
			c.Participants[0].Model = "same"
			o.Store = s
		})
		require.Equal(t, 1, count(), "Create has told its entry")
		require.NoError(t, d.Start(t.Context()))
		require.Greater(t, count(), 1, "Start has told its entry")
		time.Sleep(time.Hour)
		require.NoError(t, e.Close(t.Context()))
		e2 := debatetest.Engine(t, debate.Options{Store: s})
		viewed := debatetest.Open(t, e2, "d")
		for ev, err := range viewed.Watch(t.Context(), 0) {
			require.NoError(t, err)
			keep(&seen, ev)
		}
		require.Equal(t, seen, told)
		require.Contains(t, strings.Join(told, ""), `"type":"warning"`)
	})
}

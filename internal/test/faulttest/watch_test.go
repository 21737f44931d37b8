package faulttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// watchedDebate returns a debate with warnings, failures, chunks and a parallel phase in the given mode, and a function
// that opens it in another engine.
func watchedDebate(t *testing.T, mode panel.Mode, failures int) (d *debate.Debate, elsewhere func() *debate.Debate) {
	cfg := debatetest.PairConfig(panel.Protocol{Mode: mode})
	cfg.Participants[1].Provider = "j" // its judge may favor it
	cfg.Limits = debate.Limits{MaxRounds: 2, StepTimeout: 1000 * time.Hour, RunningTime: 2000 * time.Hour, StepAttempts: failures + 2}
	cfg.Retries = map[providers.ErrorKind]int{providers.Network: failures + 1}
	calls := 0
	unreliable := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		calls++
		reply := scripted.Reply{Text: fmt.Sprint("reply number ", calls), Chunks: 3, Latency: 3 * time.Second}
		if calls <= failures {
			reply.Err = &providers.Error{Kind: providers.Network}
		}
		return (&scripted.Provider{Replies: []scripted.Reply{reply}}).Generate(ctx, r)
	})
	judge := &debatetest.DigestModel{Names: []string{"A", "B"}}
	s := store.Memory()
	engine := func() *debate.Engine {
		return debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": unreliable, "j": truncating{judge}}})
	}
	d = debatetest.Create(t, engine(), cfg)
	return d, func() *debate.Debate {
		return debatetest.Open(t, engine(), cfg.ID)
	}
}

// truncating is a model whose free texts are truncated.
type truncating struct{ providers.Provider }

func (p truncating) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	res, err := p.Provider.Generate(ctx, r)
	if err == nil && r.Schema == nil {
		res.FinishReason = providers.Length
	}
	return res, err
}

// A watcher sees what Run shows, in the same order and with the same seqs, however slow it is. A watcher in another
// process, or one that comes later, sees the same without attempts and chunks.
func TestAWatcherSeesWhatRunShows(t *testing.T) {
	pauses := map[string]time.Duration{"quick": 0, "slow": 2 * time.Second, "late": 5 * time.Hour}
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, elsewhere := watchedDebate(t, mode, 2)
				var watching sync.WaitGroup
				seen := map[string]*[]debate.Event{}
				follow := func(name string, d *debate.Debate, pause time.Duration) {
					events := new([]debate.Event)
					seen[name] = events
					watching.Go(func() { *events = watch(t, d, 0, pause) })
				}
				for name, pause := range pauses {
					follow(name, d, pause)
				}
				follow("elsewhere", elsewhere(), 0)
				synctest.Wait()
				shown := debatetest.Finish(t, d)
				watching.Wait()
				require.Contains(t, lines(t, shown, mode), `"type":"warning","seq":2,"live":true,"key":{"run":1,"round":0,"phase":"configuration","actor":"J","target":"judges[0]"}`)
				require.Contains(t, lines(t, shown, mode), "the reply was truncated at its token limit")
				require.Equal(t, 2, strings.Count(lines(t, shown, mode), `"type":"turn_failed"`))
				for name, events := range seen {
					require.IsType(t, debate.ConfigChanged{}, (*events)[0], "it came before Run")
					want := shown
					if name == "elsewhere" {
						want = slices.DeleteFunc(slices.Clone(shown), ofAttempt)
					}
					require.Equal(t, lines(t, want, mode), lines(t, (*events)[1:], mode), name)
				}
				stored := slices.DeleteFunc(slices.Clone(shown), ofAttempt)
				for _, handle := range []*debate.Debate{d, elsewhere()} {
					require.Equal(t, lines(t, stored, mode), lines(t, watch(t, handle, 1, 0), mode))
					again := debatetest.Finish(t, handle)
					last := stored[len(stored)-1:]
					require.Equal(t, lines(t, last, mode), lines(t, again, mode), "Run of a debate that has ended shows the end")
					require.Equal(t, lines(t, last, mode), lines(t, watch(t, handle, 1<<40, 0), mode), "and so does Watch after the end")
				}
			})
		})
	}
}

// A watcher that asks for events after the last one sees all that follow.
func TestAWatcherMayBeginAfterTheLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := watchedDebate(t, panel.Sequential, 0)
		done := make(chan []debate.Event)
		go func() { done <- watch(t, d, 1<<40, 0) }()
		synctest.Wait()
		shown := debatetest.Finish(t, d)
		require.Equal(t, lines(t, shown, panel.Sequential), lines(t, <-done, panel.Sequential))
	})
}

// ofAttempt reports whether an event belongs to an attempt, which only the process that makes it can show.
func ofAttempt(ev debate.Event) bool {
	switch ev.(type) {
	case debate.TurnStarted, debate.Chunk, debate.TurnFailed:
		return true
	}
	return false
}

// watch returns all events that a watcher sees who takes a pause after each.
func watch(t *testing.T, d *debate.Debate, after int64, pause time.Duration) (events []debate.Event) {
	for ev, err := range d.Watch(t.Context(), after) {
		if err != nil {
			t.Error(err)
			return events
		}
		events = append(events, ev)
		time.Sleep(pause)
	}
	return events
}

// lines returns events as lines of JSON. It joins the chunks of an attempt. The events of simultaneous attempts are
// sorted by step between durable events, because their order between steps is free.
func lines(t *testing.T, events []debate.Event, mode panel.Mode) string {
	var joined []debate.Event
	open := map[*debate.Attempt]int{}
	for _, ev := range events {
		if c, ok := ev.(debate.Chunk); ok {
			if at, begun := open[c.Attempt]; begun {
				earlier := joined[at].(debate.Chunk)
				require.Equal(t, len(earlier.Text), c.Offset)
				earlier.Text += c.Text
				joined[at] = earlier
				continue
			}
			open[c.Attempt] = len(joined)
		}
		joined = append(joined, ev)
	}
	var b strings.Builder
	list := make([]string, len(joined))
	for i, ev := range joined {
		list[i] = debatetest.Encode(t, ev)
	}
	if mode == panel.Simultaneous {
		list = byStep(joined, list)
	}
	for _, line := range list {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// byStep moves the events of each step's attempts before its turn, without their seqs.
func byStep(events []debate.Event, list []string) (sorted []string) {
	waiting := map[transcript.Key][]string{}
	add := func(k transcript.Key, line string, seq int64) {
		waiting[k] = append(waiting[k], strings.Replace(line, fmt.Sprintf(`"seq":%d`, seq), `"seq":0`, 1))
	}
	for i, ev := range events {
		seq := ev.Meta().Seq
		switch ev := ev.(type) {
		case debate.TurnStarted:
			add(ev.Key, list[i], seq)
		case debate.Chunk:
			add(ev.Key, list[i], seq)
		case debate.TurnFailed:
			add(ev.Key, list[i], seq)
		case debate.TurnDone:
			sorted = append(append(sorted, waiting[ev.Turn.Key]...), list[i])
			delete(waiting, ev.Turn.Key)
		default:
			sorted = append(sorted, list[i])
		}
	}
	for _, rest := range waiting {
		sorted = append(sorted, "after its turn: ")
		sorted = append(sorted, rest...)
	}
	return sorted
}

// A watcher that sleeps while attempts fail sees all of them later. If there are too many, a warning says how many it
// missed.
func TestASleepingWatcherMissesNothingSilently(t *testing.T) {
	for _, failures := range []int{120, 900, 1200} {
		t.Run(fmt.Sprint(failures), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, _ := watchedDebate(t, panel.Sequential, failures)
				done := make(chan []debate.Event)
				go func() {
					var events []debate.Event
					for ev, err := range d.Watch(t.Context(), 0) {
						if err != nil {
							t.Error(err)
						}
						if _, first := ev.(debate.TurnStarted); first && len(events) < 10 {
							time.Sleep(500 * time.Hour)
						}
						events = append(events, ev)
					}
					done <- events
				}()
				synctest.Wait()
				debatetest.Finish(t, d)
				failed, missed := 0, 0
				for _, ev := range <-done {
					switch ev := ev.(type) {
					case debate.TurnFailed:
						failed++
					case debate.Warning:
						_, _ = fmt.Sscanf(ev.Text, "this viewer is too slow: it misses the live events of %d attempts", &missed)
					}
				}
				require.Equal(t, failures, failed+missed)
				require.Equal(t, failures > 1000, missed > 0)
			})
		})
	}
}

// An entry that cannot be read does not keep a watcher from leaving at the live event before it.
func TestAWatcherLeavesWhileTheJournalIsDamaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &unreadable{Store: store.Memory()}
		slow := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "I say", Hang: true} }}
		e := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": slow, "j": slow}})
		d := debatetest.Call(t, e.Launch, debatetest.PairConfig(panel.Protocol{}))
		synctest.Wait() // the first attempt waits
		s.broken.Store(true)
		seen := 0
		for _, err := range d.Watch(t.Context(), 0) {
			require.NoError(t, err, "the live event comes first")
			seen++
			break
		}
		require.Equal(t, 1, seen)
		now, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, e.Close(now))
		synctest.Wait()
	})
}

// unreadable is a store whose journals cannot be read while broken is set.
type unreadable struct {
	store.Store
	broken atomic.Bool
}

func (s *unreadable) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	if s.broken.Load() {
		return store.Status{}, nil, errors.New("the disk is damaged")
	}
	return s.Store.Load(ctx, id, after)
}

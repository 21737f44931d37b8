package debate_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// storedJSON are the events that are stored, as JSON.
func storedJSON(t *testing.T, events []debate.Event) []string {
	list := []string{}
	for _, ev := range events {
		if !ev.Event().Live {
			list = append(list, encode(t, ev))
		}
	}
	return list
}

// watch follows a debate to its end.
func watch(t *testing.T, d *debate.Debate, after int64) (events []debate.Event) {
	for ev, err := range d.Watch(t.Context(), after) {
		require.NoError(t, err)
		events = append(events, ev)
	}
	return events
}

func TestWatchShowsWhatIsStoredFromAnySeq(t *testing.T) {
	d := panelOf(t, 2, nil)
	shown, err := run(t, d)
	require.NoError(t, err)
	all := watch(t, d, 0)
	require.Equal(t, storedJSON(t, shown), storedJSON(t, all)[1:], "all but the configuration, which came before")
	require.IsType(t, debate.Ended{}, all[len(all)-1])
	for after := range int64(len(all)) {
		rest := watch(t, d, after)
		require.Equal(t, storedJSON(t, all)[after:], storedJSON(t, rest))
		require.IsType(t, debate.Ended{}, rest[len(rest)-1])
	}
	require.Len(t, watch(t, d, 9999), 1, "beyond the end there is only the result")
}

func TestWatchFollowsADetachedDebate(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		synctest.Test(t, func(t *testing.T) {
			d := panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
				c.Protocol, o.Providers["m"] = panel.Protocol{Mode: mode}, slow()
			})
			require.NoError(t, d.Start(t.Context()))
			require.NoError(t, d.Start(t.Context()), "starting a running debate is no error")
			late := make(chan []debate.Event)
			go func() {
				time.Sleep(5 * time.Second) // in the middle of the first speech
				late <- watch(t, d, 0)
			}()
			quick := watch(t, d, 0)
			checkSpeech(t, quick)
			checkSpeech(t, <-late)
			require.Equal(t, fsm.Completed, result(t, d).State)
			require.ErrorAs(t, d.Start(t.Context()), new(*fsm.Refused), "a completed debate does not start")
		})
	}
}

// checkSpeech checks that the chunks of each speech make it up, without gap and without repetition.
func checkSpeech(t *testing.T, events []debate.Event) {
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
		d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = slow() })
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
		quick := watch(t, d, 0)
		require.Equal(t, 20*time.Second, time.Since(began))
		require.IsType(t, debate.Ended{}, quick[len(quick)-1])
	})
}

func TestAWatcherThatLeavesStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = slow() })
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
		watch(t, d, 0)
		require.Equal(t, fsm.Completed, result(t, d).State)
	})
}

func TestADetachedDebateGoesOnThroughAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = slow() })
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(5 * time.Second)
		require.NoError(t, d.Pause(t.Context()))
		time.Sleep(time.Hour)
		require.Len(t, result(t, d).Turns, 1)
		require.ErrorAs(t, d.Start(t.Context()), new(*fsm.Refused))
		require.NoError(t, d.Resume(t.Context()))
		watch(t, d, 0)
		require.Equal(t, 15*time.Second, result(t, d).Running, "5 of A, 10 of B: what A said while paused does not count")
	})
}

func TestWarningsAndFailuresReachWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits.MaxRounds = 1
			o.Providers["j"] = &scripted.Provider{Replies: []scripted.Reply{
				{Err: &providers.Error{Kind: providers.Network}}, {Text: "I cannot say."}, {Text: "Still not."}, {Text: verdict},
			}}
		})
		shown := make(chan []debate.Event)
		go func() { shown <- watch(t, d, 0) }()
		synctest.Wait()
		require.NoError(t, d.Start(t.Context()))
		var failed, warned int
		for _, ev := range <-shown {
			switch ev := ev.(type) {
			case debate.TurnFailed:
				failed++
			case debate.Warning:
				warned++
				require.Contains(t, ev.Text, "no valid reply came, safe defaults stand for it")
			}
		}
		require.Equal(t, 3, failed, "the network, the reply that was asked for again, and that of the second asking")
		require.Equal(t, 1, warned)
	})
}

func TestOneEngineDrivesADebateOnce(t *testing.T) {
	d := panelOf(t, 1, nil)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if _, ok := ev.(debate.Chunk); ok {
			_, err := run(t, d)
			require.ErrorIs(t, err, debate.ErrBusy)
			_, err = d.Do(t.Context())
			require.ErrorIs(t, err, debate.ErrBusy)
		}
	}
	require.Equal(t, fsm.Completed, result(t, d).State)
}

func TestDoIsOneUnit(t *testing.T) {
	d := panelOf(t, 1, func(c *debate.Config, _ *debate.Options) { c.Protocol = panel.Protocol{Mode: panel.Simultaneous} })
	var turns []int
	for more := true; more; {
		var err error
		more, err = d.Do(t.Context())
		require.NoError(t, err)
		turns = append(turns, len(result(t, d).Turns))
	}
	require.Equal(t, []int{0, 2, 3, 4}, turns, "the check, both speeches, the assessment, the verdict")
	more, err := d.Do(t.Context())
	require.NoError(t, err)
	require.False(t, more)
}

func TestCloseLetsCallsInFlightCommit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		grace time.Duration
		turns int
	}{{"within its time", time.Minute, 1}, {"or cuts them", time.Second, 0}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := store.Memory()
				e, err := debate.NewEngine(debate.Options{Store: memory, Providers: models(slow(), court(t, 1))})
				require.NoError(t, err)
				d, err := e.Create(t.Context(), pair(nil))
				require.NoError(t, err)
				require.NoError(t, d.Start(t.Context()))
				time.Sleep(2 * time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), tt.grace)
				defer cancel()
				err = e.Close(ctx)
				require.Equal(t, tt.turns == 0, errors.Is(err, context.DeadlineExceeded))
				require.Len(t, result(t, d).Turns, tt.turns)
				require.Equal(t, fsm.Awaiting, result(t, d).State)
				_, err = run(t, d)
				require.ErrorIs(t, err, debate.ErrClosed)
				require.NoError(t, e.Close(t.Context()), "closing twice is no error")
			})
		})
	}
}

func TestRunEndsWithErrClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := debate.NewEngine(debate.Options{Providers: models(slow(), court(t, 1))})
		require.NoError(t, err)
		d, err := e.Create(t.Context(), pair(nil))
		require.NoError(t, err)
		go func() {
			time.Sleep(time.Second)
			_ = e.Close(t.Context())
		}()
		_, err = run(t, d)
		require.ErrorIs(t, err, debate.ErrClosed)
		require.Len(t, result(t, d).Turns, 1)
	})
}

// A store that does not tell of commits is asked once a second.
func TestAStoreThatCannotBeWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain := struct{ store.Store }{store.Memory()}
		opts := debate.Options{Store: plain, Providers: models(slow(), court(t, 1))}
		d, err := debate.New(t.Context(), pair(nil), opts)
		require.NoError(t, err)
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(2 * time.Second)
		other, err := debate.NewEngine(opts)
		require.NoError(t, err)
		again, err := other.Open(t.Context(), "d")
		require.NoError(t, err)
		began := time.Now()
		require.NoError(t, again.Cancel(t.Context()))
		watch(t, d, 0)
		require.LessOrEqual(t, time.Since(began), time.Second, "the call in flight was cut")
		time.Sleep(time.Minute) // the driver's own end
		synctest.Wait()
	})
}

func TestPreviewIsWhatWouldBeSent(t *testing.T) {
	model := chatter()
	d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Protocol, o.Providers["m"] = panel.Protocol{Mode: panel.Simultaneous}, model
	})
	ahead, err := d.Preview(t.Context())
	require.NoError(t, err)
	require.Len(t, ahead, 2)
	require.Equal(t, fsm.Configuring, result(t, d).State, "nothing has changed")
	require.Empty(t, model.Calls())
	_, err = run(t, d)
	require.NoError(t, err)
	want := map[string]bool{}
	for _, c := range model.Calls() {
		want[encode(t, c)] = true
	}
	for _, p := range ahead {
		require.True(t, want[encode(t, p.Request)])
		require.Positive(t, p.Tokens)
	}
	ahead, err = d.Preview(t.Context())
	require.NoError(t, err)
	require.Empty(t, ahead)
}

func TestALongHistoryIsCutToTheWindow(t *testing.T) {
	long := strings.Repeat("word ", 200)
	var model *scripted.Provider
	d := panelOf(t, 9, func(c *debate.Config, o *debate.Options) {
		for i := range c.Participants {
			c.Participants[i].Window, c.Participants[i].MaxTokens = 3000, 400
		}
		model = &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: long} }}
		o.Providers["m"], c.Limits.MaxRounds, c.Protocol = model, 9, panel.Protocol{Format: panel.RoundLimited}
	})
	_, err := run(t, d)
	require.NoError(t, err)
	res := result(t, d)
	require.Equal(t, "context_exceeded", res.Participants[0].State)
	require.Positive(t, res.Total.Cut)
	require.Contains(t, res.Warnings[len(res.Warnings)-1], "respond of B: the prompt left out ")
	calls := model.Calls()
	last := calls[len(calls)-1].Messages
	require.Less(t, len(last), 12)
	require.Equal(t, "A: "+long, last[1].Text, "the first statement stays")
}

package forktest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// completed returns a debate that has ended, with its engine.
func completed(t testing.TB, cfg debate.Config, change ...func(*debate.Options)) (*debate.Engine, *recorder, *debate.Debate) {
	t.Helper()
	e, m := newEngine(t, cfg, change...)
	d := create(t, e, cfg)
	run(t, d)
	m.take()
	return e, m, d
}

// A fork names its direct parent, and stays when that is deleted.
func TestFamilies(t *testing.T) {
	cfg := lifeConfig()
	e, _, parent := completed(t, cfg)
	end := debatetest.Status(t, parent).Seq
	child := fork(t, e, end-2, debate.Edits{})
	require.NotEqual(t, "d", child.ID())
	require.Equal(t, "d", configAt(t, e, parent, 1).Seed)
	grandchild := debatetest.Fork(t, e, child.ID(), 0, debate.Edits{})
	require.Equal(t, transcript.Parent{ID: "d", Seq: end - 2}, debatetest.Status(t, child).Parent)
	require.Equal(t, transcript.Parent{ID: child.ID(), Seq: debatetest.Status(t, child).Seq}, debatetest.Status(t, grandchild).Parent)
	require.NoError(t, e.Delete(t.Context(), "d"))
	require.NoError(t, e.Delete(t.Context(), child.ID()))
	run(t, grandchild)
	require.Equal(t, fsm.Completed, debatetest.Status(t, grandchild).State)
	require.Equal(t, "d", configAt(t, e, grandchild, 1).Seed, "it draws what its parents drew")
}

// A fork has the attachments of its parent, each for the same readers. It may have others.
func TestForksHaveTheAttachmentsOfTheirParent(t *testing.T) {
	cfg := lifeConfig()
	reader := cfg.Participants[0].Name
	photo := func(size int, name string, readers ...string) debate.Attachment {
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, size, size))))
		return debate.Attachment{Name: name, MediaType: "image/png", Data: b.Bytes(), Readers: readers}
	}
	cfg.Attachments = []debate.Attachment{photo(2, "all.png"), photo(3, "one.png", reader)}
	e, m := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	asked := m.take()
	attached := func(requests []providers.Request) (list []string) {
		for _, r := range requests {
			for a := range r.Attachments() {
				list = append(list, a.Name)
			}
		}
		return list
	}
	turns := debatetest.Result(t, parent).Turns
	child := fork(t, e, turns[1].Seq, debate.Edits{ID: "same"})
	run(t, child)
	again := m.take()
	require.NotEmpty(t, again)
	for key, requests := range again {
		require.Equal(t, attached(asked[key]), attached(requests), key)
		require.Contains(t, attached(requests), "all.png", key)
		require.Equal(t, key.Actor == reader, slices.Contains(attached(requests), "one.png"), key)
		p := debatetest.PromptOf(t, child, key)
		require.Equal(t, attached(requests), attached([]providers.Request{p.Request}), key)
	}
	cfg.Attachments = []debate.Attachment{photo(4, "other.png")}
	run(t, fork(t, e, turns[1].Seq, debate.Edits{ID: "edited", Config: &cfg}))
	for key, requests := range m.take() {
		require.Equal(t, []string{"other.png"}, attached(requests), key)
	}
}

// Nothing starts a fork by itself: neither Recover nor the heartbeat of its parent.
func TestAForkWaitsForItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := lifeConfig()
		e, m := newEngine(t, cfg, func(o *debate.Options) { o.RecoverAfter = time.Minute })
		m.alter = func(_ transcript.Key, _ int, reply *scripted.Reply) { reply.Latency = time.Second }
		parent := create(t, e, cfg)
		require.NoError(t, parent.Start(t.Context()))
		time.Sleep(3500 * time.Millisecond) // the fourth call is in flight
		seq := debatetest.Status(t, parent).Seq
		d := fork(t, e, 0, debate.Edits{ID: "fork"})
		require.Equal(t, seq, debatetest.Status(t, d).Parent.Seq)
		require.Zero(t, debatetest.Status(t, d).Driver)
		stood := debatetest.Result(t, d).Turns
		require.NoError(t, e.Recover(t.Context()))
		time.Sleep(time.Hour)
		require.Equal(t, fsm.Completed, debatetest.Status(t, parent).State, "the fork does not disturb its parent")
		require.Equal(t, fsm.Paused, debatetest.Status(t, d).State)
		m.take()
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(time.Hour)
		require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
		require.Equal(t, texts(debatetest.Result(t, parent).Turns), texts(debatetest.Result(t, d).Turns))
		require.Len(t, m.take(), len(debatetest.Result(t, d).Turns)-len(stood))
	})
}

// Start, Run, RunOnce and Resume each continue a fork.
func TestWhatContinuesAFork(t *testing.T) {
	cfg := lifeConfig()
	e, _, parent := completed(t, cfg)
	seq := debatetest.Result(t, parent).Turns[1].Seq
	ends := map[string]func(d *debate.Debate) error{
		"Run": func(*debate.Debate) error { return nil },
		"RunOnce": func(d *debate.Debate) error {
			more, err := d.RunOnce(t.Context())
			require.True(t, more)
			require.Len(t, debatetest.Result(t, d).Turns, 3)
			return err
		},
		"Resume": func(d *debate.Debate) error {
			require.NoError(t, d.Resume(t.Context()))
			return d.Resume(t.Context())
		},
		"Start": func(d *debate.Debate) error {
			require.NoError(t, d.Start(t.Context()))
			for _, err := range d.Watch(t.Context(), 0) {
				require.NoError(t, err)
			}
			return nil
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			d := fork(t, e, seq, debate.Edits{ID: name})
			require.NoError(t, end(d))
			if name != "Start" { // its driver may still be about to leave
				run(t, d)
			}
			require.Equal(t, outcome(t, parent), outcome(t, d))
		})
	}
}

// The time between the parent's last entry and the fork is not running time, and the fork has its own time of creation.
func TestTheTimesOfAFork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := lifeConfig()
		cfg.Judges = cfg.Judges[:1] // one call at a time
		e, m := newEngine(t, cfg)
		m.alter = func(_ transcript.Key, _ int, reply *scripted.Reply) { reply.Latency = time.Second }
		parent := create(t, e, cfg)
		run(t, parent)
		want := debatetest.Result(t, parent)
		for seq := range debatetest.Status(t, parent).Seq {
			time.Sleep(time.Hour)
			now := time.Now().UTC().Truncate(time.Microsecond)
			d := fork(t, e, seq+1, debate.Edits{ID: fmt.Sprint("fork-", seq)})
			is := debatetest.Status(t, d)
			require.Equal(t, now, is.Created)
			require.False(t, is.Updated.Before(is.Created))
			again := debatetest.Open(t, e, is.ID)
			require.Equal(t, is, debatetest.Status(t, again))
			time.Sleep(time.Hour)
			run(t, d)
			r := debatetest.Result(t, d)
			require.Equal(t, want.RunningTime, r.RunningTime, "entry %d", seq+1)
			require.Equal(t, now, r.Created)
		}
	})
}

// A fork that is made during a delay between rounds continues with the next round.
func TestAForkDuringADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := lifeConfig()
		cfg.Limits.RoundDelay = time.Hour
		e, _, parent := completed(t, cfg)
		for i, ev := range events(t, parent) {
			s, ok := ev.(debate.StateChanged)
			if !ok || s.To != fsm.RoundComplete {
				continue
			}
			d := fork(t, e, int64(i)+1, debate.Edits{})
			require.False(t, debatetest.Status(t, d).State.Active())
			run(t, d)
			require.Equal(t, outcome(t, parent), outcome(t, d))
		}
		later, _ := newEngine(t, cfg)
		d := create(t, later, cfg)
		for ev, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			if s, ok := ev.(debate.StateChanged); ok && s.To == fsm.RoundComplete {
				break
			}
		}
		early := fork(t, later, 0, debate.Edits{})
		run(t, early)
		require.Equal(t, outcome(t, parent), outcome(t, early))
	})
}

// watcher records what an observer gets.
type watcher struct {
	mu        sync.Mutex
	committed []debate.Event
	told      []debate.Event
}

// An observer is told of the first entry of a fork and of those that its parent does not have.
func TestAnObserverOfForks(t *testing.T) {
	w := watcher{}
	note := func(list *[]debate.Event, id string, ev debate.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if id == "fork" && !ev.Meta().Live {
			*list = append(*list, ev)
		}
	}
	e, _, parent := completed(t, lifeConfig(), func(o *debate.Options) {
		o.Observer = debate.Observer{
			Commit: func(_ context.Context, id string, ev debate.Event) { note(&w.committed, id, ev) },
			Event:  func(id string, ev debate.Event) { note(&w.told, id, ev) },
		}
	})
	seq := debatetest.Result(t, parent).Turns[3].Seq
	d := fork(t, e, seq, debate.Edits{ID: "fork"})
	run(t, d)
	require.NoError(t, e.Close(t.Context()))
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, list := range [][]debate.Event{w.committed, w.told} {
		var seqs []int64
		for _, ev := range list {
			seqs = append(seqs, ev.Meta().Seq)
		}
		want := []int64{1}
		for n := seq + 1; n <= int64(len(events(t, d))); n++ {
			want = append(want, n)
		}
		require.Equal(t, want, seqs)
		require.Equal(t, transcript.Parent{ID: "d", Seq: seq}, list[0].(debate.ConfigChanged).Parent)
	}
}

func TestLabelsOfForks(t *testing.T) {
	cfg := lifeConfig()
	cfg.Labels = map[string]string{"team": "red"}
	e, _, parent := completed(t, cfg)
	seq := debatetest.Result(t, parent).Turns[1].Seq
	edited := configAt(t, e, parent, seq)
	edited.Labels = map[string]string{"team": "blue"}
	for want, edits := range map[string]debate.Edits{
		"red": {}, "blue": {Config: &edited}, "green": {Labels: map[string]string{"team": "green"}}, "grey": {Config: &edited, Labels: map[string]string{"team": "grey"}},
		"": {Labels: map[string]string{}},
	} {
		d := fork(t, e, seq, edits)
		require.Equal(t, want, debatetest.Status(t, d).Labels["team"])
		run(t, d)
		require.Equal(t, want, debatetest.Status(t, d).Labels["team"])
	}
	require.Equal(t, "red", debatetest.Status(t, parent).Labels["team"])
}

// ended is a protocol that holds a function, which JSON omits.
type ended struct {
	panel.Protocol
	After func(round int) bool `json:"-"`
}

func (ended) Name() string { return "ended/1" }

func (p ended) End(r *protocol.Record) transcript.Ending {
	if p.After(r.Cursor.Round) {
		return transcript.Ending{Outcome: transcript.EarlyStop, Evidence: "the function says so"}
	}
	return transcript.Ending{}
}

// A fork uses the very protocol of its parent, or of its configuration.
func TestForksOfAProtocolWithAFunction(t *testing.T) {
	cfg := lifeConfig()
	cfg.Limits.MaxRounds, cfg.Protocol = 4, ended{After: func(round int) bool { return round == 2 }}
	e, _, parent := completed(t, cfg)
	require.Equal(t, 2, debatetest.Result(t, parent).Round)
	seq := debatetest.Result(t, parent).Turns[1].Seq
	same := fork(t, e, seq, debate.Edits{})
	run(t, same)
	require.Equal(t, outcome(t, parent), outcome(t, same))
	edited := cfg
	edited.Protocol = ended{After: func(round int) bool { return round == 3 }}
	longer := fork(t, e, seq, debate.Edits{Config: &edited})
	run(t, longer)
	require.Equal(t, 3, debatetest.Result(t, longer).Round)
}

// An engine without the debate's protocol makes no fork of it, except a copy of one that has ended.
func TestForksWithoutTheProtocol(t *testing.T) {
	cfg := lifeConfig()
	cfg.Protocol = ended{After: func(int) bool { return false }}
	kept := store.Memory()
	_, _, parent := completed(t, cfg, func(o *debate.Options) { o.Store = kept })
	other, _ := newEngine(t, cfg, func(o *debate.Options) { o.Store = kept })
	_, err := other.Fork(t.Context(), "d", debatetest.Result(t, parent).Turns[1].Seq, debate.Edits{})
	require.ErrorIs(t, err, debate.ErrUnsupported)
	d := debatetest.Fork(t, other, "d", 0, debate.Edits{})
	require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
	_, err = d.PromptOf(t.Context(), debatetest.Result(t, parent).Turns[1].Key)
	require.ErrorIs(t, err, debate.ErrUnsupported)
}

// planned is a protocol whose phases may panic.
type planned struct {
	panel.Protocol
	panics *bool
}

func (planned) Name() string { return "planned/1" }

func (p planned) Phases(r *protocol.Record) []protocol.Phase {
	if *p.panics {
		panic("a bug")
	}
	return p.Protocol.Phases(r)
}

// A protocol that panics while a fork is made does not end the program, and its debate can be forked later.
func TestAForkWhoseProtocolPanics(t *testing.T) {
	panics := false
	cfg := lifeConfig()
	cfg.Protocol = planned{panics: &panics}
	e, _, parent := completed(t, cfg)
	turn := debatetest.Result(t, parent).Turns[1]
	panics = true
	d, err := e.Fork(t.Context(), "d", 0, debate.Edits{ID: "fork", Turn: turn.Key, Reply: "x"})
	require.Nil(t, d)
	failed, ok := errors.AsType[*debate.Failure](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, providers.Panic, failed.Kind)
	_, err = parent.PromptOf(t.Context(), turn.Key)
	require.ErrorContains(t, err, "a bug")
	_, err = e.Open(t.Context(), "fork")
	require.ErrorIs(t, err, store.ErrNotFound)
	panics = false
	run(t, fork(t, e, 0, debate.Edits{ID: "fork", Turn: turn.Key, Reply: "x"}))
}

// What cannot be read is not copied.
func TestForksOfDamagedJournals(t *testing.T) {
	cfg := lifeConfig()
	e, _, parent := completed(t, cfg)
	var entries []store.Entry
	for _, ev := range events(t, parent) {
		entries = append(entries, store.Entry{Seq: ev.Meta().Seq, Type: ev.Meta().Type, Data: ev})
	}
	for name, damage := range map[string]func(*store.Entry){
		"a time":          func(e *store.Entry) { e.At = e.At.Add(time.Second) },
		"not an event":    func(e *store.Entry) { e.Data = 1 },
		"a configuration": func(e *store.Entry) { e.Type = "config" },
	} {
		t.Run(name, func(t *testing.T) {
			damaged := slices.Clone(entries[:1])
			damaged[0].At = damaged[0].Data.(debate.ConfigChanged).At
			damaged = append(damaged, store.Entry{Seq: 2, Type: "state", At: entries[1].Data.(debate.StateChanged).At, Data: entries[1].Data})
			damage(&damaged[1])
			kept := store.Memory()
			is := debatetest.Status(t, parent)
			is.Seq = 2
			require.NoError(t, kept.Commit(t.Context(), store.Change{ID: "d", Entries: damaged, Status: is}))
			later, _ := newEngine(t, cfg, func(o *debate.Options) { o.Store = kept })
			_, err := later.Fork(t.Context(), "d", 0, debate.Edits{})
			require.ErrorContains(t, err, "fork debate d: ")
			d := debatetest.Fork(t, later, "d", 1, debate.Edits{})
			run(t, d)
			require.Equal(t, outcome(t, parent), outcome(t, d))
		})
	}
	require.NoError(t, e.Close(t.Context()))
	_, err := e.Fork(t.Context(), "d", 0, debate.Edits{})
	require.ErrorIs(t, err, debate.ErrClosed)
}

// Archives keep the parent of a fork, and an imported fork continues.
func TestAnArchivedFork(t *testing.T) {
	cfg := lifeConfig()
	kept := store.Memory()
	e, _, parent := completed(t, cfg, func(o *debate.Options) { o.Store = kept })
	d := fork(t, e, debatetest.Result(t, parent).Turns[2].Seq, debate.Edits{ID: "fork"})
	j, err := archive.Export(t.Context(), kept, "fork")
	require.NoError(t, err)
	b, err := json.Marshal(j)
	require.NoError(t, err)
	require.Contains(t, string(b), `"parent"`)
	var read archive.Journal
	require.NoError(t, json.Unmarshal(b, &read))
	target := store.Memory()
	require.NoError(t, archive.Import(t.Context(), target, &read))
	later, _ := newEngine(t, cfg, func(o *debate.Options) { o.Store = target })
	imported := debatetest.Open(t, later, "fork")
	require.Equal(t, debatetest.Status(t, d), debatetest.Status(t, imported))
	var forks []string
	for _, is := range debatetest.List(t, later, store.Query{Parent: "d"}) {
		forks = append(forks, is.ID)
	}
	require.Equal(t, []string{"fork"}, forks)
	run(t, imported)
	require.Equal(t, outcome(t, parent), outcome(t, imported))
}

// Many forks of a debate that runs are made at once. Each is the beginning of the debate.
func TestForksOfARunningDebate(t *testing.T) {
	cfg := lifeConfig()
	e, m := newEngine(t, cfg)
	var forks []*debate.Debate
	m.alter = func(key transcript.Key, _ int, _ *scripted.Reply) {
		if len(forks) < 5 {
			d, err := e.Fork(context.Background(), "d", 0, debate.Edits{})
			require.NoError(t, err)
			forks = append(forks, d)
		}
	}
	cfg.Judges = cfg.Judges[:1] // one call at a time
	parent := create(t, e, cfg)
	run(t, parent)
	m.alter = nil
	require.Len(t, forks, 5)
	for _, d := range forks {
		run(t, d)
		require.Equal(t, outcome(t, parent), outcome(t, d))
	}
}

// The budgets of a fork include what its parent has used.
func TestBudgetsOfForks(t *testing.T) {
	cfg := lifeConfig()
	cfg.Limits.MaxRounds = 5
	e, _, parent := completed(t, cfg)
	turns := debatetest.Result(t, parent).Turns
	last := turns[slices.IndexFunc(turns, func(x transcript.Turn) bool { return x.Round == 4 })]
	used := 0
	for _, turn := range turns {
		if turn.Seq <= last.Seq {
			used += turn.Usage.Output
		}
	}
	edited := configAt(t, e, parent, last.Seq)
	edited.Limits.OutputTokens = used + 28_000
	d := fork(t, e, last.Seq, debate.Edits{Config: &edited})
	require.Equal(t, used, debatetest.Status(t, d).Usage.Output)
	run(t, d)
	r := debatetest.Result(t, d)
	require.Equal(t, transcript.TokenBudget, r.Ending.Outcome)
	for _, turn := range r.Turns {
		require.True(t, turn.Round < 5 || turn.Kind == transcript.Conclusion, turn.Key)
	}
	require.Equal(t, r.Total.Usage, debatetest.Status(t, d).Usage)
}

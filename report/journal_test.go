package report_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
)

// exported is a debate's journal, by way of its JSON.
func exported(t *testing.T, s *scene) *report.Journal {
	t.Helper()
	j, err := report.Export(t.Context(), s.store, "d")
	require.NoError(t, err)
	return parsed(t, encode(t, j))
}

func parsed(t testing.TB, text string) *report.Journal {
	t.Helper()
	j := &report.Journal{}
	require.NoError(t, json.Unmarshal([]byte(text), j))
	return j
}

// opened is a handle on a debate in another store.
func opened(t *testing.T, s *scene, in store.Store) *debate.Debate {
	t.Helper()
	e, err := debate.NewEngine(debate.Options{Providers: s.models, Store: in})
	require.NoError(t, err)
	d, err := e.Open(t.Context(), "d")
	require.NoError(t, err)
	return d
}

func TestAJournalIsTheSameDebateInAnotherStore(t *testing.T) {
	staged(t, func(t *testing.T, _ string, s *scene) {
		j, other := exported(t, s), store.Memory()
		require.NoError(t, report.Import(t.Context(), other, j))
		again, err := report.Export(t.Context(), other, "d")
		require.NoError(t, err)
		require.Equal(t, j, again)
		require.Equal(t, encode(t, j), encode(t, again))
		head, _, err := s.store.Load(t.Context(), "d", 0)
		require.NoError(t, err)
		require.Equal(t, encode(t, head), encode(t, again.Head), "computed anew, it is the same")
		d := opened(t, s, other)
		r, err := report.Collect(t.Context(), d)
		require.NoError(t, err)
		require.Equal(t, s.collect(t), r)
	})
}

// A debate that was exported at rest goes on from where it stood.
func TestAnImportedDebateGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := duel(panel.Protocol{Format: panel.RoundLimited}, says(t, "One.", "Three."), says(t, "Two.", "Four."),
			says(t, assessment(true, 6, 6), assessment(true, 6, 6), `{"summary": "A draw.", "quality": 50}`))
		s.config.Limits = debate.Limits{MaxRounds: 2}
		d := s.open(t)
		s.run(t, func(ev debate.Event) {
			if done, ok := ev.(debate.TurnDone); ok && done.Turn.Text == "Three." {
				require.NoError(t, d.Pause(t.Context()))
			}
		})
		j, other := exported(t, s), store.Memory()
		require.Equal(t, fsm.Paused, j.Head.State)
		require.NoError(t, report.Import(t.Context(), other, j))
		there := opened(t, s, other)
		require.NoError(t, there.Resume(t.Context()))
		for _, err := range there.Run(t.Context()) {
			require.NoError(t, err)
		}
		res, err := there.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, fsm.Completed, res.State)
		require.Equal(t, "Four.", res.Turns[4].Text)
		require.Equal(t, fsm.Paused, s.collect(t).Result.State, "the other one stands where it stood")
	})
}

// While it runs a debate has a plan, which a store with workers needs.
func TestAnImportedDebateIsPlanned(t *testing.T) {
	for _, p := range []protocol.Protocol{panel.Protocol{}, own{}} {
		t.Run(p.Name(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { planned(t, p) })
		})
	}
}

func planned(t *testing.T, p protocol.Protocol) {
	s := duel(p, says(t, "One."), says(t), says(t))
	d := s.open(t)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if done, ok := ev.(debate.TurnDone); ok && done.Turn.Text == "One." {
			break
		}
	}
	j, other := exported(t, s), store.Memory()
	require.NoError(t, report.Import(t.Context(), other, j))
	head, _, err := other.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.NotEmpty(t, head.Plan.Key)
	require.Equal(t, j.Head.Plan, head.Plan)
}

// own is a protocol that the library does not know.
type own struct{ panel.Protocol }

func (own) Name() string { return "own/1" }

func (o own) Answer(r *protocol.Record) protocol.Answer {
	return protocol.Answer{Text: "What it says.", Data: json.RawMessage(`[1, 2]`)}
}

func TestAProtocolOfOnesOwnIsReportedAndImported(t *testing.T) {
	synctest.Test(t, reported)
}

func reported(t *testing.T) {
	s := duel(own{}, says(t, "One."), says(t, "Two."), says(t, assessment(false, 6, 6), `{"summary": "A draw.", "quality": 50}`))
	s.open(t)
	s.run(t, nil)
	require.Contains(t, markdown(t, s.collect(t)), "## Answer\n\n> What it says.\n\n")
	j, other := exported(t, s), store.Memory()
	require.NoError(t, report.Import(t.Context(), other, j))
	d := opened(t, s, other)
	res, err := d.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, res.State)
	require.Len(t, res.Turns, 4)
}

func TestAnImportOverwritesNothing(t *testing.T) {
	s := duel(panel.Protocol{}, says(t), says(t), says(t))
	s.open(t)
	j := exported(t, s)
	require.NoError(t, s.debate.Annotate(t.Context(), "rating", 5))
	err := report.Import(t.Context(), s.store, j)
	require.ErrorContains(t, err, `import debate "d": the id is taken: `)
	var conflict *store.Conflict
	require.ErrorAs(t, err, &conflict)
	require.Len(t, exported(t, s).Entries, 2)
}

func TestADamagedJournalIsRefused(t *testing.T) {
	var text string
	synctest.Test(t, func(t *testing.T) { text = encode(t, exported(t, proconScene(t))) })
	for name, tt := range map[string]struct {
		change func(*report.Journal)
		want   string
	}{
		"nothing in it":        {func(j *report.Journal) { j.Entries = nil }, "it has no entries"},
		"a gap":                {func(j *report.Journal) { j.Entries = append(j.Entries[:3:3], j.Entries[4:]...) }, "entry 4 is missing, there is 5 in its place"},
		"no begin":             {func(j *report.Journal) { j.Entries = j.Entries[1:] }, "entry 1 is missing, there is 2 in its place"},
		"time that runs back":  {func(j *report.Journal) { j.Entries[9].At = j.Entries[0].At.Add(-time.Second) }, "entry 10: its time is 1999-12-31 23:59:59"},
		"time that is split":   {func(j *report.Journal) { j.Entries[9].At = j.Entries[9].At.Add(1) }, "want whole microseconds"},
		"data that is none":    {func(j *report.Journal) { j.Entries[2].Data = json.RawMessage(`{"type":`) }, "entry 3: parse event"},
		"data that is no JSON": {func(j *report.Journal) { j.Entries[2].Data = 1 }, "entry 3: its data is int, want JSON"},
		"an event that nobody knows": {
			func(j *report.Journal) { j.Entries[2].Data = json.RawMessage(`{"type":"sung","seq":3}`) },
			`entry 3: parse event: type "sung" is unknown`,
		},
		"a live event": {
			func(j *report.Journal) {
				j.Entries[2].Type, j.Entries[2].Data = "warning", json.RawMessage(`{"type":"warning","seq":3,"live":true}`)
			},
			`entry 3: type "warning" is that of live events, which are not stored`,
		},
		"another type": {func(j *report.Journal) { j.Entries[2].Type = "turn" }, `entry 3: its data is event 3 of type "state", want 3 of "turn"`},
		"another number": {
			func(j *report.Journal) {
				j.Entries[2].Data = json.RawMessage(strings.Replace(string(j.Entries[2].Data.(json.RawMessage)), `"seq":3`, `"seq":4`, 1))
			},
			`entry 3: its data is event 4 of type "state", want 3 of "state"`,
		},
		"another key": {func(j *report.Journal) { j.Entries[6].Key = "1/1/x/y/" }, `entry 7: its key is "1/1/x/y/", that of its turn is "1/1/argue/Ada/"`},
		"a key twice": {
			func(j *report.Journal) { j.Entries[7].Key = j.Entries[6].Key },
			"entry 8: turn 1/1/argue/Ada/ stands already in entry 7",
		},
		"another debate": {func(j *report.Journal) { j.Head.ID = "e" }, `import debate "e": entry 1: its configuration is of debate "d"`},
		"a path that leads elsewhere": {
			func(j *report.Journal) {
				j.Entries[2].Data = json.RawMessage(strings.Replace(string(j.Entries[2].Data.(json.RawMessage)), `"ready"`, `"completed"`, 1))
			},
			"read entry 3 of debate d: follow accept to completed",
		},
		"a configuration of a newer format": {
			func(j *report.Journal) {
				j.Entries[0].Data = json.RawMessage(strings.Replace(string(j.Entries[0].Data.(json.RawMessage)), `"format":1`, `"format":2`, 1))
			},
			"entry 1: its format is 2, this version of the library knows formats up to 1",
		},
		"a configuration that is none": {
			func(j *report.Journal) {
				j.Entries[0].Data = json.RawMessage(`{"type":"config","seq":1,"format":1,"config":[]}`)
			},
			"entry 1: read configuration: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, other := parsed(t, text), store.Memory()
			tt.change(j)
			require.ErrorContains(t, report.Import(t.Context(), other, j), tt.want)
			_, err := report.Export(t.Context(), other, j.Head.ID)
			require.ErrorIs(t, err, store.ErrNotFound, "nothing is stored")
		})
	}
}

func TestAFileOfANewerFormatIsRefused(t *testing.T) {
	for name, v := range map[string]any{"journal": &report.Journal{}, "report": &report.Report{}} {
		err := json.Unmarshal([]byte(`{"format": 2}`), v)
		require.ErrorIs(t, err, debate.ErrUnsupported)
		require.EqualError(t, err, "read "+name+": its format is 2, this version of the library knows formats up to 1: not supported by this engine")
		require.ErrorContains(t, json.Unmarshal([]byte(`{"format": "x"}`), v), "read "+name+": ")
	}
	require.ErrorContains(t, json.Unmarshal([]byte(`{"entries": 1}`), &report.Journal{}), "read journal: ")
}

// broken is a store that fails, or gives what cannot be encoded.
type broken struct {
	store.Store
	entries []store.Entry
	err     error
}

func (b broken) Load(context.Context, string, int64) (store.Head, []store.Entry, error) {
	return store.Head{ID: "d"}, b.entries, b.err
}

func TestAnExportFailsWithItsStore(t *testing.T) {
	_, err := report.Export(t.Context(), store.Memory(), "d")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorContains(t, err, "export debate d: ")
	_, err = report.Export(t.Context(), broken{entries: []store.Entry{{Seq: 1, Data: func() {}}}}, "d")
	require.ErrorContains(t, err, "export debate d: encode entry 1: ")
	_, err = json.Marshal(report.Journal{Entries: []store.Entry{{Seq: 1, Data: func() {}}}})
	require.ErrorContains(t, err, "encode entry 1: ")
}

func TestAReportFailsWithItsStore(t *testing.T) {
	full := errors.New("disk full")
	e, err := debate.NewEngine(debate.Options{Store: store.Memory()})
	require.NoError(t, err)
	d, err := e.Create(t.Context(), duel(panel.Protocol{}, nil, nil, nil).config)
	require.NoError(t, err)
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(full)
	_, err = report.Collect(ended, d)
	require.ErrorContains(t, err, "collect report of debate d: ")
	require.NoError(t, e.Delete(t.Context(), "d"))
	_, err = report.Collect(t.Context(), d)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func FuzzJournal(f *testing.F) {
	s := store.Memory()
	e, err := debate.NewEngine(debate.Options{Store: s})
	require.NoError(f, err)
	_, err = e.Create(f.Context(), duel(panel.Protocol{}, nil, nil, nil).config)
	require.NoError(f, err)
	j, err := report.Export(f.Context(), s, "d")
	require.NoError(f, err)
	f.Add([]byte(encode(f, j)))
	f.Add([]byte(`{"head": {"id": "d"}, "entries": [{"seq": 1, "type": "config", "data": {"type": "config", "seq": 1, "config": {"id": "d"}}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		j := &report.Journal{}
		if json.Unmarshal(raw, j) != nil {
			return
		}
		other := store.Memory()
		if report.Import(t.Context(), other, j) != nil {
			return
		}
		again, err := report.Export(t.Context(), other, j.Head.ID)
		require.NoError(t, err)
		require.NoError(t, report.Import(t.Context(), store.Memory(), again))
	})
}

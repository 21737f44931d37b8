package archive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/internal/test/secrettest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// model answers all requests, each after two seconds.
var model = &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
	return scripted.Reply{
		Text: enginetest.Reply(r, []string{"Ada", "Bo"}, "So it is.", 0), Latency: 2 * time.Second,
		Usage: transcript.Usage{Input: 1200, Cached: 400, Output: 150},
	}
}}

// config returns the configuration of a debate between Ada and Bo, judged by Jo.
func config(p protocol.Protocol) debate.Config {
	return debate.Config{
		ID: "d", Topic: "Should cities ban private cars?", Background: "The council votes in May.", Protocol: p,
		Participants: []debate.Participant{{Name: "Ada", Position: "Yes"}, {Name: "Bo", Position: "No"}},
		Judges:       []debate.Participant{{Name: "Jo"}}, Limits: debate.Limits{MaxRounds: 2},
	}
}

// engine returns an engine for the debates of a store.
func engine(t *testing.T, s store.Store, p providers.Provider) *debate.Engine {
	t.Helper()
	return debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": p}, Store: s})
}

// opened opens the debate of a store.
func opened(t *testing.T, s store.Store) *debate.Debate {
	t.Helper()
	return debatetest.Open(t, engine(t, s, model), "d")
}

// begun returns a new debate and its store.
func begun(t *testing.T, c debate.Config) (*debate.Debate, store.Store) {
	t.Helper()
	s := store.Memory()
	d := debatetest.Create(t, engine(t, s, model), c)
	return d, s
}

func parsed(t testing.TB, text string) *archive.Journal {
	t.Helper()
	j := &archive.Journal{}
	require.NoError(t, json.Unmarshal([]byte(text), j))
	return j
}

// exported exports the debate's journal, and encodes and decodes it as JSON.
func exported(t *testing.T, s store.Store) *archive.Journal {
	t.Helper()
	j, err := archive.Export(t.Context(), s, "d")
	require.NoError(t, err)
	return parsed(t, debatetest.Encode(t, j))
}

// imported returns a new store that contains only the journal.
func imported(t *testing.T, j *archive.Journal) store.Store {
	t.Helper()
	s := store.Memory()
	require.NoError(t, archive.Import(t.Context(), s, j))
	return s
}

// run runs a debate until Run ends. It pauses the debate after the given number of turns, or never if pause is 0.
func run(t *testing.T, d *debate.Debate, pause int) {
	t.Helper()
	turns := 0
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if _, done := ev.(debate.TurnDone); done {
			turns++
			if turns == pause {
				require.NoError(t, d.Pause(t.Context()))
			}
		}
	}
}

// A debate with a pause, a remark and an annotation is the same in another store, with every protocol.
func TestAJournalIsTheSameDebateInAnotherStore(t *testing.T) {
	for _, p := range []protocol.Protocol{
		panel.Protocol{Personas: panel.Binary},
		skeptic.Protocol{},
		refine.Protocol{},
		procon.Protocol{},
		vote.Protocol{},
		arbitration.Protocol{Scores: map[string]float64{"problem": 6, "solution": 5, "market": 4}},
		own{},
	} {
		t.Run(p.Name(), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { same(t, p) }) })
	}
}

func same(t *testing.T, p protocol.Protocol) {
	c := config(p)
	if p.Name() == (vote.Protocol{}).Name() {
		c.Participants = append(c.Participants, debate.Participant{Name: "Cy"})
	}
	d, s := begun(t, c)
	run(t, d, 1)
	require.NoError(t, d.Inject(t.Context(), debate.Remark{ID: "1", From: "Mayor", Text: "Think of *deliveries*, too."}))
	time.Sleep(3 * time.Second)
	require.NoError(t, d.Resume(t.Context()))
	run(t, d, 0)
	require.NoError(t, d.Annotate(t.Context(), "rating", 4))
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)

	j := exported(t, s)
	other := imported(t, j)
	again, err := archive.Export(t.Context(), other, "d")
	require.NoError(t, err)
	require.Equal(t, j, again)
	require.Equal(t, debatetest.Encode(t, j), debatetest.Encode(t, again))
	head, _, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Equal(t, debatetest.Encode(t, head), debatetest.Encode(t, again.Status), "the computed status equals the stored one")
	want, got := debatetest.Result(t, d), debatetest.Result(t, opened(t, other))
	if p.Name() == (own{}).Name() { // another process does not know the protocol and computes neither an answer nor its outcome
		require.Equal(t, "own", got.Outcome.Kind)
		require.Equal(t, want.Outcome.Scores, got.Outcome.Scores)
		want.Answer, got.Answer = protocol.Answer{}, protocol.Answer{}
		want.Outcome, got.Outcome = protocol.Outcome{}, protocol.Outcome{}
	}
	require.Equal(t, debatetest.Encode(t, want), debatetest.Encode(t, got))
	require.Equal(t, events(t, d), events(t, opened(t, other)))
}

// events returns the stored events as JSON.
func events(t *testing.T, d *debate.Debate) (list []string) {
	t.Helper()
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		list = append(list, debatetest.Encode(t, m.Event))
	}
	return list
}

// A debate that was exported while paused continues from where it stopped.
func TestAnImportedDebateGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := begun(t, config(panel.Protocol{Format: panel.RoundLimited}))
		run(t, d, 4)
		j := exported(t, s)
		require.Equal(t, fsm.Paused, j.Status.State)
		there := opened(t, imported(t, j))
		require.NoError(t, there.Resume(t.Context()))
		run(t, there, 0)
		res := debatetest.Result(t, there)
		require.Equal(t, fsm.Completed, res.State)
		require.Equal(t, debatetest.Encode(t, debatetest.Result(t, d).Turns), debatetest.Encode(t, res.Turns[:4]))
		require.Greater(t, len(res.Turns), 4)
		require.Equal(t, fsm.Paused, debatetest.Result(t, d).State, "the original does not change")
	})
}

// A running debate has a plan. A store with workers needs it.
func TestAnImportedDebateIsPlanned(t *testing.T) {
	for _, p := range []protocol.Protocol{panel.Protocol{}, own{}} {
		t.Run(p.Name(), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { planned(t, p) }) })
	}
}

func planned(t *testing.T, p protocol.Protocol) {
	d, s := begun(t, config(p))
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if _, done := ev.(debate.TurnDone); done {
			break
		}
	}
	j := exported(t, s)
	head, _, err := imported(t, j).Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.NotEmpty(t, head.Plan.Key)
	require.Equal(t, j.Status.Plan, head.Plan)
}

// own is a protocol that the library does not know.
type own struct{ panel.Protocol }

func (own) Name() string { return "own/1" }

func (o own) Answer(r *protocol.Record) protocol.Answer {
	return protocol.Answer{Text: "What it says.", Data: json.RawMessage(`[1, 2]`)}
}

func TestAnImportOverwritesNothing(t *testing.T) {
	d, s := begun(t, config(panel.Protocol{}))
	j := exported(t, s)
	require.NoError(t, d.Annotate(t.Context(), "rating", 5))
	err := archive.Import(t.Context(), s, j)
	require.ErrorIs(t, err, debate.ErrTaken)
	require.EqualError(t, err, `import debate "d": the id is taken`)
	require.Len(t, exported(t, s).Entries, 2)
}

// setID returns a function that changes the id of a journal, also in its configurations.
func setID(id string) func(*archive.Journal) {
	return func(j *archive.Journal) {
		j.Status.ID = id
		quoted, _ := json.Marshal(id)
		j.Entries[0].Data = json.RawMessage(strings.Replace(string(j.Entries[0].Data.(json.RawMessage)), `"id":"d"`, `"id":`+string(quoted), 1))
	}
}

func TestADamagedJournalIsRefused(t *testing.T) {
	var text string
	synctest.Test(t, func(t *testing.T) {
		d, s := begun(t, config(procon.Protocol{}))
		run(t, d, 0)
		text = debatetest.Encode(t, exported(t, s))
	})
	for name, tt := range map[string]struct {
		change func(*archive.Journal)
		want   string
	}{
		"no entries":           {func(j *archive.Journal) { j.Entries = nil }, "the journal has no entries"},
		"missing entry":        {func(j *archive.Journal) { j.Entries = append(j.Entries[:3:3], j.Entries[4:]...) }, "entry 4 is missing, entry 5 is in its place"},
		"missing last entries": {func(j *archive.Journal) { j.Entries = j.Entries[:4] }, "entry 5 is missing: the journal ends at entry 4, but its status is at entry "},
		"an id that is a path": {setID("../../x"), `read entry 1 of debate ../../x: check configuration: id: "../../x" is not valid`},
		"a long id":            {setID(strings.Repeat("x", 129)), "is not valid, use up to 128 letters"},
		"an id with a line":    {setID("x\ny"), "is not valid, use up to 128 letters"},
		"no first entry":       {func(j *archive.Journal) { j.Entries = j.Entries[1:] }, "entry 1 is missing, entry 2 is in its place"},
		"decreasing time":      {func(j *archive.Journal) { j.Entries[9].At = j.Entries[0].At.Add(-time.Second) }, "entry 10: time is 1999-12-31 23:59:59"},
		"nanoseconds":          {func(j *archive.Journal) { j.Entries[9].At = j.Entries[9].At.Add(1) }, "want whole microseconds"},
		"incomplete JSON":      {func(j *archive.Journal) { j.Entries[2].Data = json.RawMessage(`{"type":`) }, "entry 3: parse event"},
		"data that is an int":  {func(j *archive.Journal) { j.Entries[2].Data = 1 }, "entry 3: data is a value of type int, want JSON"},
		"unknown event type": {
			func(j *archive.Journal) { j.Entries[2].Data = json.RawMessage(`{"type":"sung","seq":3}`) },
			`entry 3: parse event: type "sung" is unknown`,
		},
		"live event": {
			func(j *archive.Journal) {
				j.Entries[2].Type, j.Entries[2].Data = "warning", json.RawMessage(`{"type":"warning","seq":3,"live":true}`)
			},
			`entry 3: an event of type "warning" is live, and live events are not stored`,
		},
		"wrong type": {func(j *archive.Journal) { j.Entries[2].Type = "turn" }, `entry 3: data is event 3 of type "state", want event 3 of type "turn"`},
		"wrong sequence number": {
			func(j *archive.Journal) {
				j.Entries[2].Data = json.RawMessage(strings.Replace(string(j.Entries[2].Data.(json.RawMessage)), `"seq":3`, `"seq":4`, 1))
			},
			`entry 3: data is event 4 of type "state", want event 3 of type "state"`,
		},
		"wrong key": {func(j *archive.Journal) { j.Entries[6].Key = "1/1/x/y/" }, `entry 7: key is "1/1/x/y/", want the key of its turn, "1/1/argue/Ada/"`},
		"duplicate key": {
			func(j *archive.Journal) { j.Entries[7].Key = j.Entries[6].Key },
			"entry 8: turn 1/1/argue/Ada/ is already in entry 7",
		},
		"another debate": {func(j *archive.Journal) { j.Status.ID = "e" }, `import debate "e": entry 1: configuration belongs to debate "d"`},
		"impossible transition": {
			func(j *archive.Journal) {
				j.Entries[2].Data = json.RawMessage(strings.Replace(string(j.Entries[2].Data.(json.RawMessage)), `"ready"`, `"completed"`, 1))
			},
			"read entry 3 of debate d: execute accept to completed",
		},
		"newer configuration format": {
			func(j *archive.Journal) {
				j.Entries[0].Data = json.RawMessage(strings.Replace(string(j.Entries[0].Data.(json.RawMessage)), `"format":1`, `"format":2`, 1))
			},
			"entry 1: the journal of debate d has format 2, this version of the library reads format 1",
		},
		"no configuration format": {
			func(j *archive.Journal) {
				j.Entries[0].Data = json.RawMessage(strings.Replace(string(j.Entries[0].Data.(json.RawMessage)), `"format":1`, `"format":0`, 1))
			},
			"entry 1: the format is 0, want 1",
		},
		"configuration that is an array": {
			func(j *archive.Journal) {
				j.Entries[0].Data = json.RawMessage(`{"type":"config","seq":1,"format":1,"config":[]}`)
			},
			"entry 1: read configuration: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, other := parsed(t, text), store.Memory()
			tt.change(j)
			require.ErrorContains(t, archive.Import(t.Context(), other, j), tt.want)
			_, err := archive.Export(t.Context(), other, j.Status.ID)
			require.ErrorIs(t, err, store.ErrNotFound, "nothing is stored")
		})
	}
}

// A journal of a newer format is refused, alone and in a record.
func TestANewerFormatIsRefused(t *testing.T) {
	text, err := recordOf(t, forgedtest.Exports(t)["panel"]).MarshalText()
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(text, []byte(`,"format":1,"protocol"`)))
	_, inRecord := archive.ReadFile(bytes.NewReader(bytes.Replace(text, []byte(`,"format":1,"protocol"`), []byte(`,"format":2,"protocol"`), 1)))
	alone := json.Unmarshal([]byte(`{"format": 2, "status": {"id": "d"}}`), &archive.Journal{})
	for _, err := range []error{alone, inRecord} {
		var newer *debate.NewerFormat
		require.ErrorAs(t, err, &newer)
		require.Equal(t, &debate.NewerFormat{ID: "d", Format: 2}, newer)
		require.ErrorContains(t, err, "the journal of debate d has format 2, this version of the library reads format 1")
	}
}

func TestAJournalWithoutAFormatIsRefused(t *testing.T) {
	require.EqualError(t, json.Unmarshal([]byte(`{}`), &archive.Journal{}), "read journal: the format is 0, want 1")
	require.ErrorContains(t, json.Unmarshal([]byte(`{"format": "x"}`), &archive.Journal{}), "read journal: ")
	require.ErrorContains(t, json.Unmarshal([]byte(`{"format": 1, "entries": 1}`), &archive.Journal{}), "read journal: ")
}

// broken is a store that fails or returns entries that cannot be encoded.
type broken struct {
	store.Store
	entries []store.Entry
	err     error
}

func (b broken) Load(context.Context, string, int64) (store.Status, []store.Entry, error) {
	return store.Status{ID: "d"}, b.entries, b.err
}

func TestAnExportFailsWithItsStore(t *testing.T) {
	_, err := archive.Export(t.Context(), store.Memory(), "d")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorContains(t, err, "export debate d: ")
	_, err = archive.Export(t.Context(), broken{entries: []store.Entry{{Seq: 1, Data: func() {}}}}, "d")
	require.ErrorContains(t, err, "export debate d: encode entry 1: ")
	_, err = json.Marshal(archive.Journal{Entries: []store.Entry{{Seq: 1, Data: func() {}}}})
	require.ErrorContains(t, err, "encode entry 1: ")
}

// Providers get their keys in Options, which are not stored.
func TestNoKeyIsInAJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const key = "sk-1234567890abcdefghijklmnop"
		s := store.Memory()
		refuses := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("bad key")}}
		}}
		d := debatetest.Create(t, engine(t, s, keyed{refuses, key}), config(panel.Protocol{}))
		for _, err := range d.Run(t.Context()) {
			if err != nil {
				break
			}
		}
		j := exported(t, s)
		require.Equal(t, fsm.Error, j.Status.State)
		secrettest.NotPrinted(t, key, j, debatetest.Encode(t, j))
	})
}

// keyed is a provider that holds a key.
type keyed struct {
	providers.Provider
	key string
}

func FuzzJournal(f *testing.F) {
	s := store.Memory()
	e := debatetest.Engine(f, debate.Options{Store: s})
	debatetest.Create(f, e, config(panel.Protocol{}))
	j, err := archive.Export(f.Context(), s, "d")
	require.NoError(f, err)
	f.Add([]byte(debatetest.Encode(f, j)))
	f.Add([]byte(`{"head": {"id": "d"}, "entries": [{"seq": 1, "type": "config", "data": {"type": "config", "seq": 1, "config": {"id": "d"}}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		j := &archive.Journal{}
		if json.Unmarshal(raw, j) != nil {
			return
		}
		other := store.Memory()
		if archive.Import(t.Context(), other, j) != nil {
			return
		}
		again, err := archive.Export(t.Context(), other, j.Status.ID)
		require.NoError(t, err)
		require.NoError(t, archive.Import(t.Context(), store.Memory(), again))
	})
}

// Verify finds in a store what an import refuses, and that the last entries are missing.
func TestAStoredDebateIsVerified(t *testing.T) {
	var s store.Store
	var last int64
	synctest.Test(t, func(t *testing.T) {
		var d *debate.Debate
		d, s = begun(t, config(panel.Protocol{}))
		run(t, d, 0)
		require.NoError(t, d.Verify(t.Context()))
		last = debatetest.Status(t, d).Seq
	})
	for name, harm := range map[string]func(*archive.Journal) (entry int64){
		"missing entries": func(j *archive.Journal) int64 {
			j.Entries = j.Entries[:len(j.Entries)-1]
			return int64(len(j.Entries)) + 1
		},
		"another order": func(j *archive.Journal) int64 {
			at := slices.IndexFunc(j.Entries, func(e store.Entry) bool { return e.Type == "turn" })
			j.Entries[at].Data = json.RawMessage(strings.Replace(debatetest.Encode(t, j.Entries[at].Data), `"order":0`, `"order":1`, 1))
			return int64(at) + 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // an engine waits for entries that its store promises
				j, stored := exported(t, s), store.Memory()
				entry := harm(j)
				j.Status.Seq = int64(len(j.Entries))
				require.NoError(t, stored.Commit(t.Context(), store.Change{ID: "d", Entries: j.Entries, Status: j.Status}))
				is := engine(t, ahead{stored, last}, model)
				forged, _ := is.Open(t.Context(), "d")
				err := forged.Verify(t.Context())
				var damaged *store.Damaged
				require.ErrorAs(t, err, &damaged)
				require.Equal(t, entry, damaged.Seq)
				require.ErrorContains(t, err, "verify debate d: ")
			})
		})
	}
}

// ahead is a store whose statuses are at a later entry.
type ahead struct {
	store.Store

	seq int64
}

func (a ahead) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := a.Store.Load(ctx, id, after)
	status.Seq = a.seq
	return status, entries, err
}

package enginetest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

var storedTests = map[string]func(*env){
	"journals that an earlier version has stored are read, exported, continued and forked": (*env).storedByEarlier,
}

// A StoredDebate is a finished debate as a version of the library has stored it.
type StoredDebate struct {
	Outcome string           `json:"outcome"` // what Outcome returned then
	Journal *archive.Journal `json:"journal"`
}

// storedFolder holds debates that were stored before an entry could tell of documents and of calls of tools. Its files are
// never written again.
const storedFolder = "testdata/format2"

//go:embed testdata/format2
var storedFiles embed.FS

// StoredDebates returns the debates that earlier versions have stored, by name: one of each preset, and of the entries
// that presets do not have.
func StoredDebates(t testing.TB) map[string]StoredDebate {
	t.Helper()
	files, err := storedFiles.ReadDir(storedFolder)
	require.NoError(t, err)
	list := map[string]StoredDebate{}
	for _, f := range files {
		packed, err := storedFiles.ReadFile(path.Join(storedFolder, f.Name()))
		require.NoError(t, err)
		z, err := gzip.NewReader(bytes.NewReader(packed))
		require.NoError(t, err)
		var d StoredDebate
		require.NoError(t, json.NewDecoder(z).Decode(&d), f.Name())
		list[strings.TrimSuffix(f.Name(), ".json.gz")] = d
	}
	return list
}

// Outcome returns the turns and the end of a debate as text, without times.
func Outcome(r *debate.Result) string {
	var b strings.Builder
	for _, t := range r.Turns {
		fmt.Fprintln(&b, t.Key, t.Kind, t.Order, t.Flags, t.By, t.Text, string(t.Data))
	}
	for _, p := range r.Participants {
		fmt.Fprintln(&b, p.Name, p.State)
	}
	fmt.Fprintln(&b, r.State, r.Ending, r.Answer.Text, len(r.Findings))
	return b.String()
}

// chosen matches the text of the option that a judge chose, which the engine of format 2 did not add to the judge's reply.
var chosen = regexp.MustCompile(`(Option \d+): [^,\n]*(, with)|"chosen":"[^"]*",`)

// withoutChosen returns an outcome as the earlier version would have it.
func withoutChosen(outcome string) string { return chosen.ReplaceAllString(outcome, "$1$2") }

// storedByEarlier reads each stored debate, exports it unchanged, forks it at its entries, and continues it after its
// commits. Models and people reply as they did then, so that each debate ends as it did.
func (s *env) storedByEarlier() {
	for name, stored := range StoredDebates(s) {
		s.runSubtest(name, func(s *env) {
			id, entries := stored.Journal.Status.ID, stored.Journal.Entries
			past := replay(s, stored.Journal)
			p := s.newProcess(past.use)
			require.NoError(s, p.store.Commit(s.ctx, store.Change{ID: id, Entries: entries, Status: stored.Journal.Status}))
			require.Equal(s, stored.Outcome, Outcome(s.result(s.open(p, id))))
			s.requireJournalValid(id)
			exported, err := archive.Export(s.ctx, p.store, id)
			require.NoError(s, err)
			exported.Status.Driver = stored.Journal.Status.Driver
			require.Equal(s, s.json(stored.Journal), s.json(exported))

			step, first := 3, 3 // after a note and a remark, which no run repeats
			if s.backend.Corruption != nil {
				step = 16
			}
			for seq := first; seq <= len(entries); seq += step {
				fork, err := s.newProcess(past.use).Fork(s.ctx, id, int64(seq), debate.Edits{ID: "fork"})
				require.NoError(s, err, "fork at %d", seq)
				require.Equal(s, withoutChosen(stored.Outcome), withoutChosen(s.finish(fork, past.reply)), "fork at %d", seq)
				require.NoError(s, p.Delete(s.ctx, "fork"))
			}
			require.NoError(s, p.Delete(s.ctx, id))
			for seq := first; seq < len(entries); seq++ {
				if entries[seq].At.Equal(entries[seq-1].At) || seq%step != 0 { // both were in one commit
					continue
				}
				part := &archive.Journal{Status: store.Status{ID: id, Seq: int64(seq)}, Entries: entries[:seq]}
				require.NoError(s, archive.Import(s.ctx, p.store, part), "continue at %d", seq)
				require.Equal(s, withoutChosen(stored.Outcome), withoutChosen(s.finish(s.open(s.newProcess(past.use), id), past.reply)), "continue at %d", seq)
				require.NoError(s, p.Delete(s.ctx, id))
			}
		})
	}
}

// finish runs a debate to its end, and returns its outcome. reply replies for people, and approves at gates.
func (s *env) finish(d *debate.Debate, reply func(context.Context, *debate.Debate) error) string {
	s.Helper()
	for n := 0; !s.status(d).State.Final(); n++ {
		require.Less(s, n, 100, "the debate does not go on: %+v", s.status(d))
		require.NoError(s, s.runDebate(d).err)
		if s.status(d).State.Final() {
			break
		}
		require.NoError(s, reply(s.ctx, d))
		if err := d.Resume(s.ctx); err != nil { // it was not paused, but waited for a person
			_, refused := errors.AsType[*fsm.Refused](err)
			require.True(s, refused, "%v", err)
		}
	}
	return Outcome(s.result(d))
}

// repeater is a model, and people, who repeat what a stored debate has.
type repeater struct {
	tried map[transcript.Key][]transcript.Attempt
	said  map[transcript.Key]transcript.Turn
}

// replay returns what models and people did in a stored debate.
func replay(t testing.TB, j *archive.Journal) *repeater {
	m := &repeater{map[transcript.Key][]transcript.Attempt{}, map[transcript.Key]transcript.Turn{}}
	for _, e := range j.Entries {
		ev, err := debate.ParseEvent(e.Data.(json.RawMessage))
		require.NoError(t, err)
		switch ev := ev.(type) {
		case debate.TurnDone:
			m.tried[ev.Turn.Key], m.said[ev.Turn.Key] = ev.Turn.Attempts, ev.Turn
		case debate.Dropped:
			for _, f := range append(ev.OtherFailures, ev.Failure) {
				m.tried[f.Key] = f.AttemptDetails
			}
		}
	}
	return m
}

// use makes a process call it as the model.
func (m *repeater) use(o *debate.Options) { o.Providers["m"], o.KeepReplies = m, true }

// Generate implements providers.Provider.
func (m *repeater) Generate(ctx context.Context, _ providers.Request) (providers.Response, error) {
	s, _ := debate.StepFrom(ctx)
	list := m.tried[s.Key]
	if s.Number > len(list) {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("attempt %d of %s is not stored", s.Number, s.Key)}
	}
	a := list[s.Number-1]
	resp := providers.Response{Text: a.Reply, Model: a.Model, FinishReason: providers.FinishReason(a.FinishReason)}
	if a.ErrorKind != "" && providers.ErrorKind(a.ErrorKind) != providers.InvalidResponse {
		return resp, &providers.Error{Kind: providers.ErrorKind(a.ErrorKind), Partial: resp, Err: errors.New("as it was stored")}
	}
	return resp, nil
}

// reply replies for all people whom a debate waits for, and approves at an open gate.
func (m *repeater) reply(ctx context.Context, d *debate.Debate) error {
	r, err := d.Result(ctx)
	if err != nil {
		return err
	}
	if q := r.Question; q != nil {
		return d.Decide(ctx, q.ID, "approve")
	}
	list, err := d.Waiting(ctx)
	for _, a := range list {
		t := m.said[a.Key]
		text := cmp.Or(string(t.Data), t.Text)
		if err = d.Answer(ctx, a.Key, text, ""); err != nil {
			return err
		}
	}
	return err
}

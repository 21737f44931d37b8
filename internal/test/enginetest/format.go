package enginetest

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

var formatTests = map[string]func(*env){
	"an engine leaves a journal of a newer format alone and says so": (*env).newerFormat,
}

// newerFormat has a newer version of the library continue a debate, of which a handle has read the beginning. Whatever is asked of
// the debate returns a *debate.NewerFormat, and what is stored stays as it is.
func (s *env) newerFormat() {
	p := s.newProcess(func(o *debate.Options) { o.RecoverAfter = time.Nanosecond }) // Recover takes over what nobody drives
	known := s.create(p, pair(nil))
	require.True(s, s.runUntilEvent(known, 7))
	s.commitNewerFormat(p.store, "d")
	before := s.stored("d", 0)

	opened, err := p.Open(s.ctx, "d")
	s.requireNewer(err, "open")
	for what, err := range s.asked(p.Engine) {
		s.requireNewer(err, what)
	}
	for name, d := range map[string]*debate.Debate{"a handle": known, "a new handle": opened, "another process": s.unread("d")} {
		for what, err := range s.askedOf(d) {
			s.requireNewer(err, name+": "+what)
		}
	}
	for status, err := range p.List(s.ctx, store.Query{}) {
		require.Equal(s, "d", status.ID)
		s.requireNewer(err, "list")
	}
	require.JSONEq(s, before, s.stored("d", 0), "the stored data is unchanged")
	require.NoError(s, p.Delete(s.ctx, "d"))

	s.newerWhileDriven()
}

// newerWhileDriven has a newer version continue a debate while a call is in flight. The call is canceled, and its turn is not
// committed.
func (s *env) newerWhileDriven() {
	before := ""
	p := s.newProcess()
	p.model.hook = func(ctx context.Context, _ providers.Request) error {
		s.commitNewerFormat(s.backend.Open(s), "d")
		before = s.stored("d", 0)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	o := s.runDebate(s.create(p, pair(nil)))
	s.requireNewer(o.err, "run")
	require.JSONEq(s, before, s.stored("d", 0), "the stored data is unchanged")
}

func (s *env) requireNewer(err error, what string) {
	s.Helper()
	var newer *debate.NewerFormat
	require.ErrorAs(s, err, &newer, what)
	require.Equal(s, &debate.NewerFormat{ID: "d", Format: store.Format + 1}, newer, what)
	require.ErrorIs(s, err, debate.ErrUnsupported, what)
}

// unread returns a handle of another process that has read nothing yet.
func (s *env) unread(id string) *debate.Debate {
	s.Helper()
	d, err := s.newProcess().Open(s.ctx, id)
	s.requireNewer(err, "open")
	return d
}

// asked returns what an engine says when it is asked to continue or to copy the debate d.
func (s *env) asked(e *debate.Engine) map[string]error {
	said := map[string]error{"recover": e.Recover(s.ctx)}
	_, said["fork"] = e.Fork(s.ctx, "d", 3, debate.Edits{ID: "fork"})
	_, said["rejudge"] = e.Rejudge(s.ctx, "d", debate.Rejudge{ID: "again"})
	return said
}

// askedOf returns what a debate says when it is read, driven and changed.
func (s *env) askedOf(d *debate.Debate) map[string]error {
	key := transcript.Key{Run: 1, Round: 1, Phase: "respond", Actor: "A"}
	said := map[string]error{
		"run": s.runDebate(d).err, "start": d.Start(s.ctx), "recover": d.Recover(s.ctx), "watch": lastError(d.Watch(s.ctx, 0)),
		"replay": lastError(d.Replay(s.ctx)), "verify": d.Verify(s.ctx), "verify entries": lastError(d.VerifyEntries(s.ctx)),
		"pause": d.Pause(s.ctx), "resume": d.Resume(s.ctx), "stop": d.Stop(s.ctx), "cancel": d.Cancel(s.ctx), "retry": d.Retry(s.ctx),
		"reset": d.Reset(s.ctx), "decide": d.Decide(s.ctx, "q1", "approve"), "edit": d.Edit(s.ctx, pair(nil)),
		"answer": d.Answer(s.ctx, key, "Yes.", ""), "decline": d.Decline(s.ctx, key, "No.", ""),
		"annotate": d.Annotate(s.ctx, "stars", 4), "inject": d.Inject(s.ctx, debate.Remark{From: "Pat", Text: "Be brief."}),
	}
	_, said["run once"] = d.RunOnce(s.ctx)
	_, said["status"] = d.Status(s.ctx)
	_, said["result"] = d.Result(s.ctx)
	_, said["waiting"] = d.Waiting(s.ctx)
	_, said["document"] = d.Document(s.ctx, "A", "law.md")
	_, said["prompt"] = d.PromptOf(s.ctx, key)
	_, said["preview"] = d.Preview(s.ctx)
	return said
}

// lastError returns the last error of a sequence.
func lastError[T any](seq iter.Seq2[T, error]) (last error) {
	for _, err := range seq {
		last = err
	}
	return last
}

// commitNewerFormat commits what a newer version might write: a configuration with another field, then entries of a known and an
// unknown type.
func (s *env) commitNewerFormat(st store.Store, id string) {
	s.Helper()
	status, entries, err := st.Load(s.ctx, id, 0)
	require.NoError(s, err)
	after, now := status.Seq, time.Now().UTC().Truncate(time.Microsecond)
	var config map[string]any
	require.NoError(s, json.Unmarshal([]byte(s.json(entries[0].Data)), &config))
	config["format"], config["novelty"] = store.Format+1, true
	change := store.Change{ID: id, After: after}
	for _, data := range []map[string]any{config, {"type": "novelty"}, {"type": "annotated", "name": "stars", "value": 4}} {
		status.Seq++
		data["seq"], data["at"] = status.Seq, now
		e := store.Entry{Seq: status.Seq, Type: data["type"].(string), At: now, Data: json.RawMessage(s.json(data))}
		change.Entries = append(change.Entries, e)
	}
	status.Format, status.Updated = store.Format+1, now
	change.Status = status
	require.NoError(s, st.Commit(s.ctx, change))
}

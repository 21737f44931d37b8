package debate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/elenchus-go/debate/internal/core"

	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/entrylist"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/store"
)

// openJournal holds the journal of one debate as far as this process has read it. It reads, commits and repairs what is stored, and
// executes each committed transition on a machine.
type openJournal struct {
	id    string
	store store.Store
	log   *slog.Logger
	env   *core.Environment

	reports *reporter

	mu      sync.Mutex
	rec     *core.State                    // the journal as far as it was read; nil if it must be read again
	machine *fsm.Machine                   // executes what the record holds
	keeps   bool                           // whether kept holds what was read
	kept    []store.Entry                  // the first entries of the journal, decoded
	driver  follower                       // the driver that uses this journal; nil if there is none
	verify  func(*core.State, Event) error // checks each entry that is read; nil if nobody has asked for it
	signer  note.Signer                    // of debates that end; nil if there is none

	transaction transaction // the one that change makes
}

// A follower is notified of what happens to the journal. The journal's mutex is held during each call.
type follower interface {
	behind(seq int64) bool // reports whether the store has announced entries after seq
	writing(last int64)    // the journal ends, or is about to end, with the entry last
	committed(ev Event)    // ev is the next entry
	recheck()              // another writer has committed: steps in flight may be superseded
}

// A transaction is a change that the journal commits. If it is not committed, its state is discarded.
type transaction struct {
	core.Change

	after int64 // seq of the entry that the change follows
	// schedule commits the status even if there are no events, so that a store that schedules debates creates a job for the plan.
	schedule bool
	undo     func() // takes back what the change did outside of the state, if it is not committed; may be nil
}

// begin makes a transaction ready for a state. One that was committed may begin again.
func (c *transaction) begin(r *core.State) {
	c.Begin(r, time.Now())
	c.after = r.Seq
	c.schedule = false
	c.undo = nil
}

// openJournalOf returns the journal of a debate. Nothing has been read yet.
func openJournalOf(e *Engine, id string) *openJournal {
	return &openJournal{
		id:      id,
		store:   e.store,
		log:     e.log,
		env:     e.env,
		reports: e.reports,
		signer:  e.signer,
	}
}

// refresh reads the new entries of the journal.
func (j *openJournal) refresh(ctx context.Context) error {
	after := int64(0)
	if j.rec != nil {
		after = j.rec.Seq
	}
	head, list, err := j.store.Load(ctx, j.id, after)
	if err != nil {
		return err
	}
	if j.rec != nil && (head.Seq < j.rec.Seq || entrylist.IsOther(head, j.rec.Times.Created)) {
		j.rec = nil
		return j.refresh(ctx)
	}
	if j.rec == nil {
		if err := j.begin(); err != nil {
			return err
		}
	}
	for _, e := range entrylist.Decode(list, journal.DecodeEntry) {
		if _, err := j.read(e); err != nil {
			j.rec = nil
			return err
		}
	}
	j.machine.Release()
	if head.Seq > j.rec.Seq {
		end := j.rec.Seq
		j.rec = nil
		return &store.Damaged{
			ID:  j.id,
			Seq: end + 1,
			Err: fmt.Errorf(
				"the journal ends at entry %d, but its status is at entry %d: "+
					"restore the missing entries, or continue without them in a fork", end, head.Seq),
		}
	}
	j.rec.Stored.Plan = head.Plan
	j.rec.Stored.Awaited = head.Waiting
	j.rec.Stored.Driver = head.Driver
	if after == 0 || head.Seq != j.rec.Seq {
		j.repair(ctx, head)
	}
	return nil
}

// begin creates an empty record to read the journal into.
func (j *openJournal) begin() (err error) {
	j.rec = core.NewState(j.id, j.env)
	j.kept = nil
	j.machine, err = fsm.New(j.rec.Lifecycle)
	return err
}

// repair replaces a stored status that does not match the journal. If the commit fails, the next reader tries again.
func (j *openJournal) repair(ctx context.Context, stored store.Status) {
	stored.Driver = store.Heartbeat{}
	is, err1 := json.Marshal(stored)
	want, err2 := json.Marshal(core.StatusOf(j.rec))
	if err1 == nil && err2 == nil && bytes.Equal(is, want) {
		return
	}
	err := j.store.Commit(ctx, store.Change{
		ID:     j.id,
		After:  j.rec.Seq,
		Status: core.StatusOf(j.rec),
	})
	attrs := []any{"debate", j.id, "seq", j.rec.Seq, "error", err}
	if j.reports.texts {
		attrs = append(attrs, "was", string(is), "is", string(want))
	}
	j.log.WarnContext(ctx, "replace wrong status", attrs...)
}

// read adds an entry to the record and returns its event.
func (j *openJournal) read(e store.Entry) (Event, error) {
	ev, err := journal.DecodeEntry(e)
	if err != nil {
		return nil, &store.Damaged{
			ID:  j.id,
			Seq: e.Seq,
			Err: err,
		}
	}
	if j.verify != nil {
		if err := j.verify(j.rec, ev); err != nil {
			return nil, &store.Damaged{
				ID:  j.id,
				Seq: e.Seq,
				Err: err,
			}
		}
	}
	if err := j.rec.Apply(ev, e.At); err != nil {
		return nil, err
	}
	e.Data = ev
	j.keep(e)
	return ev, j.follow(ev)
}

// keep keeps an entry if it follows those that are kept, so that method all need not read it again.
func (j *openJournal) keep(e store.Entry) {
	if j.keeps && e.Seq == int64(len(j.kept))+1 {
		j.kept = append(j.kept, e)
	}
}

// all returns the entries of the whole journal. It reads from the store only those that are not kept.
func (j *openJournal) all(ctx context.Context) ([]store.Entry, error) {
	var kept []store.Entry
	var created time.Time
	j.mu.Lock()
	if j.rec != nil {
		kept = slices.Clip(j.kept)
		created = j.rec.Times.Created
	}
	j.mu.Unlock()
	return entrylist.All(ctx, j.store, j.id, kept, created)
}

// follow executes a committed transition on the machine and passes the event to the driver.
func (j *openJournal) follow(ev Event) error {
	if s, ok := ev.(StateChanged); ok {
		to := fsm.Position{State: s.To}
		if s.To == fsm.Paused {
			to.PausedFrom = s.From
		}
		if err := j.machine.Execute(s.On, to); err != nil {
			return &store.Damaged{
				ID:  j.id,
				Seq: s.Seq,
				Err: err,
			}
		}
	}
	if j.driver != nil {
		j.driver.committed(ev)
	}
	return nil
}

// change gives up after so many conflicts in all, or at the same end of the journal. A conflict that another writer has
// caused leaves the journal longer.
const (
	maxConflicts     = 1000
	maxSameConflicts = 5
)

// change reads what is new, has f add events, and commits them. If another writer commits first, change tries again. It
// returns the *store.Conflict if that does not help. If the debate has ended, change signs it.
func (j *openJournal) change(ctx context.Context, f func(*transaction) error) error {
	err := j.repeat(ctx, f)
	if r := j.rec; err == nil && j.signer != nil && r != nil && r.LacksSignature() {
		ctx := context.WithoutCancel(ctx)
		failed := j.sign(ctx)
		if failed == nil {
			failed = j.refresh(ctx)
		}
		j.rec = cmp.Or(j.rec, r)
		if failed != nil {
			j.log.WarnContext(ctx, "sign debate", "debate", j.id, "error", j.reports.shown(failed))
		}
	}
	return err
}

// sign signs a debate that has ended, in a commit of its own, because one that conflicts with another is repeated. It changes
// only what is stored. It returns a panic of the signer as an error.
func (j *openJournal) sign(ctx context.Context) (err error) {
	defer panics.Catch(&err)
	own := &openJournal{
		id:      j.id,
		store:   j.store,
		log:     j.log,
		env:     j.env,
		reports: j.reports,
	}
	if err := own.refresh(ctx); err != nil || !own.rec.LacksSignature() {
		return err
	}
	_, list, err := j.store.Load(ctx, j.id, 0)
	if err != nil {
		return err
	}
	value, err := chain.SignJournal(j.signer, j.id, own.rec.Keys.Secret[:], list)
	if err != nil {
		return err
	}
	return own.repeat(ctx, func(c *transaction) error {
		if !c.State.LacksSignature() { // another process was first, or the debate goes on
			return nil
		}
		return c.Decide(&core.Act{Kind: journal.ActSign, Given: Annotated{
			EventMeta: c.StampFor(journal.ActSign, "annotated"),
			At:        c.Now,
			Name:      chain.NoteName,
			Value:     value,
		}})
	})
}

// repeat makes a change until it does not conflict with that of another writer. f is called again then, with a record that has the
// other writer's entries, so it must first ask whether the change is still wanted.
func (j *openJournal) repeat(ctx context.Context, f func(*transaction) error) error {
	end := int64(-1)
	same := 0
	for n := 1; ; n++ {
		err := j.attempt(ctx, f)
		conflict, lost := errors.AsType[*store.Conflict](err)
		if !lost {
			return err
		}
		same++
		if conflict.After != end {
			end = conflict.After
			same = 1
		}
		if n >= maxConflicts || same >= maxSameConflicts {
			return fmt.Errorf("change debate %s: gave up after %d conflicts: %w", j.id, n, err)
		}
		if j.driver != nil {
			j.driver.recheck()
		}
	}
}

// attempt has f add events to the record as it is now, and commits them. It reads new entries before that, unless a driver
// knows that there are none.
func (j *openJournal) attempt(ctx context.Context, f func(*transaction) error) error {
	if j.rec == nil || j.driver == nil || j.driver.behind(j.rec.Seq) {
		if err := j.refresh(ctx); err != nil {
			return err
		}
	}
	c := &j.transaction
	c.begin(j.rec)
	j.rec = nil // until f has returned: an incomplete change is discarded, even if a protocol panics
	committed := false
	defer func() {
		if !committed && c.undo != nil {
			c.undo()
		}
	}()
	err := f(c)
	if len(c.Events) == 0 || err == nil {
		j.rec = c.State
	}
	if err == nil {
		err = j.commit(ctx, c)
	}
	committed = err == nil
	return err
}

// commit writes the events of a transaction and the status to the store. It then tells the log, the observer, the machine and the driver
// of each event. If the store refuses the commit, nothing has happened, and the record must be read again.
func (j *openJournal) commit(ctx context.Context, c *transaction) error {
	if len(c.Events) == 0 && !c.schedule {
		return nil
	}
	entries := journal.Entries(c.Events)
	if j.driver != nil {
		j.driver.writing(c.State.Seq)
	}
	if j.reports.ordered() {
		defer j.reports.commits.Lock(j.id)()
	}
	j.rec = nil // until all is done: it holds uncommitted events
	err := j.store.Commit(ctx, store.Change{
		ID:      j.id,
		After:   c.after,
		Entries: entries,
		Status:  core.StatusOf(c.State),
	})
	if err != nil {
		if j.driver != nil {
			j.driver.writing(c.after)
		}
		return err
	}
	defer j.machine.Release()
	for i, ev := range c.Events {
		j.keep(entries[i])
		j.reports.committed(ctx, j.id, ev)
		if err := j.follow(ev); err != nil {
			return err
		}
	}
	j.rec = c.State
	return nil
}

// signEnded signs the debates that have ended without a signature.
func signEnded(ctx context.Context, e *Engine) error {
	if e.signer == nil {
		return nil
	}
	var errs []error
	for s, err := range e.store.List(ctx, store.Query{States: []fsm.State{fsm.Completed, fsm.Canceled}}) {
		if s.ID == "" {
			return errors.Join(append(errs, err)...)
		}
		if s.Signed {
			continue
		}
		if err := openJournalOf(e, s.ID).sign(ctx); err != nil && !errors.Is(err, store.ErrNotFound) {
			errs = append(errs, fmt.Errorf("sign debate %s: %w", s.ID, err))
		}
	}
	return errors.Join(errs...)
}

// withoutPastDriver returns a status without a heartbeat that no longer says anything: the debate has ended, or was driven
// by another engine after this one lacked something.
func withoutPastDriver(s store.Status) store.Status {
	if h := s.Driver; s.State.Final() || len(h.Missing) > 0 && s.Updated.After(h.At) {
		s.Driver = store.Heartbeat{}
	}
	return s
}

// The rest of this file holds what actors read and call, and what is decided when a debate starts, because only then the prompts
// and the providers are known: the windows of actors, and the token limits of replies that fit into them.

package debate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/core"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/admission"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/entrylist"
	"github.com/elenchus-go/debate/internal/heartbeat"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/internal/spool"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
)

// NewEngine returns an engine. It copies the maps, lists and protocols of o. It returns an error if a prompt template is
// invalid, if a provider, a protocol or a contract is nil, or if a tool has no valid name, the name of another one, or a schema
// that does not compile.
func NewEngine(o Options) (*Engine, error) {
	if o.Store == nil {
		o.Store = store.Memory()
	}
	sets, err := loadPrompts(o)
	if err != nil {
		return nil, fmt.Errorf("make engine: %w", err)
	}
	for name, p := range o.Providers {
		if p == nil {
			return nil, fmt.Errorf("make engine: provider %q is nil", name)
		}
	}
	if slices.Contains(o.Protocols, nil) || slices.ContainsFunc(o.Protocols, protocols.IsNil) {
		return nil, errors.New("make engine: a protocol is nil")
	}
	if slices.Contains(o.Contracts, nil) {
		return nil, errors.New("make engine: a contract is nil")
	}
	e := &Engine{
		providers:     maps.Clone(o.Providers),
		protocols:     protocols.NewRegistry(deepcopy.Of(o.Protocols)...),
		sets:          sets,
		replies:       map[string]*reply.Contract{},
		extractAnswer: o.ExtractAnswer,
		documents:     o.Documents,
		counter:       o.TokenCounter,
		keepReasoning: o.KeepReasoning,
		keepReplies:   o.KeepReplies,
		audits:        deepcopy.Of(o.Audits),
		signer:        o.Signer,
		log:           cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		closing:       make(chan struct{}),
		admission:     admission.Queue{Most: o.MaxDebates},
	}
	e.tools, err = toolcall.Compile(o.Tools)
	if err != nil {
		return nil, fmt.Errorf("make engine: %w", err)
	}
	e.reports = e.newReporter(o)
	e.heartbeats = heartbeat.New(o.Store, o.Name, o.HeartbeatInterval, o.RecoverAfter, e.log)
	e.store = readableStore{store.Watched(o.Store)}
	if s, ok := o.Store.(store.Scheduler); ok {
		e.schedules = s.Schedules()
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	for _, c := range append(protocols.Contracts(), o.Contracts...) {
		e.replies[c.Name()] = c
	}
	e.env = e.environment()
	return e, nil
}

func loadPrompts(o Options) (sets map[string]*prompts.Set, err error) {
	sets = map[string]*prompts.Set{}
	sets[""], err = prompts.Load(o.Prompts)
	if err != nil {
		return nil, err
	}
	for name, folder := range o.PromptSets {
		if name == "" || folder == nil {
			return nil, fmt.Errorf("prompt set %q needs a name and templates", name)
		}
		sets[name], err = prompts.Load(folder)
		if err != nil {
			return nil, fmt.Errorf("prompt set %q: %w", name, err)
		}
	}
	return sets, nil
}

// New creates an engine with a single debate, and returns the debate. It keeps the debate in memory if Options.Store
// is nil. It returns *Problems if the configuration is invalid or names something that Options does not provide.
func New(ctx context.Context, c Config, o Options) (*Debate, error) {
	e, err := NewEngine(o)
	if err != nil {
		return nil, err
	}
	c, found := e.problems(c, true)
	found = append(found, e.asker().Settings(ctx, e.clientsOf(&c))...)
	if len(found) == 0 {
		first := e.preflight(core.Seats{Config: &c}, e.knownWindows(ctx, &c))
		found = first.problems
		if first.lacks != nil {
			found = append(found, protocol.Problemf("protocol", "%v", first.lacks))
		}
	}
	if err := core.ProblemsError(found); err != nil {
		return nil, err
	}
	return e.create(ctx, c, false)
}

// Create stores a new debate, with a copy of the configuration. It returns *Problems if the configuration is invalid, and
// an error that wraps ErrTaken if the store has a debate with that ID. Create calls no provider and needs none: the engine
// that drives the debate looks up its providers, and checks their keys and models.
func (e *Engine) Create(ctx context.Context, c Config) (*Debate, error) {
	c, found := e.problems(c, false)
	if err := core.ProblemsError(found); err != nil {
		return nil, err
	}
	return e.create(ctx, c, false)
}

// Launch stores a new debate as Create does, and starts it as Start does, in one commit. It returns *Problems if the
// configuration is invalid, or if it names something that Options does not provide, unless workers drive the debate, and
// ErrTaken as Create does. If the debate is stored but cannot be driven, because the engine was closed in between or the
// store failed, Launch returns the debate and the error. Debates above Options.MaxDebates are stored and wait.
func (e *Engine) Launch(ctx context.Context, c Config) (*Debate, error) {
	c, found := e.problems(c, !e.schedules)
	if err := core.ProblemsError(found); err != nil {
		return nil, err
	}
	d, err := e.create(ctx, c, true)
	if err != nil || e.schedules {
		return d, err
	}
	return d, startBackground(context.WithoutCancel(ctx), e, openJournalOf(e, d.ID()), false)
}

// create stores a debate, and starts it if start is set. The configuration must be complete and valid.
func (e *Engine) create(ctx context.Context, c Config, start bool) (*Debate, error) {
	if e.drivers.Closed() {
		return nil, fmt.Errorf("create debate: %w", ErrClosed)
	}
	c.ID = cmp.Or(c.ID, newID())
	c.Seed = cmp.Or(c.Seed, c.ID)
	undo := e.protocols.Add(c.ID, c.Protocol)
	d, err := e.commitFirst(ctx, c, start)
	if err != nil {
		undo()
		return nil, fmt.Errorf("create debate %s: %w", c.ID, err)
	}
	return d, nil
}

// commitFirst stores a debate's first entry, and if start is set the entry that starts it.
func (e *Engine) commitFirst(ctx context.Context, c Config, start bool) (*Debate, error) {
	raw, err := c.MarshalJSON() // json.Marshal would only read the result again
	if err != nil {
		return nil, err
	}
	d := handleOn(e, c.ID)
	if err := d.journal.begin(); err != nil {
		return nil, err
	}
	if !bytes.Contains(raw, []byte(`\ufffd`)) { // otherwise encoding has replaced invalid text
		d.journal.rec.Parsed = &c
	}
	change := &transaction{}
	change.begin(d.journal.rec)
	err = change.Decide(&core.Act{Kind: journal.ActCreate, Given: ConfigChanged{
		EventMeta: change.StampFor(journal.ActCreate, "config"),
		At:        change.Now,
		Format:    store.Format,
		Config:    raw,
		Origin:    &journal.Origin{Keys: seal.New()},
	}})
	if err == nil && start {
		err = change.Decide(&core.Act{Kind: journal.ActStart})
	}
	if err == nil {
		err = d.journal.commit(ctx, change)
	}
	if _, taken := errors.AsType[*store.Conflict](err); taken {
		err = ErrTaken
	}
	return d, err
}

// Open returns a handle on a stored debate. The handle keeps the journal's entries in memory, so that [Debate.Replay] and
// [Debate.PromptOf] do not read them again. Open returns store.ErrNotFound if there is no debate with that id. It returns the
// handle with each error, so that you can use it once the cause is gone.
func (e *Engine) Open(ctx context.Context, id string) (*Debate, error) {
	d := handleOn(e, id)
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	d.journal.keeps = true
	return d, d.journal.refresh(ctx)
}

// Close stops driving debates. It starts no new steps and lets calls in flight finish and commit. Steps that wait for their
// next attempt wait no longer. If ctx ends first,
// Close cancels the calls and returns ctx's error; goroutines that are slow to notice may still be running then. Close
// also waits until the observer has had all events. Finally every watcher gets ErrClosed. Another engine can continue the
// debates.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	first := e.drivers.Close()
	if first {
		if e.recovery != nil {
			e.recovery.Stop()
		}
		close(e.closing)
	}
	e.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		e.drivers.Wait()
		close(idle)
	}()
	defer e.cancel(ErrClosed)
	select {
	case <-idle:
	case <-ctx.Done():
		e.cancel(ErrClosed)
		e.heartbeats.Leave(ctx) // a call that does not notice must not keep its debate from other engines
		return fmt.Errorf("close engine: calls in flight were canceled: %w", context.Cause(ctx))
	}
	if e.reports.queue == nil {
		return nil
	}
	if err := e.reports.queue.Wait(ctx); err != nil {
		return fmt.Errorf("close engine: the observer has not seen all events: %w", context.Cause(ctx))
	}
	return nil
}

// newReporter returns what reports the engine's work to its log and its observer.
func (e *Engine) newReporter(o Options) *reporter {
	p := &reporter{
		log:    e.log,
		texts:  o.LogTexts,
		begin:  o.Observer.Begin,
		commit: o.Observer.Commit,
	}
	show := o.Observer.Event
	if show == nil {
		return p
	}
	most := o.Observer.MaxQueue
	if most <= 0 {
		most = defaultMaxQueue
	}
	present := func(id string, ev Event) {
		p.guard(id, func() { show(id, ev) })
	}
	deliver := func(id string, ev Event) {
		for _, w := range warningsOf(ev) {
			present(id, restamp(w, ev.Meta().Seq-1))
		}
		present(id, ev)
		if s, ok := ev.(StateChanged); ok && s.To.Final() {
			if last, err := handleOn(e, id).ending(e.ctx); err == nil { // otherwise it was deleted, or its store is gone
				present(id, last)
			}
		}
	}
	p.queue = spool.New(most, deliver, func(id string, m spool.Missed) {
		if m.Live > 0 {
			w := Warning{
				EventMeta: core.LiveMeta("warning"),
				Text:      fmt.Sprintf("the observer is too slow: it misses %d live events", m.Live),
			}
			if len(m.Stored) > 0 {
				w.Seq = m.Stored[0].First - 1
			}
			present(id, w)
		}
		for _, r := range m.Stored {
			entrylist.Read(e.ctx, e.store, id, r.First, r.Last, e.log, func(entry store.Entry) {
				if ev, damaged := journal.DecodeEntry(entry); damaged == nil {
					deliver(id, ev)
				}
			})
		}
	})
	return p
}

// Recover continues the debates that nobody drives, in the background: those that were running or about to start when
// their process died, and those that Retry has made ready. Call it once after a restart. It looks again at each interval
// of heartbeats until the engine is closed, so the engine also takes over debates of other engines that close or die
// later. To keep a debate from running, pause it.
//
// Recover leaves a debate alone if its driver gave a heartbeat within Options.RecoverAfter, or if the debate has no
// heartbeat and changed within that time. It takes over debates of an engine that was closed, or that had the same
// Options.Name, at once. If the store keeps no heartbeats, it cannot tell who is driven, and continues every debate.
//
// Recover also signs the debates that have ended without a signature of Options.Signer.
//
// The error names each debate that this engine cannot continue or sign; Recover continues the others. Later errors are logged.
func (e *Engine) Recover(ctx context.Context) error {
	look := &heartbeat.Recovery{
		Store:  e.store,
		Drives: e.drivers.Drives,
		Gone: func(s store.Status) bool {
			return e.schedules || e.heartbeats.IsGone(s)
		},
		Status: func(ctx context.Context, id string) (store.Status, error) {
			return handleOn(e, id).Status(ctx)
		},
		TakeOver: func(ctx context.Context, id string) error {
			return takeOver(ctx, e, id)
		},
	}
	err := errors.Join(look.Once(ctx), signEnded(ctx, e))
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.drivers.Closed():
		return fmt.Errorf("recover debates: %w", ErrClosed)
	case e.recovery == nil && e.heartbeats != nil && !e.schedules:
		e.recovery = time.AfterFunc(e.heartbeats.Every(), func() {
			e.recoverAgain(look)
		})
	}
	return err
}

// recoverAgain looks for debates that nobody drives any more.
func (e *Engine) recoverAgain(look *heartbeat.Recovery) {
	if err := look.Once(e.ctx); err != nil && e.ctx.Err() == nil {
		e.log.WarnContext(e.ctx, "recover debates", "error", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.drivers.Closed() {
		e.recovery.Reset(e.heartbeats.Every())
	}
}

// List returns the stored debates that match a query, newest first. A status comes with an error if it cannot be read, and with a
// *NewerFormat if a newer version of the library wrote the journal; List then goes on. Any other error comes without an ID and ends
// the list.
func (e *Engine) List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error] {
	return func(yield func(store.Status, error) bool) {
		for s, err := range e.store.List(ctx, q) {
			if err == nil && s.Format > store.Format {
				err = &NewerFormat{ID: s.ID, Format: s.Format}
			}
			if !yield(withoutPastDriver(s), err) {
				return
			}
		}
	}
}

// Delete removes a stored debate, whatever its format. Every process that still drives or watches it gets an error. The documentation
// of each store says when the texts are gone from its files.
func (e *Engine) Delete(ctx context.Context, id string) error {
	err := e.store.Delete(ctx, id, 0)
	if err == nil {
		e.protocols.Forget(id)
	}
	return err
}

// Count returns the number of stored debates that a query selects, by state.
func (e *Engine) Count(ctx context.Context, q store.Query) (map[fsm.State]int, error) {
	return e.store.Count(ctx, q)
}

// TotalsBy adds up the usage and the cost of the stored debates that a query selects, by the value of a label. See
// store.Query.TotalsBy.
func (e *Engine) TotalsBy(ctx context.Context, q store.Query, label string) (map[string]store.Totals, error) {
	return q.TotalsBy(ctx, e.store, label)
}

// DeleteAll removes the stored debates that a query selects, and returns their number. See store.Query.Delete.
func (e *Engine) DeleteAll(ctx context.Context, q store.Query) (int, error) {
	return q.Delete(ctx, e.store)
}

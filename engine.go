package debate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
)

// NewEngine returns an engine. It copies the maps, lists and protocols of o. It returns an error if a prompt template is
// invalid, or if a provider, a protocol or a contract is nil.
func NewEngine(o Options) (*Engine, error) {
	if o.Store == nil {
		o.Store = store.Memory()
	}
	set, err := prompts.Load(o.Prompts)
	if err != nil {
		return nil, fmt.Errorf("make engine: %w", err)
	}
	for name, p := range o.Providers {
		if p == nil {
			return nil, fmt.Errorf("make engine: provider %q is nil", name)
		}
	}
	if slices.Contains(o.Protocols, nil) {
		return nil, errors.New("make engine: a protocol is nil")
	}
	if slices.Contains(o.Contracts, nil) {
		return nil, errors.New("make engine: a contract is nil")
	}
	e := &Engine{
		providers: maps.Clone(o.Providers), protocols: map[string]protocol.Protocol{}, prompts: set, replies: map[string]*reply.Contract{}, extractAnswer: o.ExtractAnswer, counter: o.TokenCounter,
		log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), closing: make(chan struct{}),
		driven: map[string]*driverSlot{}, feeds: map[string]*liveFeed{},
	}
	e.heartbeats = newHeartbeats(o.Store, o.Name, o.HeartbeatInterval, o.RecoverAfter, e.log)
	e.store = store.Watched(o.Store)
	if s, ok := o.Store.(store.Scheduler); ok {
		e.schedules = s.Schedules()
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	for _, p := range append(presets(), deepcopy.Of(o.Protocols)...) {
		e.protocols[p.Name()] = p
	}
	for _, c := range append(contracts(), o.Contracts...) {
		e.replies[c.Name()] = c
	}
	e.env = e.environment()
	return e, nil
}

// New creates an engine with a single debate, and returns the debate. It keeps the debate in memory if Options.Store
// is nil. It returns *Problems if the configuration is invalid or names something that Options does not provide.
func New(ctx context.Context, c Config, o Options) (*Debate, error) {
	e, err := NewEngine(o)
	if err != nil {
		return nil, err
	}
	c, found := c.withDefaults()
	if found = append(found, e.missingNames(c)...); len(found) == 0 {
		var lacks error
		if found, _, _, lacks = e.preflight(&c); lacks != nil {
			found = append(found, protocol.Problemf("protocol", "%v", lacks))
		}
	}
	if err := problemsError(found); err != nil {
		return nil, err
	}
	return e.create(ctx, c)
}

// Create stores a new debate, with a copy of the configuration. It returns *Problems if the configuration is invalid.
// Create calls no provider and needs none: the engine that drives the debate looks up its providers, and checks their
// keys and models.
func (e *Engine) Create(ctx context.Context, c Config) (*Debate, error) {
	c, found := c.withDefaults()
	if err := problemsError(found); err != nil {
		return nil, err
	}
	return e.create(ctx, c)
}

// create stores a debate. The configuration must be complete and valid.
func (e *Engine) create(ctx context.Context, c Config) (*Debate, error) {
	c.ID = cmp.Or(c.ID, newID())
	e.addProtocol(c.Protocol)
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("create debate %s: %w", c.ID, err)
	}
	d := &Debate{engine: e, journal: e.journal(c.ID)}
	if err := d.journal.begin(); err != nil {
		return nil, fmt.Errorf("create debate %s: %w", c.ID, err)
	}
	if !bytes.Contains(raw, []byte(`\ufffd`)) { // otherwise encoding has replaced invalid text
		d.journal.rec.given = &c
	}
	change := newTransaction(d.journal.rec)
	if err := change.add(ConfigChanged{EventMeta: change.stamp("config"), At: change.now, Format: store.Format, Config: raw}); err != nil {
		return nil, fmt.Errorf("create debate %s: %w", c.ID, err)
	}
	if err := d.journal.commit(ctx, change); err != nil {
		if _, taken := errors.AsType[*store.Conflict](err); taken {
			return nil, fmt.Errorf("create debate %s: the id is taken: %w", c.ID, err)
		}
		return nil, err
	}
	return d, nil
}

// Open returns a handle on a stored debate. It returns store.ErrNotFound if there is no debate with that id.
func (e *Engine) Open(ctx context.Context, id string) (*Debate, error) {
	d := &Debate{engine: e, journal: e.journal(id)}
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	return d, d.journal.refresh(ctx)
}

// Close stops driving debates. It starts no new steps and lets calls in flight finish and commit. If ctx ends first,
// Close cancels the calls and returns ctx's error; goroutines that are slow to notice may still be running then.
// Finally every watcher gets ErrClosed. Another engine can continue the debates.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.closing)
	}
	e.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		e.drivers.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		e.cancel(ErrClosed)
		return nil
	case <-ctx.Done():
		e.cancel(ErrClosed)
		return fmt.Errorf("close engine: calls in flight were canceled: %w", context.Cause(ctx))
	}
}

// List returns the stored debates that match a query, newest first.
func (e *Engine) List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error] {
	return func(yield func(store.Status, error) bool) {
		for s, err := range e.store.List(ctx, q) {
			if !yield(withoutPastDriver(s), err) {
				return
			}
		}
	}
}

// Delete removes a stored debate. Every process that still drives or watches it gets an error.
func (e *Engine) Delete(ctx context.Context, id string) error { return e.store.Delete(ctx, id, 0) }

// Count returns the number of stored debates that a query selects, by state.
func (e *Engine) Count(ctx context.Context, q store.Query) (map[fsm.State]int, error) {
	return e.store.Count(ctx, q)
}

// DeleteAll removes the stored debates that a query selects, and returns their number. See store.Query.Delete.
func (e *Engine) DeleteAll(ctx context.Context, q store.Query) (int, error) {
	return q.Delete(ctx, e.store)
}

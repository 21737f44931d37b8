package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"reflect"
	"sync"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Options are the live things that the names in a Config are bound to.
type Options struct {
	// Providers answer, by the names that participants give.
	Providers map[string]providers.Provider
	// Store keeps the debates. Defaults to store.Memory.
	Store store.Store
	// Protocols are further ones than the library's, by any value of theirs, so that stored debates can be read. What JSON
	// leaves out of a protocol, such as a function, is read from that value.
	Protocols []protocol.Protocol
	// Prompts are templates that replace or add to the library's; see package prompts.
	Prompts fs.FS
	// Replies are further contracts of structured replies than the library's.
	Replies []*reply.Contract
	// Answer says what a turn answers, in a canonical form, or "" where it does not: for rules of Config.Watch that go by
	// answers. Give all engines of one store the same.
	Answer func(transcript.Turn) string
	// Counter counts tokens. Defaults to window.Estimate, which needs no vocabulary. Either way what providers report of a
	// model's prompts corrects it.
	Counter window.Counter
	// Logger is told what nobody watches. Defaults to none.
	Logger *slog.Logger
}

// Engine drives debates; one serves many. It is safe for concurrent use.
type Engine struct {
	providers map[string]providers.Provider
	store     interface {
		store.Store
		store.Watcher
	}
	workers   bool // the store has workers drive
	protocols map[string]protocol.Protocol
	prompts   *prompts.Set
	replies   map[string]*reply.Contract
	answer    func(transcript.Turn) string
	counter   window.Counter
	log       *slog.Logger

	ctx     context.Context // ends when Close gives up waiting
	cancel  context.CancelCauseFunc
	closing chan struct{}
	drivers sync.WaitGroup

	mu     sync.Mutex
	closed bool
	drives map[string]*slot // debates that are driven
	feeds  map[string]*feed // debates that are driven or watched
}

// NewEngine makes an engine. It fails where a prompt template does.
func NewEngine(o Options) (*Engine, error) {
	set, err := prompts.Load(o.Prompts)
	if err != nil {
		return nil, fmt.Errorf("make engine: %w", err)
	}
	for name, p := range o.Providers {
		if p == nil {
			return nil, fmt.Errorf("make engine: provider %q is nil", name)
		}
	}
	e := &Engine{
		providers: o.Providers, protocols: map[string]protocol.Protocol{}, prompts: set, replies: map[string]*reply.Contract{}, answer: o.Answer, counter: o.Counter,
		log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), closing: make(chan struct{}),
		drives: map[string]*slot{}, feeds: map[string]*feed{},
	}
	e.store = watched(o.Store)
	if s, ok := o.Store.(store.Scheduler); ok {
		e.workers = s.Schedules()
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	for _, p := range append(presets(), o.Protocols...) {
		e.protocols[p.Name()] = p
	}
	for _, c := range append(contracts(), o.Replies...) {
		e.replies[c.Name()] = c
	}
	return e, nil
}

// presets are the library's own protocols.
func presets() []protocol.Protocol {
	return []protocol.Protocol{panel.Protocol{}, skeptic.Protocol{}, refine.Protocol{}, arbitration.Protocol{}, procon.Protocol{}, vote.Protocol{}}
}

// contracts are those of all replies that the presets and the engine ask for.
func contracts() []*reply.Contract {
	return []*reply.Contract{
		judge.AssessmentContract, judge.VerdictContract, protocol.PersonasContract, vectorsContract, skeptic.DocumentsContract,
		refine.CritiqueContract, refine.SummaryContract, refine.SolutionContract, arbitration.ArgumentContract, arbitration.RulingContract,
		procon.JudgmentContract, vote.BallotContract, vote.RulingContract,
	}
}

// New is NewEngine and Create: one debate, in a memory store where Options name no other. It returns *Problems where
// the configuration is wrong or names what Options do not have.
func New(ctx context.Context, c Config, o Options) (*Debate, error) {
	e, err := NewEngine(o)
	if err != nil {
		return nil, err
	}
	filled, found := c.filled()
	if err := problems(append(found, e.unbound(filled)...)); err != nil {
		return nil, err
	}
	return e.Create(ctx, c)
}

// Create stores a new debate. It returns *Problems where the configuration is wrong. It calls no provider, and needs
// none: names are bound, and keys and models checked, by who drives the debate.
func (e *Engine) Create(ctx context.Context, c Config) (*Debate, error) {
	c.ID = cmp.Or(c.ID, newID())
	c, found := c.filled()
	if err := problems(found); err != nil {
		return nil, err
	}
	e.learn(c.Protocol)
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("create debate %s: %w", c.ID, err)
	}
	given := func(json.RawMessage) (Config, error) { return c, nil } // no need to parse what was just encoded
	d := &Debate{engine: e, id: c.ID, rec: e.record(c.ID, given)}
	if d.machine, err = fsm.New(d.rec.snap); err != nil {
		return nil, fmt.Errorf("create debate %s: %w", c.ID, err)
	}
	change := begin(d.rec)
	if err := change.add(ConfigChanged{Stamp: change.stamp("config"), At: change.now, Format: store.Format, Config: raw}); err != nil {
		return nil, fmt.Errorf("create debate %s: %w", c.ID, err)
	}
	d.rec.parse = e.parse
	if err := d.commit(ctx, change); err != nil {
		if _, taken := errors.AsType[*store.Conflict](err); taken {
			return nil, fmt.Errorf("create debate %s: the id is taken: %w", c.ID, err)
		}
		return nil, err
	}
	return d, nil
}

// record is that of a debate of which nothing is known yet.
func (e *Engine) record(id string, parse func(json.RawMessage) (Config, error)) *record {
	r := newRecord(id, parse)
	r.answer, r.named = e.answer, e.named
	r.prompts = e.prompts
	if e.counter != nil {
		r.count = e.counter.Count
	}
	return r
}

// learn makes the engine read back the protocols that it was given in a configuration.
func (e *Engine) learn(p protocol.Protocol) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.protocols[p.Name()]; !known {
		e.protocols[p.Name()] = p
	}
}

// Open is a handle on a stored debate; store.ErrNotFound where there is none of that id.
func (e *Engine) Open(ctx context.Context, id string) (*Debate, error) {
	d := &Debate{engine: e, id: id}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d, d.refresh(ctx)
}

// List gives the stored debates that a query selects, newest first.
func (e *Engine) List(ctx context.Context, q store.Query) iter.Seq2[store.Head, error] {
	return e.store.List(ctx, q)
}

// Delete removes a stored debate. What still drives or watches it fails, wherever that is.
func (e *Engine) Delete(ctx context.Context, id string) error { return e.store.Delete(ctx, id) }

// ParseConfig reads a configuration from its JSON. A field that does not exist is an error; so is a protocol that the
// engine does not know, as *Problems.
func (e *Engine) ParseConfig(b []byte) (Config, error) {
	c, err := e.decode(b, unmarshalStrict)
	if _, ok := c.Protocol.(unknown); ok && err == nil {
		err = problems(e.unbound(Config{Protocol: c.Protocol}))
	}
	if err != nil {
		return Config{}, fmt.Errorf("parse configuration: %w", err)
	}
	return c, nil
}

// parse reads a stored configuration: also one of a protocol that the engine does not know, or with fields of a newer
// version. Such a debate can be read, but not driven.
func (e *Engine) parse(b json.RawMessage) (Config, error) { return e.decode(b, json.Unmarshal) }

func (e *Engine) decode(b []byte, unmarshal func([]byte, any) error) (c Config, err error) {
	w := wire{plain: (*plain)(&c)}
	if err := unmarshal(b, &w); err != nil {
		return Config{}, err
	}
	c.Limits = w.Limits.limits()
	if len(w.Protocol) > 0 {
		c.Protocol, err = e.decodeProtocol(w.Protocol, unmarshal)
	}
	return c, err
}

func (e *Engine) decodeProtocol(b []byte, unmarshal func([]byte, any) error) (protocol.Protocol, error) {
	var params map[string]json.RawMessage
	if err := json.Unmarshal(b, &params); err != nil {
		return nil, fmt.Errorf("protocol: %w", err)
	}
	var name string
	if err := json.Unmarshal(params["name"], &name); err != nil {
		return nil, errors.New("protocol.name: give a name such as \"panel/1\"")
	}
	e.mu.Lock()
	known, ok := e.protocols[name]
	e.mu.Unlock()
	if !ok {
		return unknown{name: name}, nil
	}
	delete(params, "name")
	rest, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("protocol: %w", err)
	}
	v := blank(known)
	if err := unmarshal(rest, v.Interface()); err != nil {
		return nil, fmt.Errorf("protocol %s: %w", name, err)
	}
	return v.Elem().Interface().(protocol.Protocol), nil
}

// blank points to a new protocol like the one that is known, of which it has only what JSON leaves out.
func blank(known protocol.Protocol) reflect.Value {
	v := reflect.New(reflect.TypeOf(known))
	if v.Elem().Kind() != reflect.Struct {
		return v
	}
	for f := range v.Elem().Type().Fields() {
		if f.IsExported() && f.Tag.Get("json") == "-" {
			v.Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(known).FieldByIndex(f.Index))
		}
	}
	return v
}

// Close starts nothing new and lets calls in flight commit until ctx ends; then it cancels them and returns ctx's error,
// while what is slow to notice may still be ending. At last who watches gets ErrClosed. Debates go on in another engine.
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
		return fmt.Errorf("close engine: calls in flight were cancelled: %w", context.Cause(ctx))
	}
}

func (e *Engine) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// drive marks a debate as driven by this engine until release is called.
func (e *Engine) drive(id string, cancel context.CancelCauseFunc) (release func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fmt.Errorf("drive debate %s: %w", id, ErrClosed)
	}
	if _, busy := e.drives[id]; busy {
		return nil, fmt.Errorf("drive debate %s: %w", id, ErrBusy)
	}
	s := &slot{cancel: cancel}
	e.drives[id] = s
	e.drivers.Add(1)
	return func() {
		e.mu.Lock()
		delete(e.drives, id)
		e.mu.Unlock()
		if s.next != nil {
			s.next()
		}
		e.drivers.Done()
	}, nil
}

// slot is the place of a debate's one driver in this engine.
type slot struct {
	cancel context.CancelCauseFunc
	next   func() // to be done when the driver has left; nil: nothing. Guarded by Engine.mu until then
}

// after has f done once who drives the debate now has left; false: nobody does.
func (e *Engine) after(id string, f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.drives[id]
	if s != nil {
		s.next = f
	}
	return s != nil
}

package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate/internal/core"

	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/admission"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/heartbeat"
	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/spool"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/measured"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Options holds what a Config refers to by name and what cannot be stored, such as providers and the store.
type Options struct {
	// Providers maps the names that Participant.Provider uses to providers.
	Providers map[string]providers.Provider
	// Store keeps the debates. Defaults to store.Memory.
	Store store.Store
	// Protocols are protocols beyond those of the library, each given by any value of its type. The engine needs them
	// to decode stored debates. Fields that JSON omits, such as functions, are copied from the given value. An engine
	// uses the very protocol that Create or Edit was given for that debate. If JSON omits none of its fields, the engine
	// decodes other stored debates with it too, so it need not be here.
	Protocols []protocol.Protocol
	// Documents gives the text of a private document. It gets the ID and the labels of the debate, because a configuration,
	// which names readers, is no proof of who may read a text: return an error if this debate may not have it. The engine calls
	// it before each step that reads the document, and drives the debate only if the text has the document's hash. The
	// messages of its errors are not shown, because they may quote the text; errors.As finds them.
	Documents func(ctx context.Context, id string, labels map[string]string, d evidence.Document) (string, error)
	// Prompts holds templates that replace those of the library or add to them; see package prompts.
	Prompts fs.FS
	// PromptSets holds templates, like Prompts, for debates that name them in Config.Prompts.
	PromptSets map[string]fs.FS
	// Contracts are reply contracts beyond those of the library.
	Contracts []*reply.Contract
	// Tools are what participants and judges may call before they speak, if Participant.Tools names them.
	Tools []tool.Tool
	// ExtractAnswer returns the answer that a turn gives, in a canonical form, or "" if it gives none. Rules of
	// Config.Detect that compare answers need it. Turn.Extracted keeps what it returns for each speech then. Use the same
	// function in all engines of one store.
	ExtractAnswer func(transcript.Turn) string
	// TokenCounter counts tokens. Defaults to window.Estimate, which needs no vocabulary. In both cases the counts
	// are corrected by what providers report for each model.
	TokenCounter window.TokenCounter
	// KeepReasoning stores what models think in Turn.Reasoning.Text, as far as their services show it, up to 64 KiB for
	// each turn.
	KeepReasoning bool
	// KeepReplies stores each reply in Attempt.Reply of its turn as the service gave it, up to 64 KiB for each attempt. Without it,
	// an attempt has the reply only if a speech lacks a part of it, or if the reply was no speech.
	KeepReplies bool
	// Audits are what audits have measured about judges; see package eval/audit. A debate with a judge whose model was found
	// biased has a Warning, which also says if the audit used other prompts than the debate.
	Audits []measured.Record
	// Signer signs each debate that ends, in an entry after its end: the ID, the number of entries, and the head of their hash
	// chain; see docs/record.md. The entry is not part of what is signed. If the signature cannot be made or stored, the log
	// says so, and Recover tries again. Sign is called while nobody else can change the debate: it must return soon.
	// Defaults to no signature. note.NewSigner makes a signer from a
	// private key.
	Signer note.Signer
	// Name identifies the engine in Status.Driver of the debates that it drives. Use another name for each engine of a
	// store. Defaults to the name of the machine, the number of the process, and a random part.
	Name string
	// HeartbeatInterval is the time between two heartbeats of the engine; see store.Heartbeats. Each is one write for all
	// debates that the engine drives. Defaults to 10 s. If it is negative, the engine gives none.
	HeartbeatInterval time.Duration
	// RecoverAfter is the age of a heartbeat from which on it no longer counts. Defaults to three times
	// HeartbeatInterval. Use the same in all engines of a store, and keep their clocks closer together than this.
	RecoverAfter time.Duration
	// MaxDebates limits how many debates the engine drives in the background at once. Further debates that Launch, Start
	// or Recover starts wait in order. A debate that is paused, waits for a person or waits for its next round gives up its
	// place. Run is not limited. Defaults to no limit. It has no effect if the store has workers drive debates.
	MaxDebates int
	// Observer is told what the engine does. Its zero value observes nothing.
	Observer Observer
	// Logger receives a line for each transition, failed attempt, failed step and warning, with the ids of the debate and
	// the step, and errors that no caller would otherwise see. Defaults to none.
	Logger *slog.Logger
	// LogTexts adds the messages of failures and the texts of providers' warnings to their lines, what is wrong with a
	// refused configuration, and the topic to a line about a wrong status. They may contain text of services and of models.
	// The log has no other texts of a debate.
	LogTexts bool
}

// Step is what an engine does in a debate: a drive, which is the time in which one engine drives the debate without a
// pause; a step within it, which gives a turn; an attempt at that step, which is one call of a model; or a call of a tool in
// the step, after an attempt. The Number is 0 if it is neither an attempt nor a call of a tool, and the Key is zero too if it
// is a drive.
type Step struct {
	Debate string // ID of the debate
	Attempt
	Tool     string // the name of the tool that is called; empty if it is no such call. The Number is that of the attempt that asked for it
	Provider string // of an attempt: the provider's name in Options
	Model    string // of an attempt: the model that is requested; empty for the provider's own choice
}

// StepFrom returns the attempt that a provider is called for, or the call of a tool. ctx is the context of the call, or
// derived from it. It returns false if no debate makes the call.
func StepFrom(ctx context.Context) (Step, bool) {
	a, ok := ctx.Value(attemptKey{}).(*attemptContext)
	if !ok {
		return Step{}, false
	}
	return a.Step, true
}

type attemptKey struct{}

// attemptContext is the context of a call. It also holds the attempt for events, so that both take one allocation.
type attemptContext struct {
	context.Context
	Step
}

// Value returns the attempt for StepFrom, and otherwise what the step's context holds.
func (a *attemptContext) Value(key any) any {
	if key == (attemptKey{}) {
		return a
	}
	return a.Context.Value(key)
}

// Outcome is how a drive, a step or an attempt ended. Do not modify what it refers to.
type Outcome struct {
	Err    error        // why it failed; nil if it did not
	Status store.Status // of a drive: the debate afterwards, as far as the engine knows it
	// Turn is the turn that a step gives, with its attempts. It is committed afterwards, unless another process was first
	// or the debate has moved on. It is nil if the step failed.
	Turn     *transcript.Turn
	Attempt  *transcript.Attempt // the attempt as its turn will show it
	Request  *providers.Request  // what the model was asked in an attempt, without OnChunk
	Response *providers.Response // what it replied, or the part that was received
	Call     *tool.Record        // a call of a tool, with its result
}

// Observer observes what an engine does. Use it for telemetry and metrics. A function that panics is logged and does no
// harm to the debate.
type Observer struct {
	// Begin is called before each drive, step, attempt and call of a tool, and the function that it returns is called
	// afterwards, always and once. The context that it returns must derive from ctx. It is the context of everything within:
	// that of a drive is passed to the steps, that of a step to the attempts and the tools' calls, that of an attempt to the
	// provider, and that of a call to the tool. Begin delays the debate as long as it runs. Steps of a parallel phase begin at
	// the same time, and so do calls of tools. Begin may be nil, and may return nil for both.
	Begin func(ctx context.Context, s Step) (context.Context, func(Outcome))
	// Commit is called with each durable event that this engine has committed, before anything follows from it, and in the
	// order of the debate. A Warning about it precedes it. ctx is that of the control or of the drive. Commit delays the
	// debate as long as it runs, and must not call methods of the debate. It may be nil.
	Commit func(ctx context.Context, id string, ev Event)
	// Event is called with each event of what this engine does in a debate, live or stored, in the order of the debate, and
	// never at the same time as another. It runs on a goroutine of its own and does not delay the debate. If it is too slow,
	// it misses live events; a Warning says how many. It misses no stored event. Engine.Close waits until Event has had all
	// of them. Event may be nil.
	Event func(id string, ev Event)
	// MaxQueue is the number of events that wait for Event before live ones are dropped. Defaults to 1,000.
	MaxQueue int
}

// defaultMaxQueue applies if Observer.MaxQueue is not set.
const defaultMaxQueue = 1000

// reporter reports what an engine does: to the log, and to the observer.
type reporter struct {
	log    *slog.Logger
	texts  bool // the log has messages of services
	begin  func(context.Context, Step) (context.Context, func(Outcome))
	commit func(ctx context.Context, id string, ev Event)
	queue  *spool.Queue[Event] // nil if no observer wants events
	// commits are held during a commit to a debate, so that the observer gets events in the order of the journal.
	commits admission.Locks
}

// ordered reports whether an observer is told of commits.
func (p *reporter) ordered() bool { return p.queue != nil || p.commit != nil }

func (p *reporter) committed(ctx context.Context, id string, ev Event) {
	if p.log.Enabled(ctx, slog.LevelError) { // a logger that writes no errors writes nothing
		p.logStored(ctx, id, ev)
	}
	if p.commit != nil {
		for _, w := range warningsOf(ev) {
			p.guard(id, func() {
				p.commit(ctx, id, restamp(w, ev.Meta().Seq-1))
			})
		}
		p.guard(id, func() { p.commit(ctx, id, ev) })
	}
	p.queue.Add(id, ev, ev.Meta().Seq)
}

// live reports a live event of a debate that is driven. It follows what was queued before it.
func (p *reporter) live(id string, ev Event) {
	if p.queue == nil {
		return
	}
	p.queue.AddLive(id, func(seq int64) Event { return restamp(ev, seq) })
}

// observe begins a drive, a step or an attempt. The function that it returns ends it; it is nil if nobody observes.
func (p *reporter) observe(ctx context.Context, s Step) (context.Context, func(Outcome)) {
	if p.begin == nil {
		return ctx, nil
	}
	return p.callBegin(ctx, s) // another function, because its results are on the heap
}

func (p *reporter) callBegin(ctx context.Context, s Step) (within context.Context, end func(Outcome)) {
	p.guard(s.Debate, func() { within, end = p.begin(ctx, s) })
	if within == nil {
		within = ctx
	}
	called := end
	return within, func(o Outcome) {
		if called != nil {
			p.guard(s.Debate, func() { called(o) })
		}
	}
}

// guard calls a function of the observer. It logs a panic.
func (p *reporter) guard(id string, f func()) {
	failed := panics.Call(f)
	if err, panicked := errors.AsType[*panics.Error](failed); panicked {
		p.log.Error("observer panicked", "debate", id, "error", err, "stack", err.Stack)
	}
}

// logStored writes a line for a transition, each failure and each warning.
func (p *reporter) logStored(ctx context.Context, id string, ev Event) {
	if done, ok := ev.(TurnDone); ok && !p.texts {
		ev = p.logProviders(ctx, id, done)
	}
	for _, w := range warningsOf(ev) {
		p.log.WarnContext(ctx, "warning", "debate", id, "step", w.Key.String(), "text", w.Text)
	}
	if ev, ok := ev.(StateChanged); ok {
		p.log.InfoContext(
			ctx,
			"transition",
			"debate",
			id,
			"seq",
			ev.Seq,
			"from",
			ev.From,
			"on",
			ev.On,
			"to",
			ev.To,
			"round",
			ev.Round,
		)
	}
	for _, f := range journal.Failures(ev) {
		p.log.ErrorContext(ctx, "step failed", p.with(
			f.Message,
			"debate",
			id,
			"step",
			f.Key.String(),
			"kind",
			f.Kind,
			"provider",
			f.Provider,
			"model",
			f.Model,
			"attempts",
			f.Attempts,
		)...)
	}
}

// with adds a message to attributes of a line, if the log has texts.
func (p *reporter) with(message string, attrs ...any) []any {
	if p.texts {
		attrs = append(attrs, "message", message)
	}
	return attrs
}

// logProviders writes a line for each warning of a provider, without its text, which may quote the service. It returns the
// turn without them.
func (p *reporter) logProviders(ctx context.Context, id string, done TurnDone) TurnDone {
	done.Turn.Attempts = slices.Clone(done.Turn.Attempts)
	for i := range done.Turn.Attempts {
		a := &done.Turn.Attempts[i]
		for range a.Warnings {
			p.log.WarnContext(
				ctx,
				"warning of a provider",
				"debate",
				id,
				"step",
				done.Turn.Key.String(),
				"provider",
				a.Provider,
				"model",
				a.Model,
			)
		}
		a.Warnings = nil
	}
	return done
}

// shown returns what the log shows of an error that no caller sees. The messages of failures, and what is wrong with a
// configuration, may quote a service or the debate. Unless texts are wanted, the kind or the fields stand for them.
func (p *reporter) shown(err error) any {
	if p.texts {
		return err
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Kind
	}
	if e, ok := errors.AsType[*providers.Error](err); ok {
		return e.Kind
	}
	wrong, ok := errors.AsType[*Problems](err)
	if !ok {
		return err
	}
	var fields []string
	for _, w := range wrong.List {
		fields = append(fields, w.Field)
	}
	return "wrong fields: " + strings.Join(fields, ", ")
}

func (p *reporter) logAttempt(ctx context.Context, id string, ev TurnFailed) {
	if !p.log.Enabled(ctx, slog.LevelWarn) {
		return
	}
	attrs := p.with(
		ev.Message,
		"debate",
		id,
		"step",
		ev.Key.String(),
		"attempt",
		ev.Number,
		"kind",
		ev.Error,
	)
	switch {
	case ev.RetryIn < 0:
		p.log.WarnContext(ctx, "attempt failed, no retry", attrs...)
	case ev.Doubtful:
		p.log.WarnContext(ctx, "reply is doubtful, asked once more", attrs...)
	default:
		p.log.WarnContext(ctx, "attempt failed, retry", append(attrs, "retry_in", ev.RetryIn)...)
	}
}

func (p *reporter) logTool(ctx context.Context, s Step, call *tool.Record, err error) {
	attrs := p.with(
		err.Error(),
		"debate",
		s.Debate,
		"step",
		s.Key.String(),
		"tool",
		s.Tool,
		"call",
		call.ID,
		"kind",
		call.Error,
	)
	if f, ok := errors.AsType[*panics.Error](err); ok {
		attrs = append(attrs, "stack", f.Stack)
	}
	p.log.WarnContext(ctx, "tool failed", attrs...)
}

// kind implements live.Kind.
type kind struct{}

func (kind) Seq(ev Event) (seq int64, live bool) {
	m := ev.Meta()
	return m.Seq, m.Live
}

func (kind) Restamp(ev Event, seq int64) Event { return restamp(ev, seq) }

func (kind) Warnings(ev Event) (list []Event) {
	for _, w := range warningsOf(ev) {
		list = append(list, w)
	}
	return list
}

func (kind) Step(ev Event) (key transcript.Key, done bool) {
	if t, ok := ev.(TurnDone); ok {
		return t.Turn.Key, true
	}
	return stepOf(ev), false
}

// stepOf returns the key of the step that a live event is about. It is zero if there is none.
func stepOf(ev Event) (k transcript.Key) {
	switch ev := ev.(type) {
	case TurnStarted:
		return ev.Key
	case Chunk:
		return ev.Key
	}
	return k
}

// Engine drives debates. One engine can drive many. It is safe for concurrent use.
type Engine struct {
	providers     clients.Providers
	store         readableStore
	schedules     bool // the store has workers drive debates
	protocols     *protocols.Registry
	sets          map[string]*prompts.Set // templates of prompts, by Config.Prompts
	replies       map[string]*reply.Contract
	tools         toolcall.Set
	extractAnswer func(transcript.Turn) string
	documents     func(ctx context.Context, id string, labels map[string]string, d evidence.Document) (string, error)
	counter       window.TokenCounter
	heartbeats    *heartbeat.Keeper
	log           *slog.Logger
	env           *core.Environment // of all records
	answers       step.Answers
	reports       *reporter
	keepReasoning bool
	keepReplies   bool
	audits        []measured.Record
	signer        note.Signer
	admission     admission.Queue
	drivers       admission.Drivers
	feeds         live.Feeds[Event]

	ctx     context.Context // ends when Close stops waiting
	cancel  context.CancelCauseFunc
	closing chan struct{}

	mu       sync.Mutex
	recovery *time.Timer // of the next look for debates that nobody drives; nil before Recover
}

// environment returns what records need of the engine.
func (e *Engine) environment() *core.Environment {
	env := *core.NoEnvironment
	env.Parse = e.parse
	env.Sets = e.sets
	env.ExtractAnswer = e.extractAnswer
	env.Identify = e.providers.Identify
	env.Audits = e.audits
	env.Bind = e.providers.Bind
	env.Tools = e.tools.Named
	env.Contract = func(name string) *reply.Contract {
		return e.replies[name]
	}
	env.Rules = &Rules{
		Number:    core.RulesNumber,
		Counter:   naming.OfType(e.counter),
		Extractor: naming.OfFunction(e.extractAnswer),
	}
	env.Texts = &sources.Texts{}
	if e.counter != nil {
		env.Count = e.counter.Count
	}
	return &env
}

// ParseConfig decodes a configuration from JSON. The protocol's name may have no version; it then means the newest one
// that the engine knows. ParseConfig returns *Problems if a field is unknown or has a value of the wrong type, or if the
// engine does not know the protocol.
func (e *Engine) ParseConfig(b []byte) (c Config, err error) {
	var raw json.RawMessage
	err = json.Unmarshal(b, &raw)
	if err == nil {
		err = journal.DecodeConfig(raw, &c, e.protocols, "add it to Options.Protocols")
	}
	if err != nil {
		return Config{}, fmt.Errorf("parse configuration: %w", err)
	}
	return c, nil
}

// parse decodes a stored configuration. It accepts an unknown protocol: such a debate can be read but not driven. It rejects
// unknown fields.
func (e *Engine) parse(b json.RawMessage) (c Config, err error) {
	c, encoded, err := journal.StoredConfig(b)
	if err != nil {
		return Config{}, err
	}
	c.Protocol, err = e.protocols.Decode(c.ID, encoded, protocols.Has)
	return c, err
}

// clientsOf returns the actors of a configuration whose providers the engine has, with their providers.
func (e *Engine) clientsOf(c *Config) []clients.Actor {
	list := make([]clients.Actor, 0, len(c.Participants)+len(c.Judges)+len(c.Substitutes)+len(actor.System))
	for field, p := range c.Actors() {
		name, client, err := e.providers.Bind(p.Provider)
		if err != nil {
			continue
		}
		x := clients.Actor{
			Field:    field,
			Seat:     cmp.Or(p.Name, field),
			Provider: name,
			Client:   client,
			Request:  p.Request(),
			Window:   p.Window,
			Inherits: actor.Inherits(field),
			NoText:   actor.MakesNoText(actor.NameIn(field, p.Name)) || p.Human,
		}
		if !x.NoText {
			x.Request.Messages = prompting.AttachmentMessage(core.AttachmentsSeen(c, field, p.Name), nil)
			x.Request.Tools, _ = e.tools.Named(p.Tools) // the names are checked elsewhere
		}
		list = append(list, x)
	}
	return list
}

func (e *Engine) asker() clients.Asker {
	return clients.Asker{Log: e.log, Shown: e.reports.shown}
}

// knownWindows returns the windows of StateChanged.Windows for a configuration.
func (e *Engine) knownWindows(ctx context.Context, c *Config) map[string]int {
	return e.asker().Windows(ctx, e.clientsOf(c))
}

// A watchedStore can be watched.
type watchedStore interface {
	store.Store
	store.Watcher
}

// A readableStore loads only journals that the engine can read.
type readableStore struct{ watchedStore }

// Load implements store.Store. It returns a *NewerFormat if an entry has a newer format. A status alone does not decide, because it
// may be wrong; it only says that the entry may be an earlier one.
func (s readableStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := s.watchedStore.Load(ctx, id, after)
	all := entries
	if err == nil && after > 0 && status.Format > store.Format {
		_, all, err = s.watchedStore.Load(ctx, id, 0)
	}
	if err != nil {
		return store.Status{}, nil, err
	}
	for i := range all {
		if n := formatIn(&all[i]); n > store.Format {
			return store.Status{}, nil, &NewerFormat{
				ID:     id,
				Format: n,
			}
		}
	}
	return status, entries, nil
}

// formatIn returns the format in an entry. It returns 0 if the entry has no configuration, or cannot be read.
func formatIn(e *store.Entry) int {
	if e.Type != "config" {
		return 0
	}
	var c struct {
		Format int `json:"format"`
	}
	switch data := e.Data.(type) {
	case ConfigChanged:
		c.Format = data.Format
	case json.RawMessage:
		if json.Unmarshal(data, &c) != nil {
			return 0
		}
	}
	return c.Format
}

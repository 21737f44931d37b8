package debate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/admission"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/embedding"
	"github.com/elenchus-go/debate/internal/heartbeat"
	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/protocoljson"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/judge/measured"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// missingNames returns a problem for each name in a configuration that the engine does not know.
func (e *Engine) missingNames(c Config) []protocol.Problem {
	l := &problemList{}
	if u, ok := c.Protocol.(unknownProtocol); ok {
		l.add("protocol.name", "%q is unknown to this engine, use one of %s", u.name, strings.Join(slices.Sorted(maps.Keys(e.protocols.Known())), ", "))
	}
	for i, rule := range c.Detect {
		if rule.EffectiveMethod() == "answers" && e.extractAnswer == nil {
			l.add(fmt.Sprintf("detect[%d]", i), "%s compares answers, set Options.ExtractAnswer to find them", rule.Signal)
		}
	}
	if e.sets[c.Prompts] == nil {
		l.add("prompts", "%q is unknown to this engine, add it to Options.PromptSets", c.Prompts)
	}
	if e.documents == nil && privateOnes(c.Documents) != nil {
		l.add("documents", "some are private: give their texts in Options.Documents")
	}
	told := map[string]bool{}
	for field, p := range c.allActors() {
		if _, missing := e.tools.Named(p.Tools); missing != nil {
			l.add(field+".tools", "this engine lacks %s, see Options.Tools", naming.Enumerate(missing, len(missing)))
		}
		_, _, err := e.bind(p.Provider)
		if err == nil || inheritsModel(field) && (told[p.Provider] || p.Provider == "") {
			continue // an inherited provider is already reported
		}
		l.add(field+".provider", "%v", err)
		told[p.Provider] = true
	}
	return append(l.problems, unrepeatable(e, &c)...)
}

// supports returns an ErrUnsupported if the engine lacks something that a debate needs to be driven. A debate that does
// not run needs nothing.
func (e *Engine) supports(r *record) error {
	if s := r.lifecycle.State; e.namesAll(r.config) || !s.Active() && s != fsm.Configuring && s != fsm.Ready {
		return nil
	}
	var missing []string
	for _, p := range e.missingNames(*r.config) {
		missing = append(missing, p.String())
	}
	if missing == nil {
		return nil
	}
	return &unsupported{missing}
}

// namesAll reports whether a configuration names only what the engine has. It allocates nothing. If it returns false,
// missingNames may still find nothing missing.
func (e *Engine) namesAll(c *Config) bool {
	_, unknown := c.Protocol.(unknownProtocol)
	missing := func(p Participant) bool {
		return e.providers[p.Provider] == nil && p.Provider != templatesProvider && p.Provider != actor.Human || len(p.Tools) > 0 && !e.tools.Has(p.Tools)
	}
	return !unknown && (len(c.Documents) == 0 || e.documents != nil) && e.sets[c.Prompts] != nil && (len(c.Detect) == 0 || e.extractAnswer != nil) &&
		(len(c.Documents) == 0 || !usesTools(c)) && !slices.ContainsFunc(c.Participants, missing) && !slices.ContainsFunc(c.Judges, missing) && !slices.ContainsFunc(c.Substitutes, missing) &&
		!missing(c.PersonaAssigner) && !missing(c.Summarizer) && !missing(c.Retriever) && (c.Embedder.Provider == "" || !missing(c.Embedder))
}

// bind returns the provider with the given name. If the name is empty, it returns the engine's only provider.
func (e *Engine) bind(name string) (string, providers.Provider, error) {
	if p := e.providers[name]; p != nil {
		return name, p, nil
	}
	switch name {
	case templatesProvider:
		return name, builtInRetriever, nil
	case actor.Human:
		return name, person{}, nil
	}
	if name == "" && len(e.providers) == 1 {
		for only, p := range e.providers {
			return only, p, nil
		}
	}
	known := slices.Sorted(maps.Keys(e.providers))
	switch {
	case len(known) == 0:
		return "", nil, errors.New("the engine has no providers, set Options.Providers")
	case name == "":
		return "", nil, fmt.Errorf("it is empty, use one of %s", strings.Join(known, ", "))
	}
	return "", nil, fmt.Errorf("%q is unknown, use one of %s", name, strings.Join(known, ", "))
}

// identify returns the name of the provider that a possibly empty name refers to, and whether a person gives its
// replies.
func (e *Engine) identify(name string) (bound string, person bool) {
	bound, p, err := e.bind(name)
	if err != nil {
		return name, false
	}
	h, ok := p.(providers.Person)
	return bound, ok && h.IsPerson()
}

// Engine drives debates. One engine can drive many. It is safe for concurrent use.
type Engine struct {
	providers map[string]providers.Provider
	store     interface {
		store.Store
		store.Watcher
	}
	schedules     bool // the store has workers drive debates
	protocols     *protocoljson.Registry
	sets          map[string]*prompts.Set // templates of prompts, by Config.Prompts
	replies       map[string]*reply.Contract
	tools         toolcall.Set
	extractAnswer func(transcript.Turn) string
	documents     func(ctx context.Context, id string, labels map[string]string, d evidence.Document) (string, error)
	counter       window.TokenCounter
	heartbeats    *heartbeat.Keeper
	log           *slog.Logger
	env           *environment // of all records
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

// contracts returns the contracts of all replies that the presets and the engine request.
func contracts() []*reply.Contract {
	return []*reply.Contract{
		judge.AssessmentContract, judge.VerdictContract, protocol.PersonasContract, embedding.Contract, skeptic.DocumentsContract,
		refine.CritiqueContract, refine.SummaryContract, refine.SolutionContract, arbitration.ArgumentContract, arbitration.RulingContract,
		procon.JudgmentContract, panel.AudienceContract, vote.BallotContract, vote.RulingContract, council.RankingContract, council.AnswerContract,
		mad.ModerationContract, mad.CandidatesContract, mad.DecisionContract, pairwise.Contract, decision.Contract,
		oversight.CredenceContract, oversight.ChoiceContract,
	}
}

// environment returns what records need of the engine.
func (e *Engine) environment() *environment {
	env := *noEnvironment
	env.parse, env.sets, env.extractAnswer, env.identify, env.audits = e.parse, e.sets, e.extractAnswer, e.identify, e.audits
	env.Bind, env.Tools = e.bind, e.tools.Named
	env.Contract = func(name string) *reply.Contract { return e.replies[name] }
	env.rules = &Rules{Number: rulesNumber, Counter: naming.OfType(e.counter), Extractor: naming.OfFunction(e.extractAnswer)}
	env.texts = &sources.Texts{}
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
	if err = json.Unmarshal(b, &raw); err == nil {
		l := &problemList{}
		decodeStrict(l, raw, &c, e.protocols.Known(), "add it to Options.Protocols")
		err = problemsError(l.problems)
	}
	if err != nil {
		return Config{}, fmt.Errorf("parse configuration: %w", err)
	}
	return c, nil
}

// parse decodes a stored configuration. It accepts an unknown protocol: such a debate can be read but not driven. Unless
// a newer version of the library wrote the configuration, it rejects unknown fields.
func (e *Engine) parse(b json.RawMessage, newer bool) (c Config, err error) {
	w := configJSON{plainConfig: (*plainConfig)(&c)}
	unknown, err := strictjson.Unmarshal(b, &w)
	if err == nil && !newer {
		err = unknown
	}
	if err != nil {
		return Config{}, err
	}
	c.Limits = Limits(w.Limits.Limits())
	c.Participants, c.Judges = slices.Clone(c.Participants), slices.Clone(c.Judges) // without the room that decoding leaves
	if isNull(w.Protocol) {
		return c, nil
	}
	p, name, err := e.protocols.Decode(c.ID, w.Protocol, func(known protocol.Protocol) bool { return !newer && isPreset(known) })
	switch {
	case err != nil && name == "":
		return Config{}, fmt.Errorf("protocol.name: %w", err)
	case err != nil:
		return Config{}, fmt.Errorf("protocol %s: %w", name, err)
	}
	if c.Protocol = p; p == nil {
		c.Protocol = unknownProtocol{name: name}
	}
	return c, nil
}

// reserve marks a debate as driven by this engine until release is called. It returns ErrBusy if the engine already
// drives the debate.
func (e *Engine) reserve(id string) (release func(), err error) {
	if release = e.drivers.Enter(id); release != nil {
		return release, nil
	}
	if err = ErrBusy; e.drivers.Closed() {
		err = ErrClosed
	}
	return nil, fmt.Errorf("drive debate %s: %w", id, err)
}

// unrepeatable returns a problem for each actor with a tool that it cannot have, because it reads a private document: the
// journal has no call of its steps, so that a step that was interrupted calls its tools again.
func unrepeatable(e *Engine, c *Config) []protocol.Problem {
	if len(c.Documents) == 0 || !usesTools(c) {
		return nil
	}
	l := &problemList{}
	for field, p := range c.allActors() {
		if len(p.Tools) == 0 || privateOnes(documentsFor(c, p.Name)) == nil {
			continue
		}
		for _, name := range p.Tools {
			if t := e.tools[name]; t != nil && (t.Spec.Once || t.Spec.Approval) {
				l.add(field+".tools", "%q must be repeatable and need no approval, because %s reads a private document: remove the tool or the reader", name, p.Name)
			}
		}
	}
	return l.problems
}

// clientsOf returns the actors of a configuration whose providers the engine has, with their providers.
func (e *Engine) clientsOf(c *Config) []clients.Actor {
	list := make([]clients.Actor, 0, len(c.Participants)+len(c.Judges)+len(c.Substitutes)+len(systemActors))
	for field, p := range c.allActors() {
		name, client, err := e.bind(p.Provider)
		if err != nil {
			continue
		}
		x := clients.Actor{
			Field: field, Seat: seatOf(field, p), Provider: name, Client: client, Request: p.request(), Window: p.Window,
			Inherits: inheritsModel(field), NoText: makesNoText(actorOf(field, p)) || p.Human,
		}
		if !x.NoText {
			x.Request.Messages = prompting.AttachmentMessage(attachmentsSeen(c, field, p), nil)
			x.Request.Tools, _ = e.tools.Named(p.Tools) // the names are checked elsewhere
		}
		list = append(list, x)
	}
	return list
}

// asker asks the providers of an engine.
func (e *Engine) asker() clients.Asker { return clients.Asker{Log: e.log, Shown: e.reports.shown} }

// knownWindows returns the windows of StateChanged.Windows for a configuration.
func (e *Engine) knownWindows(ctx context.Context, c *Config) map[string]int {
	return e.asker().Windows(ctx, e.clientsOf(c))
}

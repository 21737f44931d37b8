package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/elenchus-go/debate/journal"

	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/admission"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/heartbeat"
	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/judge/measured"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// missingNames returns a problem for each name in a configuration that the engine does not know.
func (e *Engine) missingNames(s seatSettings) []protocol.Problem {
	c := s.config
	l := &problemList{}
	if u, ok := c.Protocol.(protocols.Unknown); ok {
		l.add("protocol.name", "%q is unknown to this engine, use one of %s", u.Name(), e.protocols.Names())
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
	for field, p := range c.Actors() {
		if _, missing := e.tools.Named(p.Tools); missing != nil {
			l.add(field+".tools", "this engine lacks %s, see Options.Tools", naming.Enumerate(missing, len(missing)))
		}
		_, _, err := e.providers.Bind(p.Provider)
		if err == nil || actor.Inherits(field) && (told[p.Provider] || p.Provider == "") {
			continue // an inherited provider is already reported
		}
		l.add(field+".provider", "%v", err)
		told[p.Provider] = true
	}
	return append(l.problems, unrepeatable(e, s)...)
}

// supports returns an ErrUnsupported if the engine lacks something that a debate needs to be driven. A debate that does
// not run needs nothing.
func (e *Engine) supports(r *record) error {
	if s := r.lifecycle.State; e.namesAll(r.config) ||
		!s.Active() && s != fsm.Configuring && s != fsm.Ready {
		return nil
	}
	var missing []string
	for _, p := range e.missingNames(r.seats()) {
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
	_, unknown := c.Protocol.(protocols.Unknown)
	missing := func(p Participant) bool {
		return !e.providers.Has(p.Provider) || len(p.Tools) > 0 && !e.tools.Has(p.Tools)
	}
	return !unknown && (len(c.Documents) == 0 || e.documents != nil) && e.sets[c.Prompts] != nil &&
		(len(c.Detect) == 0 || e.extractAnswer != nil) &&
		(len(c.Documents) == 0 || !usesTools(c)) && !slices.ContainsFunc(c.Participants, missing) &&
		!slices.ContainsFunc(c.Judges, missing) && !slices.ContainsFunc(c.Substitutes, missing) &&
		!missing(c.PersonaAssigner) && !missing(c.Summarizer) && !missing(c.Retriever) &&
		(c.Embedder.Provider == "" || !missing(c.Embedder))
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

// environment returns what records need of the engine.
func (e *Engine) environment() *environment {
	env := *noEnvironment
	env.parse = e.parse
	env.sets = e.sets
	env.extractAnswer = e.extractAnswer
	env.identify = e.providers.Identify
	env.audits = e.audits
	env.Bind = e.providers.Bind
	env.Tools = e.tools.Named
	env.Contract = func(name string) *reply.Contract { return e.replies[name] }
	env.rules = &Rules{
		Number:    rulesNumber,
		Counter:   naming.OfType(e.counter),
		Extractor: naming.OfFunction(e.extractAnswer),
	}
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

// unrepeatable returns a problem for each actor with a tool that it cannot have, because it reads a private document: the
// journal has no call of its steps, so that a step that was interrupted calls its tools again.
func unrepeatable(e *Engine, s seatSettings) []protocol.Problem {
	c := s.config
	if len(c.Documents) == 0 || !usesTools(c) {
		return nil
	}
	l := &problemList{}
	for field, p := range c.Actors() {
		if len(p.Tools) == 0 || privateOnes(s.DocumentsOf(p.Name)) == nil {
			continue
		}
		for _, name := range p.Tools {
			if t := e.tools[name]; t != nil && (t.Spec.Once || t.Spec.Approval) {
				l.add(
					field+".tools",
					"%q must be repeatable and need no approval, because %s reads a private document: remove the tool or the reader",
					name,
					p.Name,
				)
			}
		}
	}
	return l.problems
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
			x.Request.Messages = prompting.AttachmentMessage(attachmentsSeen(c, field, p.Name), nil)
			x.Request.Tools, _ = e.tools.Named(p.Tools) // the names are checked elsewhere
		}
		list = append(list, x)
	}
	return list
}

func (e *Engine) asker() clients.Asker { return clients.Asker{Log: e.log, Shown: e.reports.shown} }

// knownWindows returns the windows of StateChanged.Windows for a configuration.
func (e *Engine) knownWindows(ctx context.Context, c *Config) map[string]int {
	return e.asker().Windows(ctx, e.clientsOf(c))
}

// Code names the rules, protocols, contracts, tools and templates with which a debate was run, as far as they are not in its
// configuration.
type Code struct {
	// Rules lists those of the engines that wrote the entries, with the names of their own counters and extractors.
	Rules []Rules `json:"rules,omitempty"`
	// Protocols, Contracts and Tools are the names of those that are not of the library.
	Protocols []string `json:"protocols,omitempty"`
	Contracts []string `json:"contracts,omitempty"`
	Tools     []string `json:"tools,omitempty"`
	// Templates holds the texts of the templates of prompts, if the engine has them.
	Templates []prompts.Texts `json:"templates,omitempty"`
	// Lacks says in words which of these the engine does not have, such as "the contract claim".
	Lacks []string `json:"-"`
}

// add adds what an entry names.
func (c *Code) add(e *Engine, ev Event) {
	if is := ev.Meta().Rules; is != nil && !slices.Contains(c.Rules, *is) {
		c.Rules = append(c.Rules, *is)
		ours := e.env.rules
		c.lack(is.Number == ours.Number, "the rules with number", fmt.Sprint(is.Number))
		c.lack(is.Counter == ours.Counter || is.Counter == "", "the counter of tokens", is.Counter)
		c.lack(is.Extractor == ours.Extractor ||
			is.Extractor == "", "the extractor of answers", is.Extractor)
	}
	contract := ""
	switch ev := ev.(type) {
	case ConfigChanged:
		cfg, err := e.parse(ev.Config)
		if err != nil || cfg.Protocol == nil {
			return
		}
		_, unknown := cfg.Protocol.(protocols.Unknown)
		c.name(&c.Protocols, "the protocol", cfg.Protocol.Name(), !unknown, protocols.Has(cfg.Protocol))
		for _, p := range cfg.Actors() {
			for _, tool := range p.Tools {
				c.name(&c.Tools, "the tool", tool, e.tools[tool] != nil, false)
			}
		}
	case Asked:
		contract = ev.Contract
	case TurnDone:
		contract = ev.Turn.Contract
		c.addTemplates(e, ev.Templates)
	}
	ours := slices.ContainsFunc(protocols.Contracts(), func(k *reply.Contract) bool { return k.Name() == contract })
	c.name(&c.Contracts, "the contract", contract, e.replies[contract] != nil, ours || contract == "")
}

// name adds a name to a list, unless the library has it.
func (c *Code) name(list *[]string, kind, name string, has, ours bool) {
	if !ours && !slices.Contains(*list, name) {
		*list = append(*list, name)
		c.lack(has, kind, name)
	}
}

// lack notes what the engine does not have.
func (c *Code) lack(has bool, kind, name string) {
	if text := kind + " " + name; !has && !slices.Contains(c.Lacks, text) {
		c.Lacks = append(c.Lacks, text)
	}
}

func (c *Code) addTemplates(e *Engine, version string) {
	has := func(version string) bool {
		return slices.ContainsFunc(c.Templates, func(t prompts.Texts) bool { return t.Version == version })
	}
	if version == "" || has(version) {
		return
	}
	set := e.env.templates(version)
	c.lack(set != nil, "the templates", version)
	if set == nil {
		return
	}
	for _, t := range set.Texts() {
		if !has(t.Version) {
			c.Templates = append(c.Templates, t)
		}
	}
}

// templates returns the set with a version, or nil if the engine does not have it.
func (e *environment) templates(version string) *prompts.Set {
	for _, s := range e.sets {
		if s.Version() == version {
			return s
		}
	}
	return nil
}

// useTemplates makes the prompts of the record be made from the templates with a version, if the engine has them under any name.
// restore takes that back.
func useTemplates(r *record, version string) (restore func()) {
	was := r.Settings.Templates
	set := r.env.templates(version)
	if set == nil || was.Version() == version {
		return func() {}
	}
	use := func(s *prompts.Set) {
		r.Settings.Templates = s
		r.Forget()
	}
	use(set)
	return func() { use(was) }
}

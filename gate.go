package debate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/internal/core"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/attachment"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/userinput"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// This file is the gate of an engine: what is wrong with a configuration, and what the engine lacks to drive a debate with it.

// problems returns a configuration with its defaults filled in, and everything that is wrong with it on this engine. If drives is
// set, that includes what the engine lacks. Otherwise another engine may have it.
func (e *Engine) problems(c Config, drives bool) (Config, []protocol.Problem) {
	c, found := e.withDefaults(c)
	s := core.Seats{Config: &c}
	if drives {
		return c, append(found, e.lacks(s)...)
	}
	return c, append(found, e.unrepeatable(s)...)
}

// lacks returns what the engine lacks to drive a debate with a configuration: one problem for each field that names something
// unknown, and those of unrepeatable tools. It does not read private documents; readDocument does.
func (e *Engine) lacks(s core.Seats) []protocol.Problem {
	c := s.Config
	l := &core.ProblemList{}
	if u, ok := c.Protocol.(protocols.Unknown); ok {
		l.Add("protocol.name", "%q is unknown to this engine, use one of %s", u.Name(), e.protocols.Names())
	}
	for i, rule := range c.Detect {
		if rule.EffectiveMethod() == "answers" && e.extractAnswer == nil {
			l.Add(fmt.Sprintf("detect[%d]", i), "%s compares answers, set Options.ExtractAnswer to find them", rule.Signal)
		}
	}
	if e.sets[c.Prompts] == nil {
		l.Add("prompts", "%q is unknown to this engine, add it to Options.PromptSets", c.Prompts)
	}
	if e.documents == nil && core.PrivateOnes(c.Documents) != nil {
		l.Add("documents", "some are private: give their texts in Options.Documents")
	}
	told := map[string]bool{}
	for field, p := range c.Actors() {
		if _, missing := e.tools.Named(p.Tools); missing != nil {
			l.Add(field+".tools", "this engine lacks %s, see Options.Tools", naming.Enumerate(missing, len(missing)))
		}
		_, _, err := e.providers.Bind(p.Provider)
		if err == nil || actor.Inherits(field) && (told[p.Provider] || p.Provider == "") {
			continue // an inherited provider is already reported
		}
		l.Add(field+".provider", "%v", err)
		told[p.Provider] = true
	}
	return append(l.Problems, e.unrepeatable(s)...)
}

// unrepeatable returns a problem for each actor with a tool that it cannot have, because it reads a private document: the
// journal has no call of its steps, so that a step that was interrupted calls its tools again.
func (e *Engine) unrepeatable(s core.Seats) []protocol.Problem {
	c := s.Config
	if len(c.Documents) == 0 || !core.UsesTools(c) {
		return nil
	}
	l := &core.ProblemList{}
	for field, p := range c.Actors() {
		if len(p.Tools) == 0 || core.PrivateOnes(s.DocumentsOf(p.Name)) == nil {
			continue
		}
		for _, name := range p.Tools {
			if t := e.tools[name]; t != nil && (t.Spec.Once || t.Spec.Approval) {
				l.Add(
					field+".tools",
					"%q must be repeatable and need no approval, because %s reads a private document: remove the tool or the reader",
					name,
					p.Name,
				)
			}
		}
	}
	return l.Problems
}

// unreadable makes an ErrUnsupported about a private document that this engine cannot read. Its message leaves out that of the
// cause, which may quote the text.
type unreadable struct {
	core.Unsupported

	cause error
}

func (u *unreadable) Unwrap() []error { return []error{&u.Unsupported, u.cause} }

// readDocument returns the text of a private document from Options.Documents, or an ErrUnsupported.
func (e *Engine) readDocument(ctx context.Context, id string, labels map[string]string, d evidence.Document) (text string, err error) {
	unread := func(reason string, cause error) error {
		missing := fmt.Sprintf("document %q: %s", d.Name, reason)
		return &unreadable{
			Unsupported: core.Unsupported{Missing: []string{missing}},
			cause:       cause,
		}
	}
	if e.documents == nil {
		return "", unread("it is private, set Options.Documents", nil)
	}
	panicked := panics.Call(func() {
		text, err = e.documents(ctx, id, maps.Clone(labels), d)
	})
	switch {
	case panicked != nil: // it may quote the text
		return "", unread("Options.Documents panicked", nil)
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", unread("Options.Documents does not give its text", err)
	case !d.Matches(text):
		return "", unread("the text that Options.Documents gives has another size or another SHA-256", nil)
	}
	return text, nil
}

// tellLack tells the store what the engine lacks to drive a debate, if err is an ErrUnsupported.
func (e *Engine) tellLack(ctx context.Context, id string, err error) {
	e.heartbeats.Lack(ctx, id, missingIn(err))
}

// withDefaults returns a copy of the configuration with all defaults filled in, and every problem with it. A debate
// stores its defaults, so that later versions of the library do not change them. Windows that are known only when the debate starts
// remain 0.
func (e *Engine) withDefaults(c Config) (Config, []protocol.Problem) {
	env := e.env
	l := &core.ProblemList{}
	if protocols.IsNil(c.Protocol) {
		l.Add("protocol", "it is a nil pointer of type %T, use a value", c.Protocol)
		return c, l.Problems
	}
	c = deepcopy.Of(c)
	c.Protocol = deepcopy.Of(c.Protocol) // Config encodes it, although its own tag omits it
	if c.Protocol == nil {
		c.Protocol = panel.Protocol{}
	}
	c.OnFailure = cmp.Or(c.OnFailure, Degrade)
	c.OnJudgeFailure = cmp.Or(c.OnJudgeFailure, Continue)
	c.OnRetrievalFailure = cmp.Or(c.OnRetrievalFailure, Degrade)
	c.OnRefusal = cmp.Or(c.OnRefusal, Continue)
	c.OnOverflow = cmp.Or(c.OnOverflow, OverflowTruncate)
	for i := range c.Attachments {
		a := &c.Attachments[i]
		isSmall := len(a.Data) <= attachment.MaxData
		if a.MediaType == attachment.PDF && a.Pages == 0 && isSmall {
			a.Pages = attachment.Pages(a.Data)
		}
	}
	count := func(text string) int { return env.Count("", text) }
	for i, d := range c.Documents {
		c.Documents[i] = d.WithDefaults(count)
	}
	own := budget.DefaultsOf(c.Protocol)
	l.Limits(&c.Limits)
	c.Limits = c.Limits.WithDefaults(own)
	l.Limits(&c.Limits)
	for i, p := range c.Participants {
		temperature := own.Temperatures[min(i, len(own.Temperatures)-1)]
		c.Participants[i] = p.WithDefaults(temperature, c.Limits.StepTokens, e.learnsWindow)
	}
	derivePositions(c)
	asJudge := func(p Participant, temperature float64) Participant {
		return p.WithDefaults(temperature, c.Limits.JudgeTokens, e.learnsWindow)
	}
	for i, p := range c.Judges {
		c.Judges[i] = asJudge(p, *own.JudgeTemperature)
	}
	for i, p := range c.Substitutes {
		c.Substitutes[i] = asJudge(p, *own.JudgeTemperature)
	}
	if core.UsesTools(&c) {
		c.Limits = c.Limits.WithToolDefaults()
	}
	if c.Limits.Cost > 0 || c.AskAboveCost > 0 {
		nameModels(&c, env)
	}
	c.PersonaAssigner = asJudge(systemActor(&c, c.PersonaAssigner), 0.9)
	c.Summarizer = asJudge(systemActor(&c, c.Summarizer), 0.3)
	c.Retriever.Provider = cmp.Or(c.Retriever.Provider, clients.Templates)
	c.Embedder.Window = cmp.Or(c.Embedder.Window, 8_000)
	checkConfig(&c, env, l, own)
	return c, l.Problems
}

// nameModels sets the models that have no name to the default ones of their providers, as far as these know them. Otherwise their
// prices would be unknown.
func nameModels(c *Config, env *core.Environment) {
	for _, list := range [][]Participant{c.Participants, c.Judges, c.Substitutes} {
		for i := range list {
			nameModel(&list[i], env)
		}
	}
	for _, p := range []*Participant{&c.PersonaAssigner, &c.Summarizer} {
		if p.Provider != "" {
			nameModel(p, env)
		}
	}
}

// nameModel sets the model of an actor that has none.
func nameModel(p *Participant, env *core.Environment) {
	if p.Model != "" || p.Human {
		return
	}
	_, client, err := env.Bind(p.Provider)
	if known, ok := client.(providers.Defaulted); ok && err == nil {
		_ = panics.Call(func() { p.Model = known.DefaultModel() })
	}
}

// derivePositions sets the positions of the participants that are not disabled, if the protocol derives them. Such a
// protocol has the method Positions.
func derivePositions(c Config) {
	p, ok := c.Protocol.(interface {
		Positions(participants []transcript.Profile) []string
	})
	if !ok {
		return
	}
	positions := p.Positions(core.Profiles(c))
	for i := range c.Participants {
		if !c.Participants[i].Disabled && len(positions) > 0 {
			c.Participants[i].Position = positions[0]
			positions = positions[1:]
		}
	}
}

// systemActor fills in the model of the persona assigner or the summarizer from the first judge or participant that is
// not a person.
func systemActor(c *Config, p Participant) Participant {
	list := slices.Concat(c.Judges, c.Participants)
	at := slices.IndexFunc(list, func(o Participant) bool {
		return !o.Human && !o.Disabled
	})
	if at < 0 {
		return p
	}
	if p.Provider == "" {
		p.Provider = list[at].Provider
		p.Model = cmp.Or(p.Model, list[at].Model)
	}
	p.Window = cmp.Or(p.Window, list[at].Window)
	return p
}

// checkConfig adds every problem with a configuration whose defaults are filled in, as far as data alone can tell.
func checkConfig(c *Config, env *core.Environment, l *core.ProblemList, own protocol.Defaults) {
	if characters.IsBlank(c.Topic) {
		l.Add("topic", "it is blank, set a question or claim to debate")
	}
	l.Problems = append(l.Problems, userinput.CheckLabels(c.Labels)...)
	texts := core.TextsOf(c)
	if c.Documents != nil {
		l.Problems = append(l.Problems, texts.CheckDocuments(c.Actors(), c.HasSeat)...)
	}
	long, tokens := texts.Longest()
	for field, p := range c.Actors() {
		if prompting.Fills(tokens, field, &p) {
			l.Problems = append(l.Problems, prompting.TooLong(long, tokens, field, &p))
			break
		}
	}
	before := len(l.Problems)
	l.Problems = append(l.Problems, c.CheckNames()...)
	named := len(l.Problems) == before
	l.Problems = append(l.Problems, c.CheckValues()...)
	if c.Limits.Cost > 0 || c.AskAboveCost > 0 {
		l.Problems = append(l.Problems, c.CheckPriced()...)
	}
	checkProtocol(c, env, l, own, named)
}

// checkProtocol adds every problem that the protocol finds. If it finds none and all names are valid, it adds those of
// the phases and budgets, and fills in the default of Limits.OutputTokens.
func checkProtocol(c *Config, env *core.Environment, l *core.ProblemList, own protocol.Defaults, named bool) {
	r := core.BeforeStart(core.Seats{Config: c}, env)
	found := c.Protocol.Check(&r.Record)
	l.Problems = append(l.Problems, found...)
	f := budget.Forecast{Assesses: true}
	if named && len(found) == 0 { // otherwise the protocol may return anything
		f = core.ForecastOf(r)
		if len(f.Steps) == 0 {
			l.Add("protocol", "it has no step in any phase")
		}
		for _, problem := range f.Duplicates {
			l.Add("protocol", "%s", problem)
		}
	}
	embeds := c.Embedder.Provider != ""
	found = findings.Check(c.Detect, c.Protocol.Name(), f.Assesses, embeds)
	l.Problems = append(l.Problems, found...)
	r.Cursor.Round = 1
	if len(l.Problems) == 0 {
		l.Problems = budget.CoverStart(&c.Limits, core.WorstCase(r, f.First...))
	}
	if c.Limits.OutputTokens == 0 && len(l.Problems) == 0 {
		c.Limits.OutputTokens = own.OutputTokens
		if own.OutputTokens < f.Output { // it does not suffice for all rounds
			c.Limits.OutputTokens = 2 * f.Output
		}
	}
}

// learnsWindow reports whether the windows of a provider's models are known only when a debate starts. It is true if the
// engine lacks the provider, because another engine may drive the debate.
func (e *Engine) learnsWindow(provider string) bool {
	_, p, err := e.providers.Bind(provider)
	_, knows := p.(providers.Windowed)
	return err != nil || knows
}

// preflight holds what the first prompts of a debate show before it starts.
type preflight struct {
	problems []protocol.Problem // a prompt that cannot be built, or that leaves no room for a reply
	lacks    error              // an ErrUnsupported if the engine lacks something, otherwise nil
	// limits holds lower token limits for replies that would leave no room for history, by the fields of their actors.
	limits map[string]int
	record *core.State // has the configuration with its windows, and the prompts
}

// preflight sets windows that are known, and builds the first prompt of each kind of step that the protocol can ask for,
// without history.
func (e *Engine) preflight(seats core.Seats, windows map[string]int) (p preflight) {
	l := &core.ProblemList{}
	c := *seats.Config
	core.SetWindows(&c, windows)
	seats.Config = &c
	r := core.BeforeStart(seats, e.env)
	p.record = r
	steps := core.ForecastOf(r).Steps
	if c.History.UsesSummaries() {
		steps = append(steps, protocol.Step{
			Key: transcript.Key{
				Actor: protocol.Summarizer,
				Phase: r.SummaryPhase().Name,
			},
			Prompt: "summarize",
			Vars:   map[string]string{"words": "1000"},
		})
	}
	sizes := map[string]int{}
	for i := range steps {
		s := &steps[i]
		r.Cursor.Round = s.Round
		r.Cursor.Stage = s.Kind
		if r.IsHuman(s.Actor) {
			_, err := core.NewAsked(r, s)
			p.note(l, s, err)
			continue
		}
		x, err := e.newExecution(r, *s)
		if err != nil {
			p.note(l, s, err)
			continue
		}
		size := x.run.Plan.Prompt.Tokens - x.run.Plan.Prompt.Slack
		if slices.Contains(r.Judges, s.Actor) {
			sizes["substitutes"] = max(sizes["substitutes"], size)
		}
		sizes[s.Actor] = max(sizes[s.Actor], size)
		x.release()
	}
	found, limits := prompting.CheckRoom(c.Actors(), sizes, prompting.ToolRoom{
		Room:  r.Settings.Tools.Room,
		Least: prompting.MinToolRoom,
	}, seats.TooSmall)
	p.problems = append(l.Problems, found...)
	p.limits = limits
	return p
}

// note takes up why a step cannot be planned, unless err is nil.
func (p *preflight) note(l *core.ProblemList, s *protocol.Step, err error) {
	switch {
	case err == nil:
	case errors.Is(err, core.ErrUnsupported):
		p.lacks = err
	default:
		l.Add("protocol", "phase %q: %v", s.Phase, err)
	}
}

// frozenFields returns a problem for each changed field that must not change after the first turn.
func frozenFields(r *core.State, cfg Config) []protocol.Problem {
	if !r.HasTurns() {
		return nil
	}
	l := &core.ProblemList{}
	same := func(field string, a, b any) {
		l.Same(field, "cannot change after the first turn, reset the debate first", a, b)
	}
	same("seed", r.Seed, cfg.Seed)
	same("topic", r.Config.Topic, cfg.Topic)
	same("background", r.Config.Background, cfg.Background)
	same("protocol", protocols.Parameters(r.Config.Protocol), protocols.Parameters(cfg.Protocol))
	same("participants", core.AsModels(core.Profiles(*r.Config)), core.AsModels(core.Profiles(cfg)))
	return l.Problems
}

// fixedFields returns a problem for each field that a fork with turns must not change.
func fixedFields(r *core.State, cfg *Config) []protocol.Problem {
	l := &core.ProblemList{}
	same := func(field string, a, b any) {
		l.Same(field, "it cannot change after the first turn, fork from an earlier entry", a, b)
	}
	same("seed", r.Seed, cfg.Seed)
	same("protocol", protocols.Parameters(r.Config.Protocol), protocols.Parameters(cfg.Protocol))
	seats := func(c *Config) (list []string) {
		for _, p := range core.Profiles(*c) {
			list = append(list, p.Name, p.Side)
		}
		return list
	}
	same("participants", seats(r.Config), seats(cfg))
	return l.Problems
}

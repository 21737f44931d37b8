package debate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// allThrottled reports whether a rate limit of a participant's provider affects all participants: each uses the same
// provider or had to wait for its own.
func allThrottled(r *record, p *Participant) bool {
	for _, s := range r.Participants {
		if other, _, ok := r.actor(s.Name); ok && other.Provider != p.Provider &&
			participantStatus(r, s.Name).State != "rate_limited" {
			return false
		}
	}
	return true
}

// offerTools lets the actor of a step call its tools.
func offerTools(e *Engine, r *record, x *execution, who *Participant) error {
	p := &x.run.Plan
	s := &x.run.Plan.Step
	l := &r.config.Limits
	if p.Tools == nil {
		return nil
	}
	list, missing := e.tools.Named(who.Tools)
	if missing != nil {
		return &unsupported{[]string{fmt.Sprintf(
			"tools of %s: this engine lacks %s, see Options.Tools",
			who.Name,
			naming.Enumerate(missing, len(missing)),
		)}}
	}
	p.Tools.List = list
	limitTools(e, &p.Model, p)
	for i := range p.Substitutes {
		limitTools(e, &p.Substitutes[i], p)
	}
	x.tools = &rounds.Caller{
		Set:   e.tools,
		Names: who.Tools,
		Limits: toolcall.Limits{
			Calls:   l.ToolCalls,
			Bytes:   l.ToolBytes,
			Timeout: l.ToolTimeout,
		},
	}
	if o := r.tools.Of(s.Key); o != nil {
		p.Tools.Rounds = o.Plan()
		p.Tools.Counted = o.Counted
		x.tools.ContinueFrom(&r.tools, o)
	}
	p.Tools.Most = affordableRounds(r, s, who, p.Prompt.Tokens+p.Tools.Room, l.ToolRounds)
	if p.Tools.Most == 0 {
		p.Tools.Warning = "the budgets leave nothing for calls of tools: " + s.Actor + " replies without them"
	}
	return nil
}

// limitTools asks the provider of a model whether it can call tools, and whether it can do so with a schema.
//
//nolint:contextcheck // the plan of a step belongs to no call: the question is about settings, and calls no service
func limitTools(e *Engine, m *step.Model, p *step.Plan) {
	name, client, err := e.providers.Bind(m.Provider)
	if err != nil {
		return
	}
	r := m.Request
	r.Messages = nil
	r.Tools = p.Tools.List
	r.Schema = p.Model.Request.Schema
	found, _, _ := e.asker().Unsupported(context.Background(), name, client, r) // a panic is logged
	m.NoTools = found["tools"] != ""
	m.Gathers = found["schema"] != "" && r.Schema != nil
}

// newExecution returns the execution of a step, with its request.
func (e *Engine) newExecution(r *record, s protocol.Step) (*execution, error) {
	who, seat, ok := r.actor(s.Actor)
	if !ok {
		return nil, fmt.Errorf(
			"plan step %s: %q is not a participant, judge or system actor: %w",
			s.Phase,
			s.Actor,
			errProtocol,
		)
	}
	x := executionPool.Get().(*execution)
	shown := x.shown
	digests := x.run.Plan.Prompt.Digests[:0] // their memory is used again
	*x = execution{}                         // a literal with fields would be made elsewhere and copied
	x.engine = e
	x.shown = shown
	x.reports = e.reports
	x.debate = r.ID
	x.promptSeq = r.Seq
	x.role = seat.Role
	x.created = r.times.created
	p := &x.run.Plan
	own := []string(nil)
	p.Prompt.Digests = digests
	e.setPlan(r, p, &s, who)
	x.documents = privateOnes(r.seats().DocumentsOf(s.Actor))
	x.labels = r.config.Labels
	p.Private = x.documents != nil
	x.cites = hasSources(r.config)
	p.Names, own = r.NamesFor(&s)
	p.Left = r.Left(&s)
	var err error
	p.Contract, err = contractFor(r, &s)
	if err != nil {
		return nil, err
	}
	if p.Contract != nil {
		p.Model.Request.SchemaName = s.Contract
		p.Model.Request.Schema = p.Contract.Schema() // Build adds names to the schema
	}
	if s.Actor == protocol.Embedder {
		p.Model.Request.Messages = findings.SpeechesToEmbed(&r.Record, who.Window, &s)
		return x, nil
	}
	if !p.Prompt.Set.Has(s.Prompt) {
		return nil, &unsupported{[]string{fmt.Sprintf("prompt %q is unknown, add it to Options.Prompts", s.Prompt)}}
	}
	if err := r.Build(p, seat, own); err != nil {
		return nil, err
	}
	if s.Kind == transcript.Summary {
		wanted := r.History.Wanted.Tokens + reasoning.Tokens(who.Reasoning)
		p.Model.Request.MaxTokens = min(cmp.Or(who.MaxTokens, wanted), wanted)
		if p.Window == nil { // show the window that led to the summary
			led := r.History.Wanted.Window
			p.Window = &led
		}
	}
	return x, offerTools(e, r, x, who)
}

// setPlan sets what the plan of a step has besides the prompt and the contract of the reply.
func (e *Engine) setPlan(r *record, p *step.Plan, s *protocol.Step, who *Participant) {
	c := r.config
	p.Step = *s
	p.Pseudonyms = r.Pseudonyms(s)
	p.Count = r.env.Count
	p.Prices = c.Prices
	p.Retries = c.Retries
	p.Keys = r.keys
	p.Model = step.Model{
		Provider: who.Provider,
		Request:  who.Request(),
		Window:   who.Window,
	}
	if s.Actor == protocol.Retriever && s.Target == protocol.Passages {
		p.Model = step.Model{
			Provider: clients.Documents,
			Client:   clients.Passages(c.Documents),
			Window:   who.Window,
		}
	}
	p.Participating = r.Participates(s.Actor)
	p.Judging = slices.Contains(r.Judges, s.Actor)
	p.NoText = actor.MakesNoText(s.Actor)
	p.Concluding = r.Cursor.Stage == transcript.Conclusion
	p.KeepPartial = p.Participating && s.Contract == "" && c.OnFailure == Degrade
	if p.Participating && s.Contract == "" {
		p.Speech = r.Seats(s)
		p.RefusalFails = c.OnRefusal == Degrade
	}
	p.UseDefault = hasDefault(r, s)
	p.KeepReasoning = e.keepReasoning
	p.KeepReplies = e.keepReplies
	p.Answers = &e.answers
	p.Closing = e.closing
	p.Prompt.Set = r.Settings.Templates
	p.Prompt.Shorten = c.OnOverflow != Degrade && c.OnOverflow != End
	p.Prompt.Summarize = c.OnOverflow == OverflowSummarize
	a := accountOf(r)
	p.Limits.Attempts = c.Limits.StepAttempts
	p.Limits.Remaining = a.Remaining()
	p.Limits.Time, p.Limits.Budget = a.StepTime()
	if p.Participating && s.Kind != transcript.Conclusion && allThrottled(r, who) {
		p.Limits.RateLimit = p.Limits.Remaining
	}
	if s.Actor != protocol.Embedder &&
		(s.Actor != protocol.Retriever ||
			!p.UseDefault) { // otherwise the debate continues without the reply
		setPatience(r, &p.Limits)
	}
	for _, other := range substitutesOf(r, s.Actor) {
		if name, client, err := r.env.Bind(other.Provider); err == nil {
			m := step.Model{
				Provider: name,
				Client:   client,
				Request:  other.Request(),
				Window:   other.Window,
				Room:     other.Window - other.MaxTokens,
			}
			m.Request.MaxTokens = other.LimitFor(who)
			p.Substitutes = append(p.Substitutes, m)
		}
	}
	if p.Prompt.Summarize {
		p.Summarizer = step.Model{Request: c.Summarizer.Request(), Instructions: c.Summarizer.Instructions}
		p.Summarizer.Provider, p.Summarizer.Client, _ = r.env.Bind(c.Summarizer.Provider)
	}
}

// hasDefault reports whether the debate continues with a default reply if a step fails.
func hasDefault(r *record, s *protocol.Step) bool {
	switch s.Actor {
	case protocol.Retriever:
		return r.config.OnRetrievalFailure == Continue
	case protocol.Embedder:
		return true
	case protocol.Summarizer:
		return s.Kind != transcript.Conclusion
	}
	return slices.Contains(r.Judges, s.Actor) && r.config.OnJudgeFailure == Continue
}

// learnsWindow reports whether the windows of a provider's models are known only when a debate starts. It is true if the
// engine lacks the provider, because another engine may drive the debate.
func (e *Engine) learnsWindow(provider string) bool {
	_, p, err := e.providers.Bind(provider)
	_, knows := p.(providers.Windowed)
	return err != nil || knows
}

// preflight sets windows that are known, and builds the first prompt of each kind of step that the protocol can ask for,
// without history. It returns what is wrong: a prompt that cannot be built, or that leaves no room for a reply. It also returns
// lower token limits for replies that would leave no room for history, by the fields of their actors, a record with the
// configuration and the prompts, and an ErrUnsupported if the engine lacks something.
func (e *Engine) preflight(
	seats seatSettings, windows map[string]int,
) (found []protocol.Problem, limits map[string]int, r *record, lacks error) {
	l := &problemList{}
	c := *seats.config
	setWindows(&c, windows)
	seats.config = &c
	r = plannedRecord(seats, e.env)
	steps := forecastOf(r).Steps
	if c.History.UsesSummaries() {
		steps = append(steps, protocol.Step{
			Key:    transcript.Key{Actor: protocol.Summarizer, Phase: r.SummaryPhase().Name},
			Prompt: "summarize",
			Vars:   map[string]string{"words": "1000"},
		})
	}
	sizes := map[string]int{}
	for i := range steps {
		s := &steps[i]
		r.Cursor.Round = s.Round
		r.Cursor.Stage = s.Kind
		if r.isHuman(s.Actor) {
			if _, err := newAsked(r, s); errors.Is(err, ErrUnsupported) {
				lacks = err
			} else if err != nil {
				l.add("protocol", "phase %q: %v", s.Phase, err)
			}
			continue
		}
		x, err := e.newExecution(r, *s)
		switch {
		case errors.Is(err, ErrUnsupported):
			lacks = err
			continue
		case err != nil:
			l.add("protocol", "phase %q: %v", s.Phase, err)
			continue
		case slices.Contains(r.Judges, s.Actor):
			sizes["substitutes"] = max(sizes["substitutes"], x.run.Plan.Prompt.Tokens-x.run.Plan.Prompt.Slack)
		}
		sizes[s.Actor] = max(sizes[s.Actor], x.run.Plan.Prompt.Tokens-x.run.Plan.Prompt.Slack)
		x.release()
	}
	found, limits = prompting.CheckRoom(c.Actors(), sizes, prompting.ToolRoom{
		Room:  r.Settings.Tools.Room,
		Least: prompting.MinToolRoom,
	}, seats.tooSmall)
	return append(l.problems, found...), limits, r, lacks
}

// tooSmall returns the problem with a first prompt that leaves too little of a window.
func (s seatSettings) tooSmall(field string, p *Participant, size int) (problem protocol.Problem, shared bool) {
	name := actor.NameIn(field, p.Name)
	read := s.DocumentsOf(name)
	if strings.HasPrefix(field, "substitutes") {
		read = nil
		for _, j := range s.config.Judges {
			read = append(read, s.DocumentsOf(j.Name)...)
		}
	}
	return textsOf(s.config).TooSmall(field, p, prompting.FirstPrompt{
		Tokens:      size,
		Attachments: prompting.AttachmentTokens(s.AttachmentsOf(name)),
		Read:        read,
		Documents:   prompting.DocumentTokens(read),
	})
}

package debate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/additions"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/forecast"
	"github.com/elenchus-go/debate/internal/protocoljson"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/transcript"
)

// newID returns an id that sorts by time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// withDefaults returns a copy of the configuration with all defaults filled in, and every problem with it. A debate
// stores its defaults, so that later versions of the library do not change them. open reports whether the windows of a
// provider's models are known only when the debate starts: they remain 0.
func (c Config) withDefaults(env *environment, open func(provider string) bool) (Config, []protocol.Problem) {
	l := &problemList{}
	if protocoljson.IsNil(c.Protocol) {
		l.add("protocol", "it is a nil pointer of type %T, use a value", c.Protocol)
		return c, l.problems
	}
	c = c.clone()
	if c.Protocol == nil {
		c.Protocol = panel.Protocol{}
	}
	c.OnFailure = cmp.Or(c.OnFailure, Degrade)
	c.OnJudgeFailure = cmp.Or(c.OnJudgeFailure, Continue)
	c.OnRetrievalFailure = cmp.Or(c.OnRetrievalFailure, Degrade)
	c.OnOverflow = cmp.Or(c.OnOverflow, OverflowTruncate)
	for i, a := range c.Attachments {
		c.Attachments[i] = a.withDefaults()
	}
	for i, d := range c.Documents {
		c.Documents[i] = d.WithDefaults(func(text string) int { return env.Count("", text) })
	}
	own := protocolDefaults(c.Protocol)
	c.Limits.validate(l)
	c.Limits = Limits(budget.Limits(c.Limits).WithDefaults(own))
	c.Limits.validate(l)
	for i, p := range c.Participants {
		c.Participants[i] = p.withDefaults(own.Temperatures[min(i, len(own.Temperatures)-1)], c.Limits.StepTokens, open)
	}
	c.derivePositions()
	for i, p := range c.Judges {
		c.Judges[i] = p.withDefaults(*own.JudgeTemperature, c.Limits.JudgeTokens, open)
	}
	for i, p := range c.Substitutes {
		c.Substitutes[i] = p.withDefaults(*own.JudgeTemperature, c.Limits.JudgeTokens, open)
	}
	if usesTools(&c) {
		c.Limits = Limits(budget.Limits(c.Limits).WithToolDefaults())
	}
	c.PersonaAssigner = c.systemActor(c.PersonaAssigner).withDefaults(0.9, c.Limits.JudgeTokens, open)
	c.Summarizer = c.systemActor(c.Summarizer).withDefaults(0.3, c.Limits.JudgeTokens, open)
	c.Retriever.Provider = cmp.Or(c.Retriever.Provider, templatesProvider)
	c.Embedder.Window = cmp.Or(c.Embedder.Window, 8_000)
	c.check(env, l, own)
	return c, l.problems
}

// derivePositions sets the positions of the participants that are not disabled, if the protocol derives them. Such a
// protocol has the method Positions.
func (c Config) derivePositions() {
	p, ok := c.Protocol.(interface {
		Positions(participants []transcript.Profile) []string
	})
	if !ok {
		return
	}
	positions := p.Positions(participantProfiles(c))
	for i := range c.Participants {
		if !c.Participants[i].Disabled && len(positions) > 0 {
			c.Participants[i].Position, positions = positions[0], positions[1:]
		}
	}
}

// protocolDefaults returns a protocol's defaults, and the library's where the protocol has none.
func protocolDefaults(p protocol.Protocol) (d protocol.Defaults) {
	if own, ok := p.(protocol.Defaulter); ok {
		d = own.Defaults()
	}
	d.MinRounds = cmp.Or(d.MinRounds, 1)
	d.MaxRounds = cmp.Or(d.MaxRounds, 5)
	d.Time = cmp.Or(d.Time, time.Hour)
	d.StepTokens, d.JudgeTokens = cmp.Or(d.StepTokens, 4096), cmp.Or(d.JudgeTokens, 4096)
	if len(d.Temperatures) == 0 {
		d.Temperatures = []float64{0.7}
	}
	cool := 0.2
	d.JudgeTemperature = cmp.Or(d.JudgeTemperature, &cool)
	return d
}

func (p Participant) withDefaults(temperature float64, tokens int, open func(provider string) bool) Participant {
	return Participant(actor.Settings(p).WithDefaults(temperature, tokens, open))
}

// systemActor fills in the model of the persona assigner or the summarizer from the first judge or participant that is
// not a person.
func (c Config) systemActor(p Participant) Participant {
	for _, list := range [][]Participant{c.Judges, c.Participants} {
		at := slices.IndexFunc(list, func(o Participant) bool { return !o.Human && !o.Disabled })
		if at < 0 {
			continue
		}
		if p.Provider == "" {
			p.Provider, p.Model = list[at].Provider, cmp.Or(p.Model, list[at].Model)
		}
		p.Window = cmp.Or(p.Window, list[at].Window)
		break
	}
	return p
}

// check adds every problem with a configuration whose defaults are filled in, as far as data alone can tell.
func (c *Config) check(env *environment, l *problemList, own protocol.Defaults) {
	if characters.IsBlank(c.Topic) {
		l.add("topic", "it is blank, set a question or claim to debate")
	}
	l.problems = append(l.problems, additions.CheckLabels(c.Labels)...)
	c.checkTopic(l)
	before := len(l.problems)
	c.checkNames(l)
	named := len(l.problems) == before
	c.checkValues(l)
	unpriced := map[string]bool{}
	for field, p := range c.allActors() {
		own := strings.Contains(field, "[") // the others have the model of a participant, unless they are configured
		if _, known := c.Prices.Lookup(p.Model); !known && (own || !unpriced[p.Model]) && !p.Human && (c.Limits.Cost > 0 || c.AskAboveCost > 0) && (p.Model != "" || field != "retriever" && field != "embedder") {
			l.add(field+".model", "%q has no price in prices, but limits.cost and ask_above_cost require one", p.Model)
			unpriced[p.Model] = true
		}
	}
	c.checkProtocol(env, l, own, named)
}

// checkTopic adds a problem if the topic or the background alone is too long for an actor that reads it.
func (c *Config) checkTopic(l *problemList) {
	topic, background := window.Estimate(c.Topic), window.Estimate(c.Background)
	checkRoom(c, l)
	for field, p := range c.allActors() {
		if p.Window <= 0 || max(topic, background) < p.Window || makesNoText(actorOf(field, p)) {
			continue
		}
		long := "topic"
		if background > topic {
			long = "background"
		}
		l.add(long, "about %d tokens are too long for the window of %s, %d", max(topic, background), cmp.Or(p.Name, field), p.Window)
		return
	}
}

// checkProtocol adds every problem that the protocol finds. If it finds none and all names are valid, it adds those of
// the phases and budgets, and fills in the default of Limits.OutputTokens.
func (c *Config) checkProtocol(env *environment, l *problemList, own protocol.Defaults, named bool) {
	r := c.plannedRecord(env)
	found := c.Protocol.Check(&r.Record)
	l.problems = append(l.problems, found...)
	f := forecast.Forecast{Assesses: true}
	if named && len(found) == 0 { // otherwise the protocol may return anything
		f = forecastOf(r)
		checkSteps(l, f)
	}
	isParticipant := func(name string) bool {
		return slices.ContainsFunc(c.Participants, func(p Participant) bool { return p.Name == name })
	}
	l.problems = append(l.problems, findings.Check(c.Detect, c.Protocol.Name(), f.Assesses, c.Embedder.Provider != "", isParticipant)...)
	if len(l.problems) == 0 {
		c.checkBudget(l, r, f.First)
	}
	if c.Limits.OutputTokens == 0 && len(l.problems) == 0 {
		c.Limits.OutputTokens = own.OutputTokens
		if own.OutputTokens < f.Output { // it does not suffice for all rounds
			c.Limits.OutputTokens = 2 * f.Output
		}
	}
}

// checkSteps adds a problem if the protocol has no step, or a step twice.
func checkSteps(l *problemList, f forecast.Forecast) {
	if len(f.Steps) == 0 {
		l.add("protocol", "it has no step in any phase")
	}
	for _, problem := range f.Duplicates {
		l.add("protocol", "%s", problem)
	}
}

// checkBudget adds a problem for each budget that is too small for the setup, the first phase and the conclusion.
func (c *Config) checkBudget(l *problemList, r *record, first []forecast.Stage) {
	r.Cursor.Round = 1
	l.problems = append(l.problems, budget.Limits(c.Limits).CoverStart(worstCase(r, first...))...)
}

// plannedRecord returns the record of a debate that has not begun.
func (c *Config) plannedRecord(env *environment) *record {
	r := newRecord(c.ID, env)
	r.Record = *c.protocolRecord()
	r.setConfig(c)
	r.addParticipants()
	r.Sources.SetDocuments(c.Documents, 0)
	r.Documents = r.Sources.Shared()
	return r
}

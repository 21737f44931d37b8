// Package launch says which debates people may begin, and makes configurations of what they choose.
//
//	offer := &launch.Offer{
//		Purposes: []launch.Purpose{{Name: "decision", Title: "a decision", Config: decision}},
//		Models:   []launch.Model{{Provider: "openai", Name: "gpt-4.1-mini", Price: &price.Price{Input: 0.4, Output: 1.6}}},
//		Cost:     1,
//	}
//	config, err := offer.Compose(launch.Choice{Purpose: "decision", Topic: "Should cities ban private cars?"})
//
// An [Offer] is plain data. The page "New debate" of package inspector shows it. A program that serves several tenants makes
// one for each, and sets [Offer.Only]: then the handlers of packages debatehttp and inspector refuse all other debates.
package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers/price"
)

// An Offer says which debates somebody may begin.
type Offer struct {
	Purposes []Purpose
	// Models are the models for the seats. The first one is the default.
	Models []Model
	// Limits are the largest limits. A limit that is 0 bounds nothing. Only MaxRounds, RunningTime, OutputTokens, Tokens and Cost
	// count. With a Cost, each model needs a price.
	Limits debate.Limits
	// Cost is the limit of costs of a debate for which nothing else is chosen. Defaults to Limits.Cost. If that is 0 too, there
	// is none.
	Cost float64
	// Currency is that of the prices, such as "USD". Defaults to none.
	Currency string
	// Only refuses all debates but those of the purposes, with these models and within the limits: see Admit.
	Only bool
	// Note is shown above the models, for example to say how more models can be used. Defaults to none.
	Note string
}

// A Purpose is something that a debate can be for.
type Purpose struct {
	Name  string // such as "decision"
	Title string // what somebody wants who chooses it, such as "a decision, yes or no"
	About string // how the debate finds it, in one sentence
	// Config is the debate, without a topic. Its participants and judges need no models.
	Config debate.Config
}

// A Model is a model for seats.
type Model struct {
	Provider string // name in the Options.Providers of the engine
	Name     string // of the model; empty for the provider's default
	Title    string // defaults to the provider and the name
	// Price is what the model costs. It is nil if that is unknown, and zero if the model costs nothing.
	Price *price.Price
}

// ID returns what tells the model from others, such as "openai/gpt-4.1-mini".
func (m Model) ID() string { return strings.TrimSuffix(m.Provider+"/"+m.Name, "/") }

// String returns the title of the model.
func (m Model) String() string {
	if m.Title != "" {
		return m.Title
	}
	return m.ID()
}

// IsFree reports whether the model is known to cost nothing.
func (m Model) IsFree() bool { return m.Price != nil && *m.Price == price.Price{} }

// A Choice is what somebody chooses from an offer.
type Choice struct {
	Purpose    string
	Topic      string
	Background string
	// Options are the texts between which the debate decides, if the protocol of the purpose can do this. If there are none, those
	// of the purpose apply.
	Options []string
	// Scores are the scores of the evaluation that arbitration debates. If there are none, those of the purpose apply.
	Scores map[string]float64
	// Model is the ID of the model of all seats for which none is chosen. Defaults to the first model of the offer.
	Model string
	// Seats are the participants and then the judges. Seats that are missing are as the purpose has them.
	Seats     []Seat
	Documents []evidence.Document
	MaxRounds int     // 0 for the limit of the purpose
	Cost      float64 // the limit; 0 for none
	Labels    map[string]string
}

// A Seat is what is chosen for a participant or a judge.
type Seat struct {
	Model  string // ID of the model; empty for that of all
	Person bool   // a person speaks, and no model
	// Position is the claim that a participant defends. If it is empty, that of the purpose applies.
	Position string
}

// Purpose returns the purpose with a name, or false if there is none.
func (o *Offer) Purpose(name string) (Purpose, bool) {
	at := slices.IndexFunc(o.Purposes, func(p Purpose) bool { return p.Name == name })
	if at < 0 {
		return Purpose{}, false
	}
	return o.Purposes[at], true
}

// Model returns the model with an ID, or false if there is none.
func (o *Offer) Model(id string) (Model, bool) {
	at := slices.IndexFunc(o.Models, func(m Model) bool { return m.ID() == id })
	if at < 0 {
		return Model{}, false
	}
	return o.Models[at], true
}

// Takes reports whether visitors can name options or scores for debates of a protocol.
func Takes(p protocol.Protocol) (options, scores bool) {
	switch p.(type) {
	case panel.Protocol, procon.Protocol, vote.Protocol:
		return true, false
	case arbitration.Protocol:
		return false, true
	}
	return false, false
}

// Options returns the options between which debates of a protocol decide, or none.
func Options(p protocol.Protocol) []string {
	switch own := p.(type) {
	case panel.Protocol:
		return own.Decision.Options
	case procon.Protocol:
		return own.Decision.Options
	case vote.Protocol:
		return own.Options
	}
	return nil
}

// Scores returns the scores that debates of a protocol examine, or none.
func Scores(p protocol.Protocol) map[string]float64 {
	if own, ok := p.(arbitration.Protocol); ok {
		return own.Scores
	}
	return nil
}

// Compose returns the configuration of a choice. If a choice is not possible, it returns *debate.Problems, whose fields are
// those of the configuration, or "purpose". An engine finds what else is wrong with the configuration.
func (o *Offer) Compose(c Choice) (debate.Config, error) {
	purpose, ok := o.Purpose(c.Purpose)
	if !ok {
		var names []string
		for _, p := range o.Purposes {
			names = append(names, p.Name)
		}
		return debate.Config{}, problems(protocol.Problemf("purpose", "%q is unknown, use one of %s", c.Purpose, strings.Join(names, ", ")))
	}
	s := composing{Offer: o, choice: c, config: purpose.Config}
	s.config.Topic = c.Topic
	if c.Background != "" {
		s.config.Background = c.Background
	}
	if c.MaxRounds != 0 {
		s.config.Limits.MaxRounds = c.MaxRounds
	}
	if c.Labels != nil {
		s.config.Labels = c.Labels
	}
	s.config.Documents = slices.Concat(s.config.Documents, c.Documents)
	s.setProtocol()
	s.setSeats()
	s.setCost()
	return s.config, problems(s.found...)
}

// composing is a configuration that is being composed.
type composing struct {
	*Offer
	choice Choice
	config debate.Config
	found  []protocol.Problem
}

func (s *composing) add(field, format string, args ...any) {
	s.found = append(s.found, protocol.Problemf(field, format, args...))
}

// setProtocol sets the options and the scores of the choice.
func (s *composing) setProtocol() {
	options, scores := Takes(s.config.Protocol)
	if len(s.choice.Options) > 0 && !options {
		s.add("protocol.decision.options", "debates for %s do not decide between options, leave them out", s.choice.Purpose)
	}
	if len(s.choice.Scores) > 0 && !scores {
		s.add("protocol.scores", "debates for %s examine no scores, leave them out", s.choice.Purpose)
	}
	if len(s.choice.Options) > 0 {
		s.config.Protocol = withOptions(s.config.Protocol, s.choice.Options)
	}
	own, ok := s.config.Protocol.(arbitration.Protocol)
	if ok && len(s.choice.Scores) > 0 {
		own.Scores = s.choice.Scores
		s.config.Protocol = own
	}
}

// withOptions returns a protocol that decides between options, if it can.
func withOptions(p protocol.Protocol, options []string) protocol.Protocol {
	switch own := p.(type) {
	case panel.Protocol:
		own.Decision = decision.Task{Options: options}
		return own
	case procon.Protocol:
		own.Decision = decision.Task{Options: options}
		return own
	case vote.Protocol:
		own.Options = options
		return own
	}
	return p
}

// setSeats sets who speaks for the participants and the judges.
func (s *composing) setSeats() {
	s.config.Participants = slices.Clone(s.config.Participants)
	s.config.Judges = slices.Clone(s.config.Judges)
	s.config.Substitutes = slices.Clone(s.config.Substitutes)
	for i := range s.config.Participants {
		s.setSeat(fmt.Sprintf("participants[%d]", i), &s.config.Participants[i], s.seat(i))
	}
	for i := range s.config.Judges {
		s.setSeat(fmt.Sprintf("judges[%d]", i), &s.config.Judges[i], s.seat(len(s.config.Participants)+i))
	}
	for i := range s.config.Substitutes {
		s.setSeat(fmt.Sprintf("substitutes[%d]", i), &s.config.Substitutes[i], Seat{})
	}
	if n := len(s.choice.Seats); n > len(s.config.Participants)+len(s.config.Judges) {
		s.add("seats", "there are %d, and debates for %s have %d", n, s.choice.Purpose, len(s.config.Participants)+len(s.config.Judges))
	}
}

// seat returns what is chosen for a seat.
func (s *composing) seat(i int) Seat {
	if i < len(s.choice.Seats) {
		return s.choice.Seats[i]
	}
	return Seat{}
}

// setSeat sets who speaks for an actor.
func (s *composing) setSeat(field string, a *debate.Participant, chosen Seat) {
	if chosen.Position != "" {
		a.Position = chosen.Position
	}
	if chosen.Person {
		*a = person(*a)
		return
	}
	id := chosen.Model
	if id == "" {
		id = s.choice.Model
	}
	if id == "" && (a.Provider != "" || len(s.Models) == 0) {
		return // the purpose has a model, or the engine chooses
	}
	m, ok := s.Model(id)
	if id == "" {
		m, ok = s.Models[0], true
	}
	if !ok {
		s.add(field+".model", "%q is not among the models, use one of %s", id, s.modelNames())
		return
	}
	a.Human = false
	a.Provider = m.Provider
	a.Model = m.Name
}

// person returns the seat of an actor for a person, without what only models have.
func person(a debate.Participant) debate.Participant {
	return debate.Participant{
		Name: a.Name, Role: a.Role, Side: a.Side, Position: a.Position, Persona: a.Persona, Instructions: a.Instructions,
		Disabled: a.Disabled, Human: true, Blind: a.Blind, MaxTokens: a.MaxTokens,
	}
}

func (o *Offer) modelNames() string {
	var names []string
	for _, m := range o.Models {
		names = append(names, m.ID())
	}
	return strings.Join(names, ", ")
}

// setCost sets the limit of costs and the prices of the models. A debate whose models cost nothing has no such limit.
func (s *composing) setCost() {
	used := s.used(&s.config)
	paid := slices.ContainsFunc(used, func(u usedModel) bool { return !u.IsFree() })
	if !paid {
		return
	}
	if s.choice.Cost != 0 {
		s.config.Limits.Cost = s.choice.Cost
	}
	s.found = append(s.found, s.setPrices(&s.config, used)...)
}

// A usedModel is a model that an actor uses, with the field of the actor.
type usedModel struct {
	Model
	field string
}

// used returns the models that a configuration uses.
func (o *Offer) used(c *debate.Config) (list []usedModel) {
	add := func(field string, a debate.Participant) {
		if a.Human || a.Disabled || a.Provider == "" {
			return
		}
		m := Model{Provider: a.Provider, Name: a.Model}
		if offered, ok := o.Model(m.ID()); ok {
			m = offered
		}
		list = append(list, usedModel{m, field})
	}
	for i, a := range c.Participants {
		add(fmt.Sprintf("participants[%d]", i), a)
	}
	for i, a := range c.Judges {
		add(fmt.Sprintf("judges[%d]", i), a)
	}
	for i, a := range c.Substitutes {
		add(fmt.Sprintf("substitutes[%d]", i), a)
	}
	add("persona_assigner", c.PersonaAssigner)
	add("summarizer", c.Summarizer)
	return list
}

// setPrices adds the prices of models to a configuration. With a limit of costs, each model needs one. Models that cost nothing have
// a price only then.
func (o *Offer) setPrices(c *debate.Config, used []usedModel) (found []protocol.Problem) {
	prices := price.Prices{}
	maps.Copy(prices, c.Prices)
	for _, u := range used {
		_, known := c.Prices[u.Name]
		switch {
		case u.Price != nil && (c.Limits.Cost > 0 || !u.IsFree()):
			prices[u.Name] = *u.Price
		case u.Price == nil && c.Limits.Cost > 0 && !known:
			found = append(found, protocol.Problemf("limits.cost",
				"the price of %s is unknown, so that costs cannot be limited: choose another model, or no limit", u.ID()))
		}
	}
	if len(prices) > 0 {
		c.Prices = prices
	}
	return found
}

// problems returns an error with problems, or nil if there are none.
func problems(list ...protocol.Problem) error {
	if len(list) == 0 {
		return nil
	}
	return &debate.Problems{List: list}
}

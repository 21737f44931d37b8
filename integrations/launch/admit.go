package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
)

// Admit returns *debate.Problems unless a configuration is a debate of the offer: one of its purposes, with its models and within
// its limits. It may differ from the purpose in its texts, options, scores, labels and seed, and in who speaks for the seats.
// Where the configuration names no model or no limit, Admit sets those of the offer. The prices are always those of the offer. If
// Only is not set, Admit does nothing.
func (o *Offer) Admit(c *debate.Config) error {
	if !o.Only {
		return nil
	}
	if found := o.checkPurpose(c); found != nil {
		return problems(found...)
	}
	found := o.admitModels(c)
	limits, err := o.admitLimits(c)
	if err != nil {
		return err
	}
	found = append(found, limits...)
	c.Prices = nil
	return problems(append(found, o.setPrices(c, o.used(c))...)...)
}

// AdmitModels returns *debate.Problems if actors of a configuration have models that the offer lacks, as Admit does. Where the
// configuration names no model, it sets one of the offer.
func (o *Offer) AdmitModels(c *debate.Config) error {
	if !o.Only {
		return nil
	}
	found := o.admitModels(c)
	if len(c.Judges) == 0 && len(c.Participants) == 0 {
		return problems(found...)
	}
	c.Prices = nil
	return problems(append(found, o.setPrices(c, o.used(c))...)...)
}

// checkPurpose returns how a configuration differs from the purpose of its protocol that is most like it, or nothing if it is one of them.
func (o *Offer) checkPurpose(c *debate.Config) (least []protocol.Problem) {
	name := nameOf(c.Protocol)
	var names []string
	for _, p := range o.Purposes {
		names = append(names, p.Name)
		if nameOf(p.Config.Protocol) != name {
			continue
		}
		found, err := differences(*c, p)
		if err != nil {
			return problemsOf(err)
		}
		if len(found) == 0 {
			return nil
		}
		if least == nil || len(found) < len(least) {
			least = found
		}
	}
	if least == nil {
		return []protocol.Problem{protocol.Problemf("protocol", "debates of %s are not offered here, use one for %s", name,
			strings.Join(names, ", "))}
	}
	return least
}

// problemsOf returns the problems of an error.
func problemsOf(err error) []protocol.Problem {
	if wrong, ok := errors.AsType[*debate.Problems](err); ok {
		return wrong.List
	}
	return []protocol.Problem{protocol.Problemf("protocol", "%v", err)}
}

// nameOf returns the name of a protocol, or that of the default if it is nil.
func nameOf(p protocol.Protocol) string {
	if p == nil {
		p = panel.Protocol{}
	}
	return p.Name()
}

// differences returns the fields in which a configuration differs from a purpose, apart from those that people choose.
func differences(c debate.Config, p Purpose) ([]protocol.Problem, error) {
	is, err := shape(c, p.Config)
	if err != nil {
		return nil, err
	}
	like := p.Config
	like.Protocol = withChoices(like.Protocol, c.Protocol)
	want, err := shape(like, like)
	if err != nil {
		return nil, fmt.Errorf("read purpose %s: %w", p.Name, err)
	}
	var found []protocol.Problem
	for _, field := range fieldsOf(is, want) {
		if !reflect.DeepEqual(is[field], want[field]) {
			found = append(found, protocol.Problemf(field, "debates for %s have another value here, which cannot be changed", p.Name))
		}
	}
	return found, nil
}

// fieldsOf returns the names of the fields of two objects, in order.
func fieldsOf(a, b map[string]any) []string {
	var names []string
	for _, object := range []map[string]any{a, b} {
		for name := range object {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// shape returns a configuration in JSON, with all defaults, and with the same values in all fields that people choose. The purpose
// has the values of fields that a protocol needs.
func shape(c, purpose debate.Config) (map[string]any, error) {
	c.ID, c.Seed = "shape", "shape"
	c.Topic, c.Background = "any", ""
	c.Documents = nil
	c.Labels = nil
	c.Prices = nil
	c.Limits = debate.Limits{}
	c.Participants = plainSeats("participant", c.Participants, purpose.Participants)
	c.Judges = plainSeats("judge", c.Judges, purpose.Judges)
	c.Substitutes = plainSeats("substitute", c.Substitutes, purpose.Substitutes)
	c.PersonaAssigner = withoutModel(c.PersonaAssigner)
	c.Summarizer = withoutModel(c.Summarizer)
	c.Embedder.Window = 0
	return stored(c)
}

// withChoices returns a protocol with the options and scores of another one, if it can have them.
func withChoices(p, of protocol.Protocol) protocol.Protocol {
	if options := Options(of); len(options) > 0 {
		p = withOptions(p, options)
	}
	own, ok := p.(arbitration.Protocol)
	if scores := Scores(of); ok && len(scores) > 0 {
		own.Scores = scores
		return own
	}
	return p
}

// plainSeats returns actors without models, names and texts. The texts are those of other actors, because a protocol may need them.
func plainSeats(kind string, list, others []debate.Participant) []debate.Participant {
	plain := slices.Clone(list)
	for i := range plain {
		a := withoutModel(plain[i])
		other := debate.Participant{}
		if i < len(others) {
			other = others[i]
		}
		a.Name = fmt.Sprintf("%s %d", kind, i)
		a.Side = other.Side
		a.Position = other.Position
		a.Persona = other.Persona
		a.Instructions = other.Instructions
		if a.Human {
			a.Human, a.Blind = false, false
			a.Temperature = other.Temperature
		}
		plain[i] = a
	}
	return plain
}

// withoutModel returns an actor without a model.
func withoutModel(a debate.Participant) debate.Participant {
	a.Provider = ""
	a.Model = ""
	a.Window = 0
	return a
}

// stored returns what a debate stores of a configuration, apart from its limits, as JSON.
func stored(c debate.Config) (map[string]any, error) {
	full, err := Complete(c)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(full)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err = d.Decode(&fields)
	delete(fields, "limits")
	return fields, err
}

// Complete returns a configuration with all defaults, as a debate stores it. It returns *debate.Problems if the configuration is
// invalid. It does not know providers, so it takes the windows of models as 32,000 tokens.
func Complete(c debate.Config) (full debate.Config, err error) {
	named := c.Prompts
	err = try(c, func(ctx context.Context, e *debate.Engine, d *debate.Debate) error {
		for past, err := range d.Replay(ctx) {
			if err != nil {
				return err
			}
			if first, ok := past.Event.(debate.ConfigChanged); ok {
				full, err = e.ParseConfig(first.Config)
				full.Prompts = named
				return err
			}
		}
		return nil
	})
	return full, err
}

// Estimate returns what a debate costs, before it begins. It calls no model. It returns *debate.Problems if the configuration is
// invalid.
func Estimate(c debate.Config) (e debate.Estimate, err error) {
	err = try(c, func(ctx context.Context, _ *debate.Engine, d *debate.Debate) (err error) {
		e, err = d.Estimate(ctx)
		return err
	})
	return e, err
}

// try stores a debate in memory, and calls use with it.
func try(c debate.Config, use func(context.Context, *debate.Engine, *debate.Debate) error) error {
	engine, err := debate.NewEngine(debate.Options{Protocols: own(c.Protocol)})
	if err != nil {
		return err
	}
	ctx := context.Background()
	defer func() { _ = engine.Close(ctx) }() // it drives nothing
	c.Prompts = ""                           // this engine has no sets of templates
	d, err := engine.Create(ctx, c)
	if err != nil {
		return err
	}
	return use(ctx, engine, d)
}

// own returns a protocol of a program, which an engine must be given.
func own(p protocol.Protocol) []protocol.Protocol {
	if p == nil {
		return nil
	}
	return []protocol.Protocol{p}
}

// admitModels sets the models that a configuration does not name, and returns those that the offer lacks.
func (o *Offer) admitModels(c *debate.Config) (found []protocol.Problem) {
	admit := func(field string, a *debate.Participant) {
		if a.Human || len(o.Models) == 0 {
			return
		}
		m, ok := o.chosen(a)
		if !ok {
			found = append(found, protocol.Problemf(field+".model", "%q is not among the models, use one of %s",
				Model{Provider: a.Provider, Name: a.Model}.ID(), o.modelNames()))
			return
		}
		a.Provider, a.Model = m.Provider, m.Name
	}
	for name, list := range map[string]*[]debate.Participant{
		"participants": &c.Participants, "judges": &c.Judges,
		"substitutes": &c.Substitutes,
	} {
		*list = slices.Clone(*list)
		for i := range *list {
			admit(fmt.Sprintf("%s[%d]", name, i), &(*list)[i])
		}
	}
	for name, a := range map[string]*debate.Participant{"persona_assigner": &c.PersonaAssigner, "summarizer": &c.Summarizer} {
		if a.Provider != "" || a.Model != "" {
			admit(name, a)
		}
	}
	return found
}

// chosen returns the model of the offer that an actor names, as far as it names one.
func (o *Offer) chosen(a *debate.Participant) (Model, bool) {
	at := slices.IndexFunc(o.Models, func(m Model) bool {
		return (a.Provider == "" || a.Provider == m.Provider) && (a.Model == "" || a.Model == m.Name)
	})
	if at < 0 {
		return Model{}, false
	}
	return o.Models[at], true
}

// admitLimits sets the limits that a configuration does not name, and returns those that are too large.
func (o *Offer) admitLimits(c *debate.Config) (found []protocol.Problem, err error) {
	plain := *c
	plain.ID = ""
	plain.Topic = "any"
	plain.Documents = nil
	plain.Limits.Cost = 0
	plain.Limits.Tokens = 0
	plain.Prices = nil
	full, err := Complete(plain)
	if err != nil {
		return nil, err
	}
	l, most := &c.Limits, o.Limits
	found = append(found, admitLimit("limits.max_rounds", &l.MaxRounds, full.Limits.MaxRounds, most.MaxRounds)...)
	found = append(found, admitLimit("limits.running_time", &l.RunningTime, full.Limits.RunningTime, most.RunningTime)...)
	found = append(found, admitLimit("limits.output_tokens", &l.OutputTokens, full.Limits.OutputTokens, most.OutputTokens)...)
	found = append(found, admitLimit("limits.tokens", &l.Tokens, l.Tokens, most.Tokens)...)
	found = append(found, admitLimit("limits.cost", &l.Cost, l.Cost, most.Cost)...)
	if l.Cost == 0 {
		return found, nil
	}
	free := !slices.ContainsFunc(o.used(c), func(u usedModel) bool { return !u.IsFree() })
	if free {
		l.Cost = 0
	}
	return found, nil
}

// admitLimit sets a limit that is 0, if its default is larger than the largest limit or none. It returns a problem if the limit is too
// large.
func admitLimit[T interface{ ~int | ~int64 | ~float64 }](field string, limit *T, effective, most T) []protocol.Problem {
	switch {
	case most == 0:
	case *limit == 0 && (effective == 0 || effective > most):
		*limit = most
	case *limit > most:
		return []protocol.Problem{protocol.Problemf(field, "%v is more than %v, the largest limit here", *limit, most)}
	}
	return nil
}

// PurposeOf returns the purpose of which a configuration is a debate, or false if it is of none.
func (o *Offer) PurposeOf(c debate.Config) (Purpose, bool) {
	for _, p := range o.Purposes {
		if nameOf(p.Config.Protocol) != nameOf(c.Protocol) {
			continue
		}
		found, err := differences(c, p)
		if err == nil && len(found) == 0 {
			return p, true
		}
	}
	return Purpose{}, false
}

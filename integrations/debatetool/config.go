package debatetool

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
)

// config returns the configuration that an input asks for, or what is wrong with the input.
func (s *Toolset) config(id string, in Input) (debate.Config, error) {
	var problems []protocol.Problem
	if strings.TrimSpace(in.Topic) == "" {
		problems = append(problems, protocol.Problemf("topic", "it is empty; give a topic, or the id of a debate"))
	}
	p, unknown := s.preset(in.Preset)
	if len(unknown) > 0 {
		return debate.Config{}, refuse(append(problems, unknown...)...)
	}
	c := p.Config
	c.ID = id
	c.Topic = in.Topic
	c.Background = s.background(cmp.Or(in.Background, c.Background), in.Earlier)
	c.Labels = maps.Clone(c.Labels)
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	maps.Copy(c.Labels, s.labels)
	problems = append(problems, s.setProtocol(&c, in.Protocol, in.Participants)...)
	problems = append(problems, setOptions(&c, in.Options)...)
	return c, refuse(append(problems, in.Budget.apply(&c)...)...)
}

// preset returns the preset with the given name, or a problem if there is none.
func (s *Toolset) preset(name string) (Preset, []protocol.Problem) {
	names := s.presetNames()
	if name == "" {
		name = defaultPreset
		if len(names) == 1 {
			name = names[0]
		}
	}
	p, known := s.presets[name]
	if !known {
		return p, []protocol.Problem{protocol.Problemf("preset", "%q is unknown, use one of %s", name, strings.Join(names, ", "))}
	}
	return p, nil
}

// apply lowers the limits of a configuration, and returns a problem for each value that is out of bounds.
func (b Budget) apply(c *debate.Config) (problems []protocol.Problem) {
	own := protocol.Defaults{}
	if p, ok := c.Protocol.(protocol.Defaulter); ok {
		own = p.Defaults()
	}
	l := &c.Limits
	rounds := maxRounds(*c)
	minutes := cmp.Or(l.RunningTime, own.Time, time.Hour).Minutes()
	check := func(field string, value, most float64) bool {
		switch {
		case value == 0:
			return false
		case value > 0 && (value <= most || most == 0):
			return true
		case most == 0:
			problems = append(problems, protocol.Problemf("budget."+field, "%v is not valid, use more than 0, or leave it out", value))
		default:
			problems = append(problems, protocol.Problemf("budget."+field, "%v is out of bounds, use more than 0 and at most %v, or leave it out", value, most))
		}
		return false
	}
	if check("rounds", float64(b.Rounds), float64(rounds)) {
		l.MaxRounds = b.Rounds
		l.MinRounds = min(l.MinRounds, b.Rounds)
	}
	if check("minutes", b.Minutes, minutes) {
		l.RunningTime = time.Duration(b.Minutes * float64(time.Minute))
	}
	if check("tokens", float64(b.Tokens), float64(l.Tokens)) {
		l.Tokens = b.Tokens
	}
	if b.Cost != 0 && len(c.Prices) == 0 {
		problems = append(problems, protocol.Problemf("budget.cost", "the preset knows no prices, leave it out and use tokens"))
	} else if check("cost", b.Cost, l.Cost) {
		l.Cost = b.Cost
	}
	return problems
}

// sameDebate returns an error if an input has another topic than the debate that has its id.
func (in Input) sameDebate(id, topic string) error {
	if in.Topic == "" || strings.TrimSpace(in.Topic) == strings.TrimSpace(topic) {
		return nil
	}
	return &Error{ID: id, Problems: []protocol.Problem{protocol.Problemf("topic", "the debate %q has another topic; leave out the topic to continue that debate, or leave out the id for a new one", id)}, Err: fmt.Errorf("open debate %s: it has another topic", id)}
}

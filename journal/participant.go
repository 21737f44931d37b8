package journal

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers/tool"
)

// maxStops limits the texts that end a reply.
const maxStops = 16

// WithDefaults returns the participant with defaults in place of what is not set. tokens limits a reply. open reports whether the
// windows of a provider's models are known only when the debate starts.
func (p Participant) WithDefaults(temperature float64, tokens int, open func(provider string) bool) Participant {
	if p.Human {
		p.Provider = cmp.Or(p.Provider, actor.Human)
		p.MaxTokens = cmp.Or(p.MaxTokens, tokens)
		return p
	}
	room := reasoning.Tokens(p.Reasoning)
	if room == 0 && p.TopP == 0 { // otherwise most services refuse a temperature
		p.Temperature = cmp.Or(p.Temperature, &temperature)
	}
	p.MaxTokens = cmp.Or(p.MaxTokens, tokens+room)
	if !open(p.Provider) {
		p.Window = cmp.Or(p.Window, window.DefaultSize)
	}
	return p
}

// participantProblems collects what is wrong with the actor in a field.
type participantProblems struct {
	field string
	list  []protocol.Problem
}

func (l *participantProblems) add(setting, format string, args ...any) {
	l.list = append(l.list, protocol.Problemf(l.field+"."+setting, format, args...))
}

// isSeat reports whether the actor is a participant or a judge.
func (l *participantProblems) isSeat() bool {
	return strings.HasPrefix(l.field, "participants") || l.isJudge()
}

func (l *participantProblems) isJudge() bool { return strings.HasPrefix(l.field, "judges") }

// Check returns a problem for each value that the actor in a field of the configuration, such as "judges[0]", cannot have. Its
// name is checked by Config.CheckNames.
func (p *Participant) Check(field string) []protocol.Problem {
	l := &participantProblems{field: field}
	p.checkHuman(l)
	p.checkTools(l)
	if t := p.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		l.add("temperature", "%v is out of range, use 0 to 2", *t)
	}
	if !(p.TopP >= 0 && p.TopP <= 1) {
		l.add("top_p", "%v is out of range, use more than 0, at most 1", p.TopP)
	}
	if len(p.Stop) > maxStops || slices.Contains(p.Stop, "") {
		l.add("stop", "%q is not valid, use up to %d texts that are not empty", p.Stop, maxStops)
	}
	if problem := reasoning.Check(p.Reasoning); problem != "" {
		l.add("reasoning", "%s", problem)
	} else if n := reasoning.Budget(p.Reasoning); n > 0 && p.MaxTokens > 0 && n >= p.MaxTokens {
		l.add("reasoning", "%d tokens leave no room for the reply, max_tokens is %d", n, p.MaxTokens)
	}
	switch {
	case p.MaxTokens < 0 || p.MaxTokens > turns.MaxTokens:
		l.add("max_tokens", "%d is not valid, use 1 to %d", p.MaxTokens, turns.MaxTokens)
	case p.Window < 0 || p.Window > turns.MaxTokens:
		l.add("window", "%d is not valid, use 1 to %d", p.Window, turns.MaxTokens)
	case p.Window > 0 && p.Window <= min(p.MaxTokens, actor.MinReply):
		l.add("window", "%d is too small for a prompt and a reply", p.Window)
	}
	return l.list
}

// checkHuman adds a problem for each setting that does not fit a person, or that only a person can have.
func (p *Participant) checkHuman(l *participantProblems) {
	if p.Blind && (!p.Human || !l.isJudge()) {
		l.add("blind", "only a human judge can choose it")
	}
	if !p.Human {
		return
	}
	if !l.isSeat() {
		l.add("human", "only a participant or a judge can be a person")
	}
	if p.Provider != actor.Human {
		l.add("provider", "a person has no provider, but it is %q", p.Provider)
	}
	for _, x := range []struct {
		setting string
		set     bool
	}{
		{"model", p.Model != ""},
		{"temperature", p.Temperature != nil},
		{"window", p.Window != 0},
		{"top_p", p.TopP != 0},
		{"seed", p.Seed != nil},
		{"stop", p.Stop != nil},
		{"reasoning", p.Reasoning != ""},
	} {
		if x.set {
			l.add(x.setting, "a person has no %s", x.setting)
		}
	}
}

// checkTools adds a problem for each name of a tool that the actor cannot have.
func (p *Participant) checkTools(l *participantProblems) {
	switch {
	case len(p.Tools) == 0:
		return
	case p.Human:
		l.add("tools", "a person has no tools")
	case strings.HasPrefix(l.field, "substitutes"):
		l.add("tools", "a substitute has the tools of the judge, remove them")
	case !l.isSeat():
		l.add("tools", "only a participant or a judge can have tools")
	}
	for i, name := range p.Tools {
		if err := tool.CheckName(name); err != nil {
			l.add("tools", "%v", err)
		} else if slices.Contains(p.Tools[:i], name) {
			l.add("tools", "%q is there twice", name)
		}
	}
}

// CheckNames returns a problem for each name that a participant or a judge cannot have.
func (c *Config) CheckNames() (list []protocol.Problem) {
	seen := map[string]string{}
	for _, name := range actor.System {
		seen[name] = "a system actor"
	}
	for field, s := range c.Actors() {
		if !strings.HasPrefix(field, "participants") && !strings.HasPrefix(field, "judges") {
			continue
		}
		if reason := actor.CheckName(s.Name); reason != "" {
			list = append(list, protocol.Problemf(field+".name", "%s", reason))
		}
		if other, dup := seen[strings.ToLower(s.Name)]; dup {
			list = append(list, protocol.Problemf(field+".name", "%q is taken by %s", s.Name, other))
		}
		seen[strings.ToLower(s.Name)] = field
	}
	return list
}

// modelOf returns how a problem names a model.
func modelOf(name string) string {
	if name == "" {
		return "the default model of the provider"
	}
	return strconv.Quote(name)
}

// CheckPriced returns a problem for each model without a price, once for the actors that have the model of a participant.
func (c *Config) CheckPriced() (list []protocol.Problem) {
	unpriced := map[string]bool{}
	for field, s := range c.Actors() {
		own := strings.Contains(field, "[") // the others have the model of a participant, unless they are configured
		_, known := c.Prices.Lookup(s.Model)
		reported := !own && unpriced[s.Model]
		free := s.Human || s.Model == "" && (field == "retriever" || field == "embedder")
		if !known && !reported && !free {
			list = append(
				list,
				protocol.Problemf(
					field+".model",
					"%s has no price in prices, and limits.cost or ask_above_cost needs one",
					modelOf(s.Model),
				),
			)
			unpriced[s.Model] = true
		}
	}
	return list
}

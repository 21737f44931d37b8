// Package actor holds the settings of one actor of a debate: what is wrong with them, and their defaults.
package actor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers/tool"
)

// Settings has the fields of debate.Participant, which converts to it.
type Settings struct {
	Name         string
	Role         string
	Side         string
	Position     string
	Persona      string
	Instructions string
	Disabled     bool
	Human        bool
	Blind        bool
	Provider     string
	Model        string
	Temperature  *float64
	TopP         float64
	Seed         *int64
	Tools        []string
	Stop         []string
	Reasoning    string
	MaxTokens    int
	Window       int
}

// Human is the name of the provider that stands for people.
const Human = "human"

// MinReply limits, in tokens, how far the limit of a reply may be lowered to fit it into a window.
const MinReply = 256

// maxStops limits the texts that end a reply.
const maxStops = 16

// WithDefaults returns the settings with defaults in place of what is not set. tokens limits a reply. open reports whether the
// windows of a provider's models are known only when the debate starts.
func (s Settings) WithDefaults(temperature float64, tokens int, open func(provider string) bool) Settings {
	if s.Human {
		s.Provider, s.MaxTokens = cmp.Or(s.Provider, Human), cmp.Or(s.MaxTokens, tokens)
		return s
	}
	room := reasoning.Tokens(s.Reasoning)
	if room == 0 && s.TopP == 0 { // otherwise most services refuse a temperature
		s.Temperature = cmp.Or(s.Temperature, &temperature)
	}
	s.MaxTokens = cmp.Or(s.MaxTokens, tokens+room)
	if !open(s.Provider) {
		s.Window = cmp.Or(s.Window, window.DefaultSize)
	}
	return s
}

// CheckName returns what is wrong with the name of a participant or a judge, or the empty string.
func CheckName(name string) string {
	switch {
	case strings.TrimSpace(name) != name || name == "":
		return fmt.Sprintf("%q is not valid, use a name without leading or trailing blanks", name)
	case len(name) > 64:
		return fmt.Sprintf("%d bytes is too long, use at most 64", len(name))
	case strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == ':' || !unicode.IsPrint(r) }):
		return fmt.Sprintf("%q is not valid, remove '/', ':' and control characters", name)
	}
	return ""
}

// problems are what is wrong with the actor in a field.
type problems struct {
	field string
	list  []protocol.Problem
}

func (l *problems) add(setting, format string, args ...any) {
	l.list = append(l.list, protocol.Problemf(l.field+"."+setting, format, args...))
}

// isSeat reports whether the actor is a participant or a judge.
func (l *problems) isSeat() bool { return strings.HasPrefix(l.field, "participants") || l.isJudge() }

func (l *problems) isJudge() bool { return strings.HasPrefix(l.field, "judges") }

// Check returns a problem for each value that the actor in a field of the configuration, such as "judges[0]", cannot have. Its
// name is checked by CheckName.
func (s *Settings) Check(field string) []protocol.Problem {
	l := &problems{field: field}
	s.checkHuman(l)
	s.checkTools(l)
	if t := s.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		l.add("temperature", "%v is out of range, use 0 to 2", *t)
	}
	if !(s.TopP >= 0 && s.TopP <= 1) {
		l.add("top_p", "%v is out of range, use more than 0, at most 1", s.TopP)
	}
	if len(s.Stop) > maxStops || slices.Contains(s.Stop, "") {
		l.add("stop", "%q is not valid, use up to %d texts that are not empty", s.Stop, maxStops)
	}
	if problem := reasoning.Check(s.Reasoning); problem != "" {
		l.add("reasoning", "%s", problem)
	} else if n := reasoning.Budget(s.Reasoning); n > 0 && s.MaxTokens > 0 && n >= s.MaxTokens {
		l.add("reasoning", "%d tokens leave no room for the reply, max_tokens is %d", n, s.MaxTokens)
	}
	switch {
	case s.MaxTokens < 0 || s.MaxTokens > turns.MaxTokens:
		l.add("max_tokens", "%d is not valid, use 1 to %d", s.MaxTokens, turns.MaxTokens)
	case s.Window < 0 || s.Window > turns.MaxTokens:
		l.add("window", "%d is not valid, use 1 to %d", s.Window, turns.MaxTokens)
	case s.Window > 0 && s.Window <= min(s.MaxTokens, MinReply):
		l.add("window", "%d is too small for a prompt and a reply", s.Window)
	}
	return l.list
}

// checkHuman adds a problem for each setting that does not fit a person, or that only a person can have.
func (s *Settings) checkHuman(l *problems) {
	if s.Blind && (!s.Human || !l.isJudge()) {
		l.add("blind", "only a human judge can choose it")
	}
	if !s.Human {
		return
	}
	if !l.isSeat() {
		l.add("human", "only a participant or a judge can be a person")
	}
	if s.Provider != Human {
		l.add("provider", "a person has no provider, but it is %q", s.Provider)
	}
	for _, x := range []struct {
		setting string
		set     bool
	}{
		{"model", s.Model != ""},
		{"temperature", s.Temperature != nil},
		{"window", s.Window != 0},
		{"top_p", s.TopP != 0},
		{"seed", s.Seed != nil},
		{"stop", s.Stop != nil},
		{"reasoning", s.Reasoning != ""},
	} {
		if x.set {
			l.add(x.setting, "a person has no %s", x.setting)
		}
	}
}

// checkTools adds a problem for each name of a tool that the actor cannot have.
func (s *Settings) checkTools(l *problems) {
	switch {
	case len(s.Tools) == 0:
		return
	case s.Human:
		l.add("tools", "a person has no tools")
	case strings.HasPrefix(l.field, "substitutes"):
		l.add("tools", "a substitute has the tools of the judge, remove them")
	case !l.isSeat():
		l.add("tools", "only a participant or a judge can have tools")
	}
	for i, name := range s.Tools {
		if err := tool.CheckName(name); err != nil {
			l.add("tools", "%v", err)
		} else if slices.Contains(s.Tools[:i], name) {
			l.add("tools", "%q is there twice", name)
		}
	}
}

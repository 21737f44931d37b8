package debate

import (
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/tool"
)

// checkTools adds a problem for each name of a tool that an actor cannot have.
func checkTools(l *problemList, field string, p Participant) {
	field += ".tools"
	switch {
	case len(p.Tools) == 0:
		return
	case p.Human:
		l.add(field, "a person has no tools")
	case strings.HasPrefix(field, "substitutes"):
		l.add(field, "a substitute has the tools of the judge, remove them")
	case !strings.HasPrefix(field, "participants") && !strings.HasPrefix(field, "judges"):
		l.add(field, "only a participant or a judge can have tools")
	}
	for i, name := range p.Tools {
		if err := tool.CheckName(name); err != nil {
			l.add(field, "%v", err)
		} else if slices.Contains(p.Tools[:i], name) {
			l.add(field, "%q is there twice", name)
		}
	}
}

// usesTools reports whether an actor has tools.
func usesTools(c *Config) bool {
	has := func(p Participant) bool { return len(p.Tools) > 0 }
	return slices.ContainsFunc(c.Participants, has) || slices.ContainsFunc(c.Judges, has)
}

// The default limits of tool calls, and the greatest ones.
const (
	defaultToolRounds  = 4
	defaultToolCalls   = 16
	defaultToolBytes   = 8 << 10
	defaultToolTimeout = 30 * time.Second

	maxToolRounds = 16
	maxToolCalls  = 128
	maxToolBytes  = 32 << 10
	minToolBytes  = 256
)

// formatOf returns the format of a journal with the configuration. An engine that knows no documents and no tools would do
// without them, so it must leave the debate alone.
func formatOf(c *Config) int {
	if l := &c.Limits; len(c.Documents) > 0 || usesTools(c) || l.ToolRounds+l.ToolCalls+l.ToolBytes != 0 || l.ToolTimeout != 0 {
		return store.Format
	}
	return store.OldestFormat
}

// round returns the round of tool calls in an entry.
func (ev *ToolsCalled) round() *rounds.Round {
	return &rounds.Round{Key: ev.Key, Number: ev.Number, VisibleSeq: ev.VisibleSeq, Attempts: ev.Attempts, Parts: ev.Parts, Calls: ev.Calls}
}

package debate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
)

// privateOnes returns the documents that are private, or nil if there are none.
func privateOnes(list []evidence.Document) (private []evidence.Document) {
	for i := range list {
		if list[i].IsPrivate() {
			private = append(private, list[i])
		}
	}
	return private
}

// documentsProvider names the provider in attempts of steps that find passages in documents.
const documentsProvider = "documents"

// checkDocuments adds every problem of the documents.
func checkDocuments(c *Config, l *problemList) {
	if len(c.Documents) == 0 {
		return
	}
	for _, p := range evidence.CheckAll(c.Documents, seatsOf(c)) {
		l.add("documents"+p.Field, "%s", p.Reason)
	}
}

// checkRoom adds a problem for each document that alone fills the window of a reader.
func checkRoom(c *Config, l *problemList) {
	isSeat := seatsOf(c)
	for i := range c.Documents {
		d := &c.Documents[i]
		for field, p := range c.allActors() {
			if p.Window > 0 && d.Tokens >= p.Window && !p.Human && isSeat(p.Name) && d.IsFor(p.Name) {
				l.add(fmt.Sprintf("documents[%d]", i), noRoom, d.Name, d.Tokens, seatOf(field, p), p.Window)
				break
			}
		}
	}
}

// noRoom says what to do about a document that is too long.
const noRoom = "%s has about %d tokens, which leaves no room in the window of %s, %d: use a model with a larger window, a shorter text or other readers, or a tool that searches the document"

// blameDocuments adds a problem about the largest document of an actor if the documents take more than half of its window.
// It returns false if they do not.
func blameDocuments(c *Config, l *problemList, field string, p Participant) bool {
	list := documentsFor(c, actorOf(field, p))
	if strings.HasPrefix(field, "substitutes") {
		list = nil
		for _, j := range c.Judges {
			list = append(list, documentsFor(c, j.Name)...)
		}
	}
	if prompting.DocumentTokens(list) <= p.Window/2 {
		return false
	}
	largest := slices.MaxFunc(list, func(a, b evidence.Document) int { return a.Tokens - b.Tokens })
	at := slices.IndexFunc(c.Documents, func(d evidence.Document) bool { return d.Name == largest.Name })
	l.add(fmt.Sprintf("documents[%d]", at), noRoom, largest.Name, prompting.DocumentTokens(list), seatOf(field, p), p.Window)
	return true
}

// usesTools reports whether an actor has tools.
func usesTools(c *Config) bool {
	has := func(p Participant) bool { return len(p.Tools) > 0 }
	return slices.ContainsFunc(c.Participants, has) || slices.ContainsFunc(c.Judges, has)
}

// hasSources reports whether a debate can have sources, so that its turns can cite them.
func hasSources(c *Config) bool { return len(c.Documents) > 0 || usesTools(c) }

// callersOf returns PhaseStarted.Callers for a phase.
func callersOf(c *Config, p *protocol.Phase) (list []string) {
	if !p.Parallel || !usesTools(c) {
		return nil
	}
	for i := range p.Steps {
		if who := c.settings(p.Steps[i].Actor); who != nil && len(who.Tools) > 0 {
			list = append(list, sources.Lane(p.Steps[i].Key))
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// formatOf returns the format of a journal with the configuration. An engine that knows no documents, no reference and no tools would
// do without them, so it must leave the debate alone.
func formatOf(c *Config) int {
	if l := &c.Limits; len(c.Documents) > 0 || c.Reference != "" || usesTools(c) || l.ToolRounds+l.ToolCalls+l.ToolBytes != 0 || l.ToolTimeout != 0 {
		return store.Format
	}
	return store.OldestFormat
}

// round returns the round of tool calls in an entry.
func (ev *ToolsCalled) round() *rounds.Round {
	return &rounds.Round{Key: ev.Key, Number: ev.Number, VisibleSeq: ev.VisibleSeq, Attempts: ev.Attempts, Parts: ev.Parts, Calls: ev.Calls}
}

package debate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/transcript"
)

// This file holds what is decided when a debate starts, because only then the prompts and the providers are known: the
// windows of actors, and the token limits of replies that fit into them.

// inheritsModel reports whether an actor may have the provider and model of another one.
func inheritsModel(field string) bool { return field == "persona_assigner" || field == "summarizer" }

// window returns the size of the actor's window. Before the debate has started, it may be a guess.
func (p *Participant) window() int { return cmp.Or(p.Window, window.DefaultSize) }

// replyLimitWarnings returns a warning for each actor whose replies get a lower token limit than c gives them.
func (c *Config) replyLimitWarnings(run int, limits map[string]int) (list []Warning) {
	if len(limits) == 0 {
		return nil
	}
	for field, p := range c.allActors() {
		if n, ok := limits[field]; ok {
			who := cmp.Or(p.Name, field)
			list = append(list, Warning{
				EventMeta: liveMeta("warning"), Key: transcript.Key{Run: run, Phase: "configuration", Actor: p.Name, Target: field},
				Text: fmt.Sprintf("replies of %s are limited to %d tokens instead of %d, because the prompt and some history must fit into the window of %d", who, n, p.MaxTokens, p.Window),
			})
		}
	}
	return list
}

// windowWarnings returns a warning for each actor whose configured window is larger than the one that its provider knows.
func (c *Config) windowWarnings(run int, known map[string]int) (list []Warning) {
	if len(known) == 0 {
		return nil
	}
	for field, p := range c.allActors() {
		if n := known[field]; n > 0 && n < p.Window && (list == nil || !inheritsModel(field)) {
			list = append(list, Warning{
				EventMeta: liveMeta("warning"), Key: transcript.Key{Run: run, Phase: "configuration", Actor: p.Name, Target: field},
				Text: fmt.Sprintf("the window of %s is %d tokens, but its provider has only %d for the model: longer prompts fail or are cut; leave out window, or enlarge that of the server", cmp.Or(p.Name, field), p.Window, n),
			})
		}
	}
	return list
}

// minReply limits, in tokens, how far the engine lowers the limit of a reply to fit it into a window.
const minReply = 256

// limitReplies sets the token limits of actors' replies, by the path of the actor's field.
func (c *Config) limitReplies(limits map[string]int) {
	c.changeActors(func(field string, p *Participant) {
		if n, ok := limits[field]; ok {
			p.MaxTokens = n
		}
	})
}

// setWindows sets the windows of actors that have none to those that are known, by the path of the actor's field, or to the
// default.
func (c *Config) setWindows(known map[string]int) {
	c.changeActors(func(field string, p *Participant) {
		if !p.Human {
			p.Window = cmp.Or(p.Window, known[field], window.DefaultSize)
		}
	})
}

// changeActors calls set with each actor that generates text, and with the path of its field.
func (c *Config) changeActors(set func(field string, p *Participant)) {
	for _, list := range []struct {
		field  string
		actors *[]Participant
	}{{"participants", &c.Participants}, {"judges", &c.Judges}, {"substitutes", &c.Substitutes}} {
		*list.actors = slices.Clone(*list.actors) // calls in flight keep the old list
		for i := range *list.actors {
			set(indexed(list.field, i), &(*list.actors)[i])
		}
	}
	set("persona_assigner", &c.PersonaAssigner)
	set("summarizer", &c.Summarizer)
}

// keepWindows gives each actor without a window the one that it has in another configuration, if it has the same model.
func (c *Config) keepWindows(of *Config) {
	c.changeActors(func(field string, p *Participant) {
		was := of.settings(actorOf(field, *p))
		if p.Window == 0 && was != nil && was.Provider == p.Provider && was.Model == p.Model {
			p.Window = was.Window
		}
	})
}

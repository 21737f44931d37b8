package debate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// This file holds what actors read and call, and what is decided when a debate starts, because only then the prompts and the
// providers are known: the windows of actors, and the token limits of replies that fit into them.

// window returns the size of the actor's window. Before the debate has started, it may be a guess.
func windowOf(p *Participant) int { return cmp.Or(p.Window, window.DefaultSize) }

// limitReplies sets the token limits of actors' replies, by the path of the actor's field.
func limitReplies(c *Config, limits map[string]int) {
	changeActors(c, func(field string, p *Participant) {
		if n, ok := limits[field]; ok {
			p.MaxTokens = n
		}
	})
}

// setWindows sets the windows of actors that have none to those that are known, by the path of the actor's field, or to the
// default.
func setWindows(c *Config, known map[string]int) {
	changeActors(c, func(field string, p *Participant) {
		if !p.Human {
			p.Window = cmp.Or(p.Window, known[field], window.DefaultSize)
		}
	})
}

// changeActors calls set with each actor that generates text, and with the path of its field.
func changeActors(c *Config, set func(field string, p *Participant)) {
	for _, list := range []struct {
		field  string
		actors *[]Participant
	}{{"participants", &c.Participants}, {"judges", &c.Judges}, {"substitutes", &c.Substitutes}} {
		*list.actors = slices.Clone(*list.actors) // calls in flight keep the old list
		for i := range *list.actors {
			set(actor.Field(list.field, i), &(*list.actors)[i])
		}
	}
	set("persona_assigner", &c.PersonaAssigner)
	set("summarizer", &c.Summarizer)
}

// keepWindows gives each actor without a window the one that it has in another configuration, if it has the same model.
func keepWindows(c *Config, of *Config) {
	changeActors(c, func(field string, p *Participant) {
		was := of.Actor(actor.NameIn(field, p.Name))
		if p.Window == 0 && was != nil && was.Provider == p.Provider && was.Model == p.Model {
			p.Window = was.Window
		}
	})
}

func participantProfiles(c Config) (list []transcript.Profile) {
	for i := range c.Participants {
		if !c.Participants[i].Disabled {
			list = append(list, c.Participants[i].Profile())
		}
	}
	return list
}

func namesOf(list []Participant) (names []string) {
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names
}

// shown returns the attachment as models get it. It shares the bytes.
func shown(a *Attachment) *providers.Attachment {
	return &providers.Attachment{
		Name:      a.Name,
		MediaType: a.MediaType,
		Data:      a.Data,
		URL:       a.URL,
		Pages:     a.Pages,
	}
}

// attachmentsFor returns the attachments that an actor sees.
func attachmentsFor(c *Config, name string) []*providers.Attachment {
	if len(c.Attachments) == 0 || slices.Contains(actor.System, name) {
		return nil
	}
	return shownAttachments(c, func(a *Attachment) bool { return a.IsFor(name) })
}

// attachmentsSeen returns the attachments that the actor in a field sees. A substitute sees those of all judges.
func attachmentsSeen(c *Config, field, name string) (list []*providers.Attachment) {
	if !strings.HasPrefix(field, "substitutes") {
		return attachmentsFor(c, actor.NameIn(field, name))
	}
	return shownAttachments(c, func(a *Attachment) bool {
		return slices.ContainsFunc(c.Judges, func(j Participant) bool {
			return !j.Human && a.IsFor(j.Name)
		})
	})
}

// shownAttachments returns the attachments that are wanted, as models get them.
func shownAttachments(c *Config, wanted func(*Attachment) bool) (list []*providers.Attachment) {
	for i := range c.Attachments {
		a := &c.Attachments[i]
		if wanted(a) {
			list = append(list, shown(a))
		}
	}
	return list
}

// seatSettings implements prompting.Actors.
type seatSettings struct {
	config *Config
	hidden []string // documents and attachments that the judges of a rejudged debate do not see
}

// ModelOf returns the model of an actor.
func (s seatSettings) ModelOf(actor string) (prompting.Model, bool) {
	p := s.config.Actor(actor)
	if p == nil {
		return prompting.Model{}, false
	}
	return prompting.Model{
		Provider:  p.Provider,
		Name:      p.Model,
		Window:    p.Window,
		MaxTokens: p.MaxTokens,
	}, true
}

// ToolsOf returns the names of the tools that the model of an actor may call.
func (s seatSettings) ToolsOf(actor string) []string {
	p := s.config.Actor(actor)
	if p == nil || p.Human {
		return nil
	}
	return p.Tools
}

// DocumentsOf returns the documents that an actor reads.
func (s seatSettings) DocumentsOf(actor string) []evidence.Document {
	list := documentsFor(s.config, actor)
	if !s.hidesFrom(actor) {
		return list
	}
	return slices.DeleteFunc(list, func(d evidence.Document) bool { return slices.Contains(s.hidden, d.Name) })
}

// AttachmentsOf returns the attachments that an actor sees.
func (s seatSettings) AttachmentsOf(actor string) []*providers.Attachment {
	list := attachmentsFor(s.config, actor)
	if !s.hidesFrom(actor) {
		return list
	}
	return slices.DeleteFunc(list, func(a *providers.Attachment) bool { return slices.Contains(s.hidden, a.Name) })
}

// hidesFrom reports whether something is hidden from an actor, who is a judge then.
func (s seatSettings) hidesFrom(actor string) bool {
	return len(s.hidden) > 0 && journal.Find(s.config.Judges, actor) != nil
}

// hiddenTexts returns the texts of hidden documents, as far as they are stored.
func (s seatSettings) hiddenTexts() (list []string) {
	for i := range s.config.Documents {
		d := &s.config.Documents[i]
		if slices.Contains(s.hidden, d.Name) && d.Text != "" {
			list = append(list, d.Text)
		}
	}
	return list
}

// documentsFor returns the documents that an actor reads.
func documentsFor(c *Config, name string) (list []evidence.Document) {
	if len(c.Documents) == 0 || slices.Contains(actor.System, name) {
		return nil
	}
	for i := range c.Documents {
		d := &c.Documents[i]
		if d.IsFor(name) {
			list = append(list, *d)
		}
	}
	return list
}

// warningsAbout returns warnings about actors as events of a run.
func warningsAbout(run int, list []clients.Warning) (events []Warning) {
	for _, w := range list {
		events = append(events, Warning{
			EventMeta: liveMeta("warning"),
			Key: transcript.Key{
				Run:    run,
				Phase:  "configuration",
				Actor:  w.Name,
				Target: w.Field,
			},
			Text: w.Text,
		})
	}
	return events
}

// startWarnings returns warnings about an accepted configuration with the windows that are known and with lower limits of replies.
func startWarnings(c *Config, run int, windows, limits map[string]int) []Warning {
	list := warningsAbout(run, clients.WarnOfWindows(c.Actors(), windows))
	return append(list, warningsAbout(run, clients.WarnOfReplyLimits(c.Actors(), limits))...)
}

// privateOnes returns the documents that are private, or nil if there are none.
func privateOnes(list []evidence.Document) (private []evidence.Document) {
	for i := range list {
		if list[i].IsPrivate() {
			private = append(private, list[i])
		}
	}
	return private
}

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
		if who := c.Actor(p.Steps[i].Actor); who != nil && len(who.Tools) > 0 {
			list = append(list, sources.Lane(p.Steps[i].Key))
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

func documentNames(c *Config) (names []string) {
	for i := range c.Documents {
		names = append(names, c.Documents[i].Name)
	}
	for i := range c.Attachments {
		names = append(names, c.Attachments[i].Name)
	}
	return names
}

// textsOf returns what prompts hold before the history.
func textsOf(c *Config) *prompting.Texts {
	return &prompting.Texts{
		Topic:      c.Topic,
		Background: c.Background,
		Reference:  c.Reference,
		Documents:  c.Documents,
	}
}

package core

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

// LiveMeta returns the EventMeta of a live event. The event gets its seq when it is shown.
func LiveMeta(kind string) journal.EventMeta {
	return journal.EventMeta{Type: kind, Live: true}
}

// TooSmall returns the problem with a first prompt that leaves too little of a window.
func (s Seats) TooSmall(field string, p *journal.Participant, size int) (problem protocol.Problem, shared bool) {
	name := actor.NameIn(field, p.Name)
	read := s.DocumentsOf(name)
	if strings.HasPrefix(field, "substitutes") {
		read = nil
		for _, j := range s.Config.Judges {
			read = append(read, s.DocumentsOf(j.Name)...)
		}
	}
	return TextsOf(s.Config).TooSmall(field, p, prompting.FirstPrompt{
		Tokens:      size,
		Attachments: prompting.AttachmentTokens(s.AttachmentsOf(name)),
		Read:        read,
		Documents:   prompting.DocumentTokens(read),
	})
}

// AsModels changes profiles to those of models: a person may take over from a model, and a model from a person.
func AsModels(list []transcript.Profile) []transcript.Profile {
	for i := range list {
		list[i].Human = false
	}
	return list
}

// window returns the size of the actor's window. Before the debate has started, it may be a guess.
func windowOf(p *journal.Participant) int {
	return cmp.Or(p.Window, window.DefaultSize)
}

// limitReplies sets the token limits of actors' replies, by the path of the actor's field.
func limitReplies(c *journal.Config, limits map[string]int) {
	changeActors(c, func(field string, p *journal.Participant) {
		if n, ok := limits[field]; ok {
			p.MaxTokens = n
		}
	})
}

// SetWindows sets the windows of actors that have none to those that are known, by the path of the actor's field, or to the
// default.
func SetWindows(c *journal.Config, known map[string]int) {
	changeActors(c, func(field string, p *journal.Participant) {
		if !p.Human {
			p.Window = cmp.Or(p.Window, known[field], window.DefaultSize)
		}
	})
}

// changeActors calls set with each actor that generates text, and with the path of its field.
func changeActors(c *journal.Config, set func(field string, p *journal.Participant)) {
	for _, list := range []struct {
		field  string
		actors *[]journal.Participant
	}{{"participants", &c.Participants}, {"judges", &c.Judges}, {"substitutes", &c.Substitutes}} {
		*list.actors = slices.Clone(*list.actors) // calls in flight keep the old list
		for i := range *list.actors {
			set(actor.Field(list.field, i), &(*list.actors)[i])
		}
	}
	set("persona_assigner", &c.PersonaAssigner)
	set("summarizer", &c.Summarizer)
}

// KeepWindows gives each actor without a window the one that it has in another configuration, if it has the same model.
func KeepWindows(c *journal.Config, of *journal.Config) {
	changeActors(c, func(field string, p *journal.Participant) {
		was := of.Actor(actor.NameIn(field, p.Name))
		if p.Window == 0 &&
			was != nil &&
			was.Provider == p.Provider &&
			was.Model == p.Model {
			p.Window = was.Window
		}
	})
}

// Profiles returns the profiles of the participants that are not disabled.
func Profiles(c journal.Config) (list []transcript.Profile) {
	for i := range c.Participants {
		if !c.Participants[i].Disabled {
			list = append(list, c.Participants[i].Profile())
		}
	}
	return list
}

func namesOf(list []journal.Participant) (names []string) {
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names
}

// shown returns the attachment as models get it. It shares the bytes.
func shown(a *journal.Attachment) *providers.Attachment {
	return &providers.Attachment{
		Name:      a.Name,
		MediaType: a.MediaType,
		Data:      a.Data,
		URL:       a.URL,
		Pages:     a.Pages,
	}
}

// attachmentsFor returns the attachments that an actor sees.
func attachmentsFor(c *journal.Config, name string) []*providers.Attachment {
	if len(c.Attachments) == 0 || slices.Contains(actor.System, name) {
		return nil
	}
	return shownAttachments(c, func(a *journal.Attachment) bool {
		return a.IsFor(name)
	})
}

// AttachmentsSeen returns the attachments that the actor in a field sees. A substitute sees those of all judges.
func AttachmentsSeen(c *journal.Config, field, name string) (list []*providers.Attachment) {
	if !strings.HasPrefix(field, "substitutes") {
		return attachmentsFor(c, actor.NameIn(field, name))
	}
	return shownAttachments(c, func(a *journal.Attachment) bool {
		return slices.ContainsFunc(c.Judges, func(j journal.Participant) bool {
			return !j.Human && a.IsFor(j.Name)
		})
	})
}

// shownAttachments returns the attachments that are wanted, as models get them.
func shownAttachments(c *journal.Config, wanted func(*journal.Attachment) bool) (list []*providers.Attachment) {
	for i := range c.Attachments {
		a := &c.Attachments[i]
		if wanted(a) {
			list = append(list, shown(a))
		}
	}
	return list
}

// Seats implements prompting.Actors.
type Seats struct {
	Config *journal.Config
	Hidden []string // documents and attachments that judges do not see
}

// ModelOf returns the model of an actor.
func (s Seats) ModelOf(actor string) (prompting.Model, bool) {
	p := s.Config.Actor(actor)
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
func (s Seats) ToolsOf(actor string) []string {
	p := s.Config.Actor(actor)
	if p == nil || p.Human {
		return nil
	}
	return p.Tools
}

// DocumentsOf returns the documents that an actor reads.
func (s Seats) DocumentsOf(actor string) []evidence.Document {
	list := documentsFor(s.Config, actor)
	if !s.hidesFrom(actor) {
		return list
	}
	return slices.DeleteFunc(list, func(d evidence.Document) bool {
		return slices.Contains(s.Hidden, d.Name)
	})
}

// AttachmentsOf returns the attachments that an actor sees.
func (s Seats) AttachmentsOf(actor string) []*providers.Attachment {
	list := attachmentsFor(s.Config, actor)
	if !s.hidesFrom(actor) {
		return list
	}
	return slices.DeleteFunc(list, func(a *providers.Attachment) bool {
		return slices.Contains(s.Hidden, a.Name)
	})
}

// hidesFrom reports whether something is hidden from an actor, who is a judge then.
func (s Seats) hidesFrom(actor string) bool {
	return len(s.Hidden) > 0 && journal.Find(s.Config.Judges, actor) != nil
}

// hiddenTexts returns the texts of hidden documents, as far as they are stored.
func (s Seats) hiddenTexts() (list []string) {
	for i := range s.Config.Documents {
		d := &s.Config.Documents[i]
		if slices.Contains(s.Hidden, d.Name) && d.Text != "" {
			list = append(list, d.Text)
		}
	}
	return list
}

// documentsFor returns the documents that an actor reads.
func documentsFor(c *journal.Config, name string) (list []evidence.Document) {
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

// WarningsAbout returns warnings about actors as events of a run.
func WarningsAbout(run int, list []clients.Warning) (events []journal.Warning) {
	for _, w := range list {
		events = append(events, journal.Warning{
			EventMeta: LiveMeta("warning"),
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

// StartWarnings returns warnings about an accepted configuration with the windows that are known and with lower limits of replies.
func StartWarnings(c *journal.Config, run int, windows, limits map[string]int) []journal.Warning {
	list := WarningsAbout(run, clients.WarnOfWindows(c.Actors(), windows))
	return append(list, WarningsAbout(run, clients.WarnOfReplyLimits(c.Actors(), limits))...)
}

// PrivateOnes returns the documents that are private, or nil if there are none.
func PrivateOnes(list []evidence.Document) (private []evidence.Document) {
	for i := range list {
		if list[i].IsPrivate() {
			private = append(private, list[i])
		}
	}
	return private
}

// UsesTools reports whether a participant or a judge may call tools.
func UsesTools(c *journal.Config) bool {
	has := func(p journal.Participant) bool { return len(p.Tools) > 0 }
	return slices.ContainsFunc(c.Participants, has) || slices.ContainsFunc(c.Judges, has)
}

// HasSources reports whether a debate can have sources, so that its turns can cite them.
func HasSources(c *journal.Config) bool {
	return len(c.Documents) > 0 || UsesTools(c)
}

// CallersOf returns PhaseStarted.Callers for a phase.
func CallersOf(c *journal.Config, p *protocol.Phase) (list []string) {
	if !p.Parallel || !UsesTools(c) {
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

// DocumentNames returns the names of the documents and the attachments.
func DocumentNames(c *journal.Config) (names []string) {
	for i := range c.Documents {
		names = append(names, c.Documents[i].Name)
	}
	for i := range c.Attachments {
		names = append(names, c.Attachments[i].Name)
	}
	return names
}

// TextsOf returns what prompts hold before the history.
func TextsOf(c *journal.Config) *prompting.Texts {
	return &prompting.Texts{
		Topic:      c.Topic,
		Background: c.Background,
		Reference:  c.Reference,
		Documents:  c.Documents,
	}
}

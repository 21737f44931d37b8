package debate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/attachment"
	"github.com/elenchus-go/debate/internal/calibration"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge/measured"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// This file holds what is decided when a debate starts, because only then the prompts and the providers are known: the
// windows of actors, and the token limits of replies that fit into them.

// templatesProvider names the provider, built in, that retrieves reasoning templates.
const templatesProvider = "templates"

// inheritsModel reports whether an actor may have the provider and model of another one.
func inheritsModel(field string) bool { return field == "persona_assigner" || field == "summarizer" }

// window returns the size of the actor's window. Before the debate has started, it may be a guess.
func (p *Participant) window() int { return cmp.Or(p.Window, window.DefaultSize) }

// replyLimitWarnings returns a warning for each actor whose replies get a lower token limit than c gives them.
func replyLimitWarnings(c *Config, run int, limits map[string]int) (list []Warning) {
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
func windowWarnings(c *Config, run int, known map[string]int) (list []Warning) {
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
			set(indexed(list.field, i), &(*list.actors)[i])
		}
	}
	set("persona_assigner", &c.PersonaAssigner)
	set("summarizer", &c.Summarizer)
}

// keepWindows gives each actor without a window the one that it has in another configuration, if it has the same model.
func keepWindows(c *Config, of *Config) {
	changeActors(c, func(field string, p *Participant) {
		was := of.settings(actorOf(field, *p))
		if p.Window == 0 && was != nil && was.Provider == p.Provider && was.Model == p.Model {
			p.Window = was.Window
		}
	})
}

func participantProfiles(c Config) (list []transcript.Profile) {
	for i := range c.Participants {
		if !c.Participants[i].Disabled {
			list = append(list, c.Participants[i].profile())
		}
	}
	return list
}

func judgeProfiles(c Config) (list []transcript.Profile) {
	for _, j := range c.Judges {
		list = append(list, j.profile())
	}
	return list
}

// String describes the attachment without its bytes and without its address.
func (a Attachment) String() string { return a.shown().String() }

// Format writes the result of String for every verb, so that no log holds the bytes.
func (a Attachment) Format(f fmt.State, _ rune) { fmt.Fprint(f, a.String()) }

// shown returns the attachment as models get it. It shares the bytes.
func (a *Attachment) shown() *providers.Attachment {
	return &providers.Attachment{Name: a.Name, MediaType: a.MediaType, Data: a.Data, URL: a.URL, Pages: a.Pages}
}

// isFor reports whether a participant or a judge sees the attachment.
func (a *Attachment) isFor(name string) bool {
	return len(a.Readers) == 0 || slices.Contains(a.Readers, name)
}

// withDefaults returns the attachment with its pages.
func (a Attachment) withDefaults() Attachment {
	if a.MediaType == attachment.PDF && a.Pages == 0 && len(a.Data) <= attachment.MaxData {
		a.Pages = attachment.Pages(a.Data)
	}
	return a
}

// attachmentsFor returns the attachments that an actor sees.
func attachmentsFor(c *Config, actor string) (list []*providers.Attachment) {
	if len(c.Attachments) == 0 || slices.Contains(systemActors, actor) {
		return nil
	}
	return shownAttachments(c, func(a *Attachment) bool { return a.isFor(actor) && !hides(c, a.Name, actor) })
}

// hides reports whether an actor is a judge from whom a document or an attachment is hidden.
func hides(c *Config, name, actor string) bool {
	return slices.Contains(c.hidden, name) && findParticipant(c.Judges, actor) != nil
}

// hiddenTexts returns the texts of hidden documents, as far as they are stored.
func hiddenTexts(c *Config) (list []string) {
	for i := range c.Documents {
		if d := &c.Documents[i]; slices.Contains(c.hidden, d.Name) && d.Text != "" {
			list = append(list, d.Text)
		}
	}
	return list
}

// attachmentsSeen returns the attachments that the actor in a field sees. A substitute sees those of all judges.
func attachmentsSeen(c *Config, field string, p Participant) (list []*providers.Attachment) {
	if !strings.HasPrefix(field, "substitutes") {
		return attachmentsFor(c, actorOf(field, p))
	}
	return shownAttachments(c, func(a *Attachment) bool {
		return slices.ContainsFunc(c.Judges, func(j Participant) bool { return !j.Human && a.isFor(j.Name) })
	})
}

// shownAttachments returns the attachments that are wanted, as models get them.
func shownAttachments(c *Config, wanted func(*Attachment) bool) (list []*providers.Attachment) {
	for i := range c.Attachments {
		if a := &c.Attachments[i]; wanted(a) {
			list = append(list, a.shown())
		}
	}
	return list
}

// actors implements prompting.Actors.
type actors Config

// ModelOf returns the model of an actor.
func (c *actors) ModelOf(actor string) (calibration.Model, bool) {
	p := (*Config)(c).settings(actor)
	if p == nil {
		return calibration.Model{}, false
	}
	return calibration.Model{Provider: p.Provider, Name: p.Model, Window: p.Window, MaxTokens: p.MaxTokens}, true
}

// ToolsOf returns the names of the tools that the model of an actor may call.
func (c *actors) ToolsOf(actor string) []string {
	if p := (*Config)(c).settings(actor); p != nil && !p.Human {
		return p.Tools
	}
	return nil
}

// DocumentsOf returns the documents that an actor reads.
func (c *actors) DocumentsOf(actor string) []evidence.Document {
	return documentsFor((*Config)(c), actor)
}

// AttachmentsOf returns the attachments that an actor sees.
func (c *actors) AttachmentsOf(actor string) []*providers.Attachment {
	return attachmentsFor((*Config)(c), actor)
}

// documentsFor returns the documents that a participant or a judge reads.
func documentsFor(c *Config, actor string) (list []evidence.Document) {
	if len(c.Documents) == 0 || slices.Contains(systemActors, actor) {
		return nil
	}
	for i := range c.Documents {
		if d := &c.Documents[i]; d.IsFor(actor) && !hides(c, d.Name, actor) {
			list = append(list, *d)
		}
	}
	return list
}

// seatOf names an actor in an error.
func seatOf(field string, p Participant) string { return cmp.Or(p.Name, field) }

// seatsOf returns a function that reports whether a participant or a judge has a name.
func seatsOf(c *Config) func(name string) bool {
	return func(name string) bool {
		is := func(p Participant) bool { return p.Name == name }
		return slices.ContainsFunc(c.Participants, is) || slices.ContainsFunc(c.Judges, is)
	}
}

// checkAttachments adds every problem of the attachments.
func checkAttachments(c *Config, l *problemList) {
	if len(c.Attachments) == 0 {
		return
	}
	var files []attachment.Named
	for _, a := range c.Attachments {
		files = append(files, attachment.Named{File: attachment.File{MediaType: a.MediaType, Data: a.Data, URL: a.URL, Pages: a.Pages}, Name: a.Name, Readers: a.Readers})
	}
	for _, p := range attachment.CheckAll(files, seatsOf(c)) {
		l.add("attachments"+p.Field, "%s", p.Reason)
	}
}

// selfPreferenceWarnings returns a warning for each judge that uses the same model as a participant: models tend to
// prefer their own output. named resolves the name of a provider, and reports whether its replies come from a person.
func selfPreferenceWarnings(c *Config, run int, named func(string) (string, bool)) (list []Warning) {
	for i, j := range slices.Concat(c.Judges, c.Substitutes) {
		judge, person := named(j.Provider)
		if person {
			continue
		}
		var kin []string
		for _, p := range c.active() {
			if name, _ := named(p.Provider); name == judge && p.Model == j.Model {
				kin = append(kin, p.Name)
			}
		}
		if len(kin) == 0 {
			continue
		}
		who, field := "judge "+j.Name, fmt.Sprintf("judges[%d]", i)
		if i >= len(c.Judges) {
			field = fmt.Sprintf("substitutes[%d]", i-len(c.Judges))
			who = field
		}
		list = append(list, Warning{
			EventMeta: liveMeta("warning"), Key: transcript.Key{Run: run, Phase: "configuration", Actor: j.Name, Target: field},
			Text: fmt.Sprintf("%s uses the same model as %s and may favor them", who, naming.Enumerate(kin, len(kin))),
		})
	}
	return list
}

// auditedField names the field of a judge, below its path, in warnings about biased judges.
const auditedField = ".model"

// biasWarnings returns a warning for each judge that was found biased by an audit of its model. templates is the version of the
// templates of the debate's prompts.
func biasWarnings(c *Config, run int, templates string, audits []measured.Record) (list []Warning) {
	for i, j := range slices.Concat(c.Judges, c.Substitutes) {
		who, field := "judge "+j.Name, indexed("judges", i)
		if i >= len(c.Judges) {
			field = indexed("substitutes", i-len(c.Judges))
			who = field
		}
		for _, a := range audits {
			found := a.Biased()
			if j.Human || j.Model == "" || a.Model != j.Model || found == "" {
				continue
			}
			text := fmt.Sprintf("%s: an audit found its model %s biased: %s", who, j.Model, found)
			if a.Prompts != measured.PromptsHash(templates, j.Persona, j.Instructions) {
				text += "; it was measured with other prompts"
			}
			list = append(list, Warning{
				EventMeta: liveMeta("warning"), Key: transcript.Key{Run: run, Phase: "configuration", Actor: j.Name, Target: field + auditedField}, Text: text,
			})
		}
	}
	return list
}

// Package briefing writes what a person must know to take part in a debate.
package briefing

import (
	"strings"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/delimit"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// Data is a debate.Briefing, which documents its fields.
type Data struct {
	Topic, Background, Rules string

	Me     transcript.Profile
	Others []transcript.Profile
	Rubric judge.Rubric
}

// Text returns the briefing. Each line of what users or models wrote begins with "> ", apart from names, roles,
// sides and criteria, which have one line. So no text can pass for another part. Empty parts are left out.
func (b Data) Text() string {
	var parts []string
	add := func(title, text string) {
		if !characters.IsBlank(text) {
			parts = append(parts, title+":\n"+text)
		}
	}
	add("Topic", quoted(b.Topic))
	add("Your seat", profileText(&b.Me))
	add("Your persona", quoted(b.Me.Persona))
	add("Your key arguments", quoted(strings.Join(b.Me.KeyArguments, "\n")))
	add("Your instructions", quoted(b.Me.Instructions))
	var others []string
	for i := range b.Others {
		others = append(others, profileText(&b.Others[i]))
	}
	add("Participants", strings.Join(others, "\n"))
	if len(b.Rubric) > 0 {
		add("Criteria for each participant, with their weights", b.Rubric.Outline())
	}
	add("Format and rules", b.Rules)
	add("Background", quoted(b.Background))
	return strings.Join(parts, "\n\n")
}

// quoted marks the lines of a text. It returns "" for a blank text.
func quoted(text string) string {
	if characters.IsBlank(text) {
		return ""
	}
	return delimit.Mark(text)
}

// profileText describes a participant: a line with the name, the role and the side, and the marked lines of the position.
func profileText(p *transcript.Profile) string {
	line := "- " + delimit.Line("", p.Name)
	if p.Role != "" {
		line += ", " + delimit.Line("", p.Role)
	}
	if p.Side != "" {
		line += ", side: " + delimit.Line("", p.Side)
	}
	if position := quoted(p.Position); position != "" {
		line += "\n" + position
	}
	return line
}

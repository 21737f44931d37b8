package journal

import (
	"strings"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/delimit"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// Briefing is what a person must know to reply to a step. It has what a system prompt tells a model, with the names that the
// person sees. Users and models wrote its texts: escape them where you show them.
type Briefing struct {
	Topic      string `json:"topic"`
	Background string `json:"background,omitempty"`
	// Reference is Config.Reference. It is empty for participants.
	Reference string `json:"reference,omitempty"`
	// Rules says what the format of the debate is and what the person has to heed.
	Rules string `json:"rules,omitempty"`
	// Me describes the person's seat: the role, the side, the position, the persona and the user's instructions.
	Me transcript.Profile `json:"me"`
	// Others are the other participants, or all of them for a judge: the name, the role, the side and the position of each.
	Others []transcript.Profile `json:"others,omitempty"`
	// Rubric holds the criteria by which the person judges, in order. Their weights are percentages. It is empty for
	// participants, and for judges who do not judge by criteria.
	Rubric judge.Rubric `json:"rubric,omitempty"`
}

// Text returns the briefing as plain text. Each line of what users or models wrote begins with "> ", apart from names, roles,
// sides and criteria, which have one line. So no text can pass for another part. Empty parts are left out.
func (b *Briefing) Text() string {
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
	add("Reference answer, which only judges see", quoted(b.Reference))
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

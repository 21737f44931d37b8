package prompts

import (
	"fmt"
	"text/template"
	"text/template/parse"

	"github.com/elenchus-go/debate/transcript"
)

// isEmpty reports whether a template is missing or has no content.
func isEmpty(t *template.Template) bool { return t == nil || parse.IsEmptyTree(t.Root) }

// tryRendering renders both parts with sample data, in which every key of Vars exists and is empty.
func (p prompt) tryRendering() error {
	p.user.Option("missingkey=zero")
	defer p.user.Option("missingkey=error")
	if _, err := render(p.system, sampleData.systemData()); err != nil {
		return fmt.Errorf("%w (a system prompt can read only Topic, Background, Me, Others, Vars, Criteria, Nonce and Blind)", err)
	}
	_, err := render(p.user, &sampleData)
	return err
}

// sampleData has a value in each field, so that most branches of a template are rendered.
var sampleData = func() Data {
	seat := transcript.Profile{
		Name: "name", Role: "role", Side: "side", Position: "position", Persona: "persona",
		Instructions: "instructions", KeyArguments: []string{"argument", "argument"},
	}
	return Data{
		Topic: "topic", Background: "background", Me: seat, Others: []transcript.Profile{seat, seat, seat}, Target: &seat,
		Opponents: []string{"name", "name"}, Phase: "phase", Round: 2, Rounds: 3, MinRounds: 2,
		ReplyFields: "reply", Violations: []string{"violation", "violation"}, Criteria: "criteria", Nonce: "nonce", Blind: true,
		Advice: []string{"advice", "advice"},
	}
}()

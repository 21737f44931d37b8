package prompts

import (
	"fmt"
	"text/template"
	"text/template/parse"

	"github.com/elenchus-go/debate/transcript"
)

func isEmpty(t *template.Template) bool { return t == nil || parse.IsEmptyTree(t.Root) }

// tryRendering renders both parts with made-up data, in which any key of Vars is there and empty.
func (p prompt) tryRendering() error {
	p.user.Option("missingkey=zero")
	defer p.user.Option("missingkey=error")
	if _, err := render(p.system, sampleData.systemData()); err != nil {
		return fmt.Errorf("%w (a system prompt reads Topic, Background, Me, Others, Vars, Criteria and Nonce alone)", err)
	}
	_, err := render(p.user, &sampleData)
	return err
}

// sampleData has a value in each field, so that as much as possible of a template is tried.
var sampleData = func() Data {
	seat := transcript.Profile{
		Name: "name", Role: "role", Side: "side", Position: "position", Persona: "persona",
		Instructions: "instructions", KeyArguments: []string{"argument", "argument"},
	}
	return Data{
		Topic: "topic", Background: "background", Me: seat, Others: []transcript.Profile{seat, seat, seat}, Target: &seat,
		Opponents: []string{"name", "name"}, Phase: "phase", Round: 2, Rounds: 3, MinRounds: 2,
		ReplyFields: "reply", Violations: []string{"finding", "finding"}, Criteria: "criteria", Nonce: "fence", Advice: []string{"advice", "advice"},
	}
}()

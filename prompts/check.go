package prompts

import (
	"fmt"
	"text/template"
	"text/template/parse"

	"github.com/elenchus-go/debate/transcript"
)

func empty(t *template.Template) bool { return t == nil || parse.IsEmptyTree(t.Root) }

// try renders both parts with made-up data, in which any key of Vars is there and empty.
func (p prompt) try() error {
	p.user.Option("missingkey=zero")
	defer p.user.Option("missingkey=error")
	if _, err := render(p.system, specimen.lasting()); err != nil {
		return fmt.Errorf("%w (a system prompt reads Topic, Background, Me, Others, Vars, Criteria and Fence alone)", err)
	}
	_, err := render(p.user, &specimen)
	return err
}

// specimen has a value in each field, so that as much as possible of a template is tried.
var specimen = func() Data {
	seat := transcript.Seat{
		Name: "name", Role: "role", Side: "side", Position: "position", Persona: "persona",
		Instructions: "instructions", KeyArguments: []string{"argument", "argument"},
	}
	return Data{
		Topic: "topic", Background: "background", Me: seat, Others: []transcript.Seat{seat, seat, seat}, Target: &seat,
		Opponents: []string{"name", "name"}, Phase: "phase", Round: 2, Rounds: 3, MinRounds: 2,
		Reply: "reply", Findings: []string{"finding", "finding"}, Criteria: "criteria", Fence: "fence", Advice: []string{"advice", "advice"},
	}
}()

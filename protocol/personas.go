package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
)

// PersonasContract is the reply of a step that assigns personas. When such a turn is committed, each seat takes over
// what it was not given by hand.
var PersonasContract = reply.New[Personas]("personas/1")

// Personas are one persona for each participant.
type Personas struct {
	Personas []Persona `json:"personas" jsonschema:"minItems=1,maxItems=16,description=One entry for each participant"`
}

// Persona is who a participant is to be.
type Persona struct {
	Name         string   `json:"name" jsonschema:"description=The participant's name exactly as given"`
	Persona      string   `json:"persona" jsonschema:"minLength=1,maxLength=2000,description=Who the participant is: background; way of arguing; stake in the question"`
	Position     string   `json:"position" jsonschema:"minLength=1,maxLength=1000,description=The claim that the participant defends"`
	KeyArguments []string `json:"key_arguments" jsonschema:"minItems=1,maxItems=6,description=The strongest arguments for the position"`
}

// Check finds participants without a persona, with several, and unknown ones.
func (p *Personas) Check(names []string) (findings []string) {
	seen := map[string]int{}
	for _, x := range p.Personas {
		if seen[x.Name]++; !slices.Contains(names, x.Name) {
			findings = append(findings, fmt.Sprintf("personas: %q is no participant, they are %s", x.Name, strings.Join(names, ", ")))
		}
	}
	for _, n := range names {
		if seen[n] != 1 {
			findings = append(findings, fmt.Sprintf("personas: %s has %d entries, give exactly one", n, seen[n]))
		}
	}
	return findings
}

// Text lists the personas for readers.
func (p *Personas) Text() string {
	var b strings.Builder
	for _, x := range p.Personas {
		fmt.Fprintf(&b, "%s: %s\nPosition: %s\n", x.Name, x.Persona, x.Position)
	}
	return strings.TrimSpace(b.String())
}

// Default puts the participants for and against in turn.
func (p *Personas) Default(names []string) {
	p.Personas = nil
	for i, n := range names {
		x := Persona{Name: n, Persona: "A careful debater", Position: "In favour of the topic", KeyArguments: []string{"What speaks for it outweighs what speaks against it"}}
		if i%2 == 1 {
			x.Position, x.KeyArguments = "Against the topic", []string{"What speaks against it outweighs what speaks for it"}
		}
		p.Personas = append(p.Personas, x)
	}
}

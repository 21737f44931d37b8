package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
)

// PersonasContract is the contract of a reply that assigns personas. When such a turn is committed, each participant
// takes over the values that the configuration left empty.
var PersonasContract = reply.New[Personas]("personas/1")

// Personas is the reply of the persona assigner: one persona for each participant.
type Personas struct {
	Personas []Persona `json:"personas" each:"active" jsonschema:"minItems=1,maxItems=16,description=One entry for each participant"`
}

// Persona is the persona of a participant.
type Persona struct {
	Name         string   `json:"name" names:"participants" jsonschema:"description=The participant's name exactly as given"`
	Persona      string   `json:"persona" jsonschema:"minLength=1,maxLength=1900,description=Who the participant is: background; way of arguing; stake in the question"`
	Position     string   `json:"position" jsonschema:"minLength=1,maxLength=1000,description=The claim that the participant defends"`
	KeyArguments []string `json:"key_arguments" jsonschema:"minItems=1,maxItems=6,maxLength=600,description=The strongest arguments for the position"`
}

// Check returns a violation for each unknown name and for each participant that does not have exactly one persona.
func (p *Personas) Check(names []string) (findings []string) {
	seen := map[string]int{}
	for _, x := range p.Personas {
		seen[x.Name]++
		if !slices.Contains(names, x.Name) {
			findings = append(findings, fmt.Sprintf("personas: %q is not a participant; the participants are %s", x.Name, strings.Join(names, ", ")))
		}
	}
	for _, n := range names {
		if seen[n] != 1 {
			findings = append(findings, fmt.Sprintf("personas: %s has %d entries; give exactly one", n, seen[n]))
		}
	}
	return findings
}

// Text returns the personas for readers.
func (p *Personas) Text() string {
	var b strings.Builder
	for _, x := range p.Personas {
		fmt.Fprintf(&b, "%s: %s\nPosition: %s\n", x.Name, x.Persona, x.Position)
	}
	return strings.TrimSpace(b.String())
}

// Default assigns the sides for and against alternately.
func (p *Personas) Default(names []string) {
	p.Personas = nil
	for i, n := range names {
		x := Persona{
			Name:         n,
			Persona:      "A careful debater",
			Position:     "In favour of the topic",
			KeyArguments: []string{"The arguments for it outweigh those against it"},
		}
		if i%2 == 1 {
			x.Position = "Against the topic"
			x.KeyArguments = []string{"The arguments against it outweigh those for it"}
		}
		p.Personas = append(p.Personas, x)
	}
}

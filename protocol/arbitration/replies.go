package arbitration

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/contract"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge/reply"
)

// The contracts of replies.
var (
	ArgumentContract = reply.New[Case]("argument/1")
	RulingContract   = reply.New[Ruling]("ruling/1")
)

// Case is the case of one side on a topic. It has no default, because a ruling on invented arguments would change a score.
type Case struct {
	Arguments []Argument `json:"arguments" jsonschema:"minItems=1,maxItems=6" jsonschema_description:"the arguments, the strongest first"`
}

// Argument is one reason for a position.
type Argument struct {
	Claim     string `json:"claim" jsonschema:"minLength=1,maxLength=600" jsonschema_description:"the claim, in one sentence"`
	Reasoning string `json:"reasoning" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"why the claim follows, and why it is relevant to the question"`
	Evidence  string `json:"evidence" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"the evidence for the claim and its source; if there is none, say so"`
}

// Check returns a violation for each blank field of an argument.
func (c *Case) Check([]string) (findings []string) {
	for i, a := range c.Arguments {
		for _, f := range [][2]string{{"claim", a.Claim}, {"reasoning", a.Reasoning}, {"evidence", a.Evidence}} {
			if strings.TrimSpace(f[1]) == "" {
				findings = append(findings, fmt.Sprintf("/arguments/%d/%s: it is blank", i, f[0]))
			}
		}
	}
	return findings
}

// Text returns the arguments as a list.
func (c *Case) Text() string {
	var b strings.Builder
	for i, a := range c.Arguments {
		fmt.Fprintf(&b, "%d. %s\nReasoning: %s\nEvidence: %s\n", i+1, a.Claim, a.Reasoning, a.Evidence)
	}
	return strings.TrimSpace(b.String())
}

// Ruling is the arbiter's ruling on a topic.
type Ruling struct {
	Reasoning  string   `json:"reasoning" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"the reasons for the ruling, in a few sentences"`
	KeyPoints  []string `json:"key_points" jsonschema:"maxItems=8,maxLength=600" jsonschema_description:"the points that decided the ruling"`
	Winner     string   `json:"winner" jsonschema:"enum=advocate,enum=challenger,enum=draw" jsonschema_description:"the side that argued better; draw if neither clearly did"`
	Confidence float64  `json:"confidence" jsonschema:"minimum=0,maximum=100" jsonschema_description:"your confidence in the ruling, from 0 (none) to 100 (certain)"`
}

// Check returns a violation if the confidence looks like a share of 1.
func (r *Ruling) Check([]string) []string { return contract.CheckConfidence(r.Confidence) }

// Default sets a draw, which changes no score.
func (r *Ruling) Default([]string) {
	*r = Ruling{Reasoning: "The arbiter gave no valid ruling. The score is unchanged.", KeyPoints: []string{}, Winner: Draw}
}

// Text returns the ruling for readers.
func (r *Ruling) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Winner: %s (confidence %s of 100)\n%s", r.Winner, outcome.Number(r.Confidence), r.Reasoning)
	for _, p := range r.KeyPoints {
		b.WriteString("\n- " + p)
	}
	return b.String()
}

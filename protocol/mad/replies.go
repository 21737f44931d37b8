package mad

import (
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge/reply"
)

// The contracts of the moderator's and the judge's replies.
var (
	ModerationContract = reply.New[Moderation]("moderation/1")
	CandidatesContract = reply.New[Candidates]("candidates/1")
	DecisionContract   = reply.New[Decision]("mad-decision/1")
)

// Moderation is the moderator's decision after a round. Without a preference, Supported and Answer are empty.
type Moderation struct {
	Reasoning  string `json:"reasoning" jsonschema:"maxLength=1900" jsonschema_description:"what speaks for each side's answer after this round"`
	Preference bool   `json:"preference" jsonschema_description:"true if one side's answer is clearly better, which ends the debate; false to continue it"`
	Supported  string `json:"supported,omitempty" names:"participants" jsonschema:"maxLength=200" jsonschema_description:"the name of the participant whose answer you prefer, exactly as given; leave it out if you have no preference"`
	Answer     string `json:"answer,omitempty" jsonschema:"maxLength=1900" jsonschema_description:"the answer that you consider correct; leave it out if you have no preference"`
}

// Check corrects the spelling of the name, and removes name and answer if there is no preference. It returns a violation for
// an unknown name, and for a preference without a name or an answer.
func (m *Moderation) Check(names []string) (violations []string) {
	if !m.Preference {
		m.Supported, m.Answer = "", ""
		return nil
	}
	violations = naming.Participant.CheckOptional(&m.Supported, names, "/supported")
	if m.Supported == "" {
		violations = append(violations, "/supported: a preference needs the name of one participant")
	}
	if strings.TrimSpace(m.Answer) == "" {
		violations = append(violations, "/answer: a preference needs an answer")
	}
	return violations
}

// Default sets a decision without a preference, so that the debate continues.
func (m *Moderation) Default([]string) {
	*m = Moderation{Reasoning: "The moderator gave no valid decision. The debate continues."}
}

// Text returns the decision for readers.
func (m *Moderation) Text() string {
	if !m.Preference {
		return "No preference. " + m.Reasoning
	}
	return "Preference for the answer of " + m.Supported + ": " + m.Answer + "\n" + m.Reasoning
}

// Candidates is the judge's list of candidate answers.
type Candidates struct {
	Candidates []string `json:"candidates" jsonschema:"maxItems=8,minLength=1,maxLength=1900" jsonschema_description:"the different answers to the question that were given, without reasons and without names"`
}

// Default sets an empty list. The judge then decides without it.
func (c *Candidates) Default([]string) { c.Candidates = []string{} }

// Text returns the candidates for readers and for the judge's second step.
func (c *Candidates) Text() string {
	if len(c.Candidates) == 0 {
		return "The judge listed no candidates."
	}
	return "The candidates:\n- " + strings.Join(c.Candidates, "\n- ")
}

// Decision is the judge's decision after the last round.
type Decision struct {
	Reasoning string `json:"reasoning" jsonschema:"maxLength=1900" jsonschema_description:"why this answer is correct and the other candidates are not"`
	Answer    string `json:"answer" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"the correct answer, complete"`
	Supported string `json:"supported,omitempty" names:"participants" jsonschema:"maxLength=200" jsonschema_description:"the name of the participant whose last answer this is, exactly as given; leave it out if it is nobody's"`
}

// Check corrects the spelling of the name. It returns a violation if the name is unknown.
func (d *Decision) Check(names []string) []string {
	return naming.Participant.CheckOptional(&d.Supported, names, "/supported")
}

// Default sets a decision that says that there is none.
func (d *Decision) Default([]string) {
	*d = Decision{Reasoning: "The judge gave no valid decision.", Answer: "There is no decision."}
}

// Text returns the decision for readers.
func (d *Decision) Text() string {
	text := "Answer: " + d.Answer
	if d.Supported != "" {
		text += " (of " + d.Supported + ")"
	}
	return text + "\n" + d.Reasoning
}

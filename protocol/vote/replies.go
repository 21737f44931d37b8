package vote

import (
	"math"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/contract"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge/reply"
)

// The contracts of the agents' and the judge's replies.
var (
	BallotContract = reply.New[Ballot]("vote/1")
	RulingContract = reply.New[Ruling]("decision/1")
)

// Ballot is an agent's reply.
type Ballot struct {
	Reasoning  string  `json:"reasoning" jsonschema:"maxLength=1900" jsonschema_description:"the reasoning that leads to your answer, step by step and brief"`
	Answer     string  `json:"answer" jsonschema:"maxLength=400" jsonschema_description:"your answer only, in as few words as possible; empty only if you have none"`
	Confidence float64 `json:"confidence" jsonschema:"minimum=0,maximum=100" jsonschema_description:"the probability that your answer is correct, in percent: 50 is a coin toss, 100 is certain"`
}

// Check rounds the confidence to a whole percentage. It returns a violation if the confidence looks like a share of 1.
func (b *Ballot) Check([]string) []string {
	findings := contract.CheckConfidence(b.Confidence)
	b.Confidence = math.Round(b.Confidence)
	return findings
}

// Default sets a ballot without an answer.
func (b *Ballot) Default([]string) {
	*b = Ballot{Reasoning: "There is no valid answer. This ballot does not count."}
}

// Text returns the ballot for readers and for the prompts of other agents.
func (b *Ballot) Text() string {
	lines := []string{"No answer."}
	if b.Answer != "" {
		lines = []string{"Answer: " + b.Answer, "Confidence: " + formatNumber(b.Confidence) + " %"}
	}
	if b.Reasoning != "" {
		lines = append(lines, "Reasoning: "+b.Reasoning)
	}
	return strings.Join(lines, "\n")
}

func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Ruling is the judge's reply. It names a participant and not an answer, so that the name can be checked and the judge
// cannot decide for an answer that nobody gave.
type Ruling struct {
	Reasoning string `json:"reasoning" jsonschema:"maxLength=1900" jsonschema_description:"why this answer is correct and the others are not"`
	Winner    string `json:"winner,omitempty" names:"participants" jsonschema:"maxLength=200" jsonschema_description:"the name of a participant who gave the correct answer, exactly as given; leave it out only if there is no answer at all"`
}

// Check corrects the spelling of the winner's name. It returns a violation if the winner is not a participant.
func (u *Ruling) Check(names []string) []string {
	return naming.Participant.CheckOptional(&u.Winner, names, "/winner")
}

// Default sets a ruling without a winner, so that the vote decides.
func (u *Ruling) Default([]string) {
	*u = Ruling{Reasoning: "The judge gave no valid ruling. The vote decides."}
}

// Text returns the ruling for readers.
func (u *Ruling) Text() string {
	if u.Winner == "" {
		return "No ruling. " + u.Reasoning
	}
	return "The answer of " + u.Winner + ". " + u.Reasoning
}

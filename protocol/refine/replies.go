package refine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/contract"
	"github.com/elenchus-go/debate/judge/reply"
)

// The contracts of replies.
var (
	CritiqueContract = reply.New[Critique]("peer-critique/1")
	SummaryContract  = reply.New[Summary]("refine-summary/1")
	SolutionContract = reply.New[Solution]("solution/1")
)

// Critique is an agent's critique of another agent's proposal.
type Critique struct {
	Author     string     `json:"author" names:"participants" jsonschema:"maxLength=200" jsonschema_description:"the name of the proposal's author, exactly as given"`
	Strengths  []string   `json:"strengths,omitempty" jsonschema:"maxItems=8,maxLength=600" jsonschema_description:"the strengths, which should be kept"`
	Weaknesses []Weakness `json:"weaknesses" jsonschema:"maxItems=12" jsonschema_description:"the weaknesses, the most severe first; an empty list if there are none"`
	Overall    string     `json:"overall" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"the critique in one or two sentences"`
}

// Weakness is one weakness of a proposal.
type Weakness struct {
	Issue      string `json:"issue" jsonschema:"minLength=1,maxLength=900" jsonschema_description:"the weakness and why it is one"`
	Severity   string `json:"severity" jsonschema:"enum=critical,enum=major,enum=minor" jsonschema_description:"the severity"`
	Suggestion string `json:"suggestion,omitempty" jsonschema:"maxLength=900" jsonschema_description:"a remedy"`
}

// noCritique is the default critique. The author of the proposal is only in the key of the turn.
var noCritique = Critique{Weaknesses: []Weakness{}, Overall: "The agent gave no valid critique."}

// Check corrects the case of the author's name. It returns a violation if the author is not a participant.
func (c *Critique) Check(names []string) []string {
	c.Author = strings.TrimSpace(c.Author)
	if slices.Contains(names, c.Author) || c.Author == "" && c.Overall == noCritique.Overall {
		return nil
	}
	at := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, c.Author) })
	if at < 0 {
		return []string{fmt.Sprintf("/author: %q is not a participant; the participants are %q", c.Author, names)}
	}
	c.Author = names[at]
	return nil
}

// Default sets a critique that says that there is none.
func (c *Critique) Default([]string) { *c = noCritique }

// Text returns the critique for readers, with the name of the proposal's author.
func (c *Critique) Text() string {
	var b strings.Builder
	if c.Author != "" {
		fmt.Fprintf(&b, "On the proposal of %s:\n", c.Author)
	}
	b.WriteString(c.Overall)
	writeList(&b, "Strengths", c.Strengths)
	weak := make([]string, len(c.Weaknesses))
	for i, w := range c.Weaknesses {
		weak[i] = w.Severity + ": " + w.Issue
		if w.Suggestion != "" {
			weak[i] += " Suggestion: " + w.Suggestion
		}
	}
	writeList(&b, "Weaknesses", weak)
	return b.String()
}

// Summary is a summary of turns: of an agent's view, or of what the judge sees.
type Summary struct {
	Summary string `json:"summary" jsonschema:"minLength=1" jsonschema_description:"the summary"`
}

// Default sets a summary that says that there is none. Prompts show the turns that it should have covered instead.
func (s *Summary) Default([]string) { s.Summary = "There is no valid summary." }

// Text returns the summary.
func (s *Summary) Text() string { return s.Summary }

// Solution is the solution that the judge writes from the agents' work.
type Solution struct {
	Description     string   `json:"description" jsonschema:"minLength=1,maxLength=12000" jsonschema_description:"what the solution is, how it works, and why it is the right one"`
	Implementation  []string `json:"implementation" jsonschema:"minItems=1,maxItems=32,minLength=1,maxLength=1900" jsonschema_description:"the steps of the implementation, in order"`
	TradeOffs       []string `json:"trade_offs" jsonschema:"maxItems=16,maxLength=1900" jsonschema_description:"what the solution gives up, and what it assumes"`
	Recommendations []string `json:"recommendations" jsonschema:"maxItems=16,maxLength=1900" jsonschema_description:"what else to do or monitor"`
	Confidence      float64  `json:"confidence" jsonschema:"minimum=0,maximum=100" jsonschema_description:"your confidence that the solution works, from 0 (none) to 100 (certain)"`
}

// Check returns a violation if the confidence looks like a share of 1.
func (s *Solution) Check([]string) []string { return contract.CheckConfidence(s.Confidence) }

// Default sets a solution that says that there is none and refers to the agents' last refinements.
func (s *Solution) Default([]string) {
	*s = Solution{
		Description:    "The judge gave no valid solution. See the last refinement of each agent.",
		Implementation: []string{"Choose among the last refinements of the agents."},
		TradeOffs:      []string{}, Recommendations: []string{},
	}
}

// Text returns the solution for readers.
func (s *Solution) Text() string {
	var b strings.Builder
	b.WriteString(s.Description)
	writeList(&b, "Implementation", s.Implementation)
	writeList(&b, "Trade-offs", s.TradeOffs)
	writeList(&b, "Recommendations", s.Recommendations)
	fmt.Fprintf(&b, "\n\nConfidence: %s of 100", strconv.FormatFloat(s.Confidence, 'f', -1, 64))
	return b.String()
}

// writeList writes a heading and a numbered list. It writes nothing if the list is empty.
func writeList(b *strings.Builder, heading string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString("\n\n" + heading + ":")
	for i, item := range items {
		fmt.Fprintf(b, "\n%d. %s", i+1, item)
	}
}

package refine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
)

// The contracts of replies.
var (
	CritiqueContract = reply.New[Critique]("peer-critique/1")
	SummaryContract  = reply.New[Summary]("refine-summary/1")
	SolutionContract = reply.New[Solution]("solution/1")
)

// Critique is what an agent says of another's proposal.
type Critique struct {
	Author     string     `json:"author" jsonschema:"maxLength=200" jsonschema_description:"the name of the proposal's author, exactly as given"`
	Strengths  []string   `json:"strengths,omitempty" jsonschema:"maxItems=8,maxLength=600" jsonschema_description:"the strengths, which should be kept"`
	Weaknesses []Weakness `json:"weaknesses" jsonschema:"maxItems=12" jsonschema_description:"the weaknesses, the most severe first; an empty list if there are none"`
	Overall    string     `json:"overall" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"the critique in one or two sentences"`
}

// Weakness is one thing that is weak in a proposal.
type Weakness struct {
	Issue      string `json:"issue" jsonschema:"minLength=1,maxLength=900" jsonschema_description:"the weakness and why it is one"`
	Severity   string `json:"severity" jsonschema:"enum=critical,enum=major,enum=minor" jsonschema_description:"the severity"`
	Suggestion string `json:"suggestion,omitempty" jsonschema:"maxLength=900" jsonschema_description:"a remedy"`
}

// noCritique stands for a critique where no valid one came. Whom it should have been about is in the turn's key alone.
var noCritique = Critique{Weaknesses: []Weakness{}, Overall: "No valid critique came."}

// Check corrects the spelling of the author's name, and finds one that is no participant's.
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

// Default says that there is no critique.
func (c *Critique) Default([]string) { *c = noCritique }

// Text sums the critique up, under the author's name.
func (c *Critique) Text() string {
	var b strings.Builder
	if c.Author != "" {
		fmt.Fprintf(&b, "On the proposal of %s:\n", c.Author)
	}
	b.WriteString(c.Overall)
	writeList(&b, "Strengths", c.Strengths)
	weak := make([]string, len(c.Weaknesses))
	for i, w := range c.Weaknesses {
		if weak[i] = w.Severity + ": " + w.Issue; w.Suggestion != "" {
			weak[i] += " Suggestion: " + w.Suggestion
		}
	}
	writeList(&b, "Weaknesses", weak)
	return b.String()
}

// Summary is a summary of what was said.
type Summary struct {
	Summary string `json:"summary" jsonschema:"minLength=1" jsonschema_description:"the summary"`
}

// Default says that there is no summary. What it should have covered is shown instead.
func (s *Summary) Default([]string) { s.Summary = "No valid summary came." }

// Text is the summary.
func (s *Summary) Text() string { return s.Summary }

// Solution is what the judge makes of the agents' work.
type Solution struct {
	Description     string   `json:"description" jsonschema:"minLength=1,maxLength=12000" jsonschema_description:"what the solution is, how it works, and why it is the right one"`
	Implementation  []string `json:"implementation" jsonschema:"minItems=1,maxItems=32,minLength=1,maxLength=1900" jsonschema_description:"the steps of the implementation, in order"`
	TradeOffs       []string `json:"trade_offs" jsonschema:"maxItems=16,maxLength=1900" jsonschema_description:"what the solution gives up, and what it assumes"`
	Recommendations []string `json:"recommendations" jsonschema:"maxItems=16,maxLength=1900" jsonschema_description:"what else to do or monitor"`
	Confidence      float64  `json:"confidence" jsonschema:"minimum=0,maximum=100" jsonschema_description:"your confidence that the solution works, from 0 (none) to 100 (certain)"`
}

// Default says that there is no solution, and where to look.
func (s *Solution) Default([]string) {
	*s = Solution{
		Description:    "The judge gave no valid solution. The agents' last refinements stand side by side.",
		Implementation: []string{"Read the last refinements and choose."},
		TradeOffs:      []string{}, Recommendations: []string{},
	}
}

// Text is the solution for readers.
func (s *Solution) Text() string {
	var b strings.Builder
	b.WriteString(s.Description)
	writeList(&b, "Implementation", s.Implementation)
	writeList(&b, "Trade-offs", s.TradeOffs)
	writeList(&b, "Recommendations", s.Recommendations)
	fmt.Fprintf(&b, "\n\nConfidence: %s of 100", strconv.FormatFloat(s.Confidence, 'f', -1, 64))
	return b.String()
}

// writeList writes a heading and numbered lines under it; nothing where there are none.
func writeList(b *strings.Builder, heading string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString("\n\n" + heading + ":")
	for i, item := range items {
		fmt.Fprintf(b, "\n%d. %s", i+1, item)
	}
}

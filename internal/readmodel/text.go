package readmodel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// Text returns the text of a turn in Markdown. That of a judge has no scores, which readers see as numbers, and a list of what is
// wrong at the end of a speech is one in Markdown.
func Text(t *transcript.Turn) string {
	if a, err := transcript.Decode[judge.Assessment](*t); err == nil {
		return assessmentText(a)
	}
	if v, err := transcript.Decode[judge.Verdict](*t); err == nil {
		return verdictText(v)
	}
	return Spoken(t)
}

// verdictText returns a verdict as Markdown.
func verdictText(v judge.Verdict) string {
	var b strings.Builder
	b.WriteString(v.Summary + "\n\n")
	winner := cmp.Or(v.Winner, "nobody")
	fmt.Fprintf(&b, "The winner is %s. %s\n\n", winner, v.WinnerReasoning)
	list := func(title string, points ...string) {
		points = slices.DeleteFunc(slices.Clone(points), func(s string) bool { return strings.TrimSpace(s) == "" })
		if len(points) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:\n\n", title)
		for _, p := range points {
			b.WriteString("- " + Line(p) + "\n")
		}
		b.WriteString("\n")
	}
	for _, p := range v.Participants {
		list("Key points of "+p.Name, p.Points...)
	}
	list("Agreed", v.Agreement...)
	list("Disputed", v.Disagreement...)
	list("Insights", v.Insights...)
	list("Against this verdict", v.Dissent)
	fmt.Fprintf(&b, "Quality of the debate: %s of 100", outcome.Number(v.Quality))
	return b.String()
}

// A critique lists what is wrong with an answer. The protocol skeptic asks for such an object at the end of a speech.
type critique struct {
	Issues []struct{ Severity, Text string }
	Score  *float64
	Ready  bool
}

// Spoken returns the text of a turn, with the critique at the end of a speech as a list.
func Spoken(t *transcript.Turn) string {
	if t.Kind != transcript.Speech || t.Contract != "" {
		return t.Text
	}
	head, c, ok := cutCritique(t.Text)
	if !ok {
		return t.Text
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(head), "```json")) + "\n\n")
	for _, x := range c.Issues {
		fmt.Fprintf(&b, "- %s: %s\n", x.Severity, Line(x.Text))
	}
	b.WriteString("\n" + map[bool]string{true: "The answer is ready", false: "The answer is not ready"}[c.Ready])
	if c.Score != nil {
		fmt.Fprintf(&b, ", with a score of %s of 10", outcome.Number(*c.Score))
	}
	b.WriteString(".")
	return b.String()
}

// cutCritique cuts the JSON object at the end of a text that is a critique.
func cutCritique(text string) (head string, c critique, ok bool) {
	for i, at := 0, 0; i < 64; i++ { // a text with more braces is not searched further
		next := strings.Index(text[at:], "{")
		if next < 0 {
			break
		}
		at += next
		dec := json.NewDecoder(strings.NewReader(strings.TrimRight(text[at:], "` \n")))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&c); err == nil && !dec.More() && (c.Score != nil || c.Issues != nil) {
			return text[:at], c, true
		}
		c, at = critique{}, at+1
	}
	return text, c, false
}

// assessmentText returns the reasons of an assessment as Markdown. The table of the round has the scores.
func assessmentText(a judge.Assessment) string {
	var b strings.Builder
	b.WriteString(a.Reasoning + "\n\n")
	for _, p := range a.Participants {
		for _, s := range p.Strengths {
			fmt.Fprintf(&b, "- %s, strength: %s\n", p.Name, Line(s))
		}
		for _, s := range p.Weaknesses {
			fmt.Fprintf(&b, "- %s, weakness: %s\n", p.Name, Line(s))
		}
	}
	for _, s := range a.Recommendations {
		fmt.Fprintf(&b, "- Next: %s\n", Line(s))
	}
	next := "The debate should end."
	if a.ShouldContinue {
		next = "The debate should continue."
	}
	b.WriteString("\n" + next)
	return b.String()
}

// ScoreIn returns the score of a participant by a criterion, or its total score if the criterion is empty.
func ScoreIn(a *judge.Assessment, name, criterion string) (float64, bool) {
	for _, p := range a.Participants {
		if p.Name != name {
			continue
		}
		if criterion == "" {
			return p.Score, true
		}
		for _, c := range p.Criteria {
			if c.Criterion == criterion {
				return c.Score, true
			}
		}
	}
	return 0, false
}

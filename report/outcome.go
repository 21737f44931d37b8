package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// outcome is what a debate came to, for readers.
type outcome struct {
	decision  string   // what was decided, such as "Ada won with 7 to 6 points"; "" if nothing is decided
	clauses   []string // how sure it is, and who dissents
	notes     []string // what is missing, one sentence each
	text      string   // the answer or its summary, in Markdown; empty if the sentence says it all
	picture   []block  // a figure and its table
	reasons   []Reason
	against   []int   // the indexes of the reasons that speak against the decision
	evidence  []block // tables that belong to the reasons
	standings []block // tables for the details
}

// sentence returns the decision in one sentence.
func (o outcome) sentence() string {
	if o.decision == "" {
		return ""
	}
	parts := slices.DeleteFunc(append([]string{o.decision}, o.clauses...), func(s string) bool { return s == "" })
	return strings.Join(parts, "; ") + "."
}

// reason adds a reason with at least one point.
func (o *outcome) reason(title, name string, list ...string) {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(list) > 0 {
		o.reasons = append(o.reasons, Reason{Title: title, Name: name, Points: list})
	}
}

// dissent adds a reason against the decision.
func (o *outcome) dissent(title string, list ...string) {
	before := len(o.reasons)
	o.reason(title, "", list...)
	if len(o.reasons) > before {
		o.against = append(o.against, before)
	}
}

// verdictOutcome returns the outcome of a verdict, or of the joint verdict of a jury.
func verdictOutcome(r *Report, data json.RawMessage) (o outcome) {
	v, joint := decodeOrZero[judge.Verdict](data), decodeOrZero[judge.Opinion[judge.Verdict]](data)
	if len(joint.Opinions) > 0 || joint.Value.Summary != "" {
		v = joint.Value
	} else {
		joint = judge.Opinion[judge.Verdict]{}
	}
	rounds := r.roundAssessments()
	if v.Summary != "" {
		o.decision = wonWithScores(v.Winner, meanScores(rounds), "mean score")
		if o.clauses = judgesClauses(v.Winner, joint.Opinions); r.shownConfig().Protocol.ByScores {
			o.clauses = []string{"the scores decide"}
		}
		o.text = v.Summary + "\n\n" + v.WinnerReasoning
	}
	o.keyPoints(v, rounds)
	if len(o.reasons) == 0 && v.Summary != "" {
		o.lastStatements(r)
	}
	o.reason("What they agree on", "", v.Agreement...)
	o.reason("What remains disputed", "", v.Disagreement...)
	o.dissent("The strongest case against the verdict", v.Dissent)
	o.dissent("Dissenting judges", joint.Dissent...)
	o.reason("Where the judges differ", "", joint.Disagreement...)
	o.reason("What the debate showed", "", v.Insights...)
	return o
}

// keyPoints adds the key points of each participant: those of the verdict, or the strengths that the judges saw last.
func (o *outcome) keyPoints(v judge.Verdict, rounds []roundAssessment) {
	for _, p := range v.Participants {
		o.reason(keyPointsTitle, p.Name, p.Points...)
	}
	if len(o.reasons) > 0 || len(rounds) == 0 {
		return
	}
	for _, p := range rounds[len(rounds)-1].combined.Value.Participants {
		o.reason(keyPointsTitle, p.Name, p.Strengths...)
	}
}

// keyPointsTitle holds the title of a speaker's reasons.
const keyPointsTitle = "Key points"

// wonWithScores says who won with which scores of a kind, of 10 points.
func wonWithScores(winner string, scores []barRow, kind string) string {
	at := slices.IndexFunc(scores, func(s barRow) bool { return s.name == winner })
	switch {
	case winner == "" && len(scores) < 2:
		return "Nobody won"
	case winner == "":
		var list []string
		for _, s := range scores {
			list = append(list, s.name+" "+formatScore(s.values[0]))
		}
		return "Nobody won, with " + kind + "s of " + naming.Enumerate(list, 4) + " of 10"
	case at < 0:
		return winner + " won"
	}
	text := fmt.Sprintf("%s won with a %s of %s of 10", winner, kind, formatScore(scores[at].values[0]))
	if best := slices.MaxFunc(scores, func(a, b barRow) int { return cmp.Compare(a.values[0], b.values[0]) }); tenths(best.values[0]) > tenths(scores[at].values[0]) {
		return fmt.Sprintf("%s, although %s has the higher %s, %s", text, best.name, kind, formatScore(best.values[0]))
	}
	if others := slices.Delete(slices.Clone(scores), at, at+1); len(others) > 0 {
		text += fmt.Sprintf(", against %s for %s", formatScore(others[0].values[0]), others[0].name)
	}
	return text
}

// tenths returns a score in tenths of a point, as judges' verdicts are compared with their scores.
func tenths(score float64) float64 { return math.Round(10 * score) }

// judgesClauses says how many judges chose the winner, and whom the others chose.
func judgesClauses(winner string, opinions []judge.Opinion[judge.Verdict]) []string {
	var names, others []string
	agreed := map[string]bool{}
	for _, o := range opinions {
		if o.Failed || o.Judge == "" {
			continue
		}
		if !slices.Contains(names, o.Judge) {
			names, agreed[o.Judge] = append(names, o.Judge), true
		}
		if o.Value.Winner != winner {
			agreed[o.Judge] = false
			name := o.Judge
			if o.Swapped {
				name += ", with the participants in reversed order,"
			}
			others = append(others, name+" chose "+cmp.Or(o.Value.Winner, "nobody"))
		}
	}
	yes := 0
	for _, name := range names {
		if agreed[name] {
			yes++
		}
	}
	switch {
	case len(names) == 0:
		return nil
	case len(names) == 1 && yes == 1:
		return []string{"the judge is " + names[0]}
	case len(others) == 0:
		return []string{all(len(names), "judges") + " agree"}
	}
	if yes == 0 && len(names) == 1 {
		return []string{"the judge does not agree with itself: " + naming.Enumerate(others, 4)}
	}
	if yes == 0 {
		return []string{"the judges do not agree: " + naming.Enumerate(others, 4)}
	}
	return []string{fmt.Sprintf("%d of %d judges chose %s", yes, len(names), cmp.Or(winner, "nobody")), naming.Enumerate(others, 4)}
}

// pointsByName are the points of several people, in the order of their first points.
type pointsByName struct {
	names  []string
	points map[string][]string
}

func (p *pointsByName) add(name string, list ...string) {
	if p.points == nil {
		p.points = map[string][]string{}
	}
	if _, ok := p.points[name]; !ok {
		p.names = append(p.names, name)
	}
	p.points[name] = append(p.points[name], list...)
}

// maxPoints limits the points that a person has in a reason. The transcript has all.
const maxPoints = 10

// reasonsByName adds a reason for each name.
func (o *outcome) reasonsByName(title string, p pointsByName) {
	for _, name := range p.names {
		list := p.points[name]
		if more := len(list) - maxPoints; more > 0 {
			list = append(slices.Clone(list[:maxPoints]), fmt.Sprintf("%d more, in the transcript", more))
		}
		o.reason(title, name, list...)
	}
}

// statements returns the beginnings of what each participant said.
func statements(r *Report) (p pointsByName) {
	for i := range r.Result.Turns {
		if t := &r.Result.Turns[i]; t.Kind == transcript.Speech {
			p.add(t.Actor, beginning(readable(r, t.Text)))
		}
	}
	return p
}

// lastStatements adds the beginning of the last turn of each participant, for answers that name no key points.
func (o *outcome) lastStatements(r *Report) {
	p := statements(r)
	for _, name := range p.names {
		o.reason("Last statements", name, p.points[name][len(p.points[name])-1])
	}
}

// beginning returns the first sentences of a text in Markdown.
func beginning(text string) string {
	const length = 240
	first, rest := markup.Fold(text, length)
	if rest != "" {
		first += " …"
	}
	return first
}

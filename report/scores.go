package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// roundAssessment is the combined assessment of a round.
type roundAssessment struct {
	round    int
	combined judge.Opinion[judge.Assessment]
	byJudge  []judge.Opinion[judge.Assessment]
}

// roundAssessments returns the assessments by round. The debate's jury combines those of several judges.
func (r *Report) roundAssessments() (list []roundAssessment) {
	byRound := map[int][]transcript.Turn{}
	for _, t := range r.Result.Assessments {
		if t.Contract == judge.AssessmentContract.Name() {
			byRound[t.Round] = append(byRound[t.Round], t)
		}
	}
	jury := decodeOrZero[judge.Jury](r.shownConfig().Protocol.Jury)
	for _, round := range sorted(byRound) {
		opinions := judge.Opinions[judge.Assessment](byRound[round]...)
		if joint, ok := jury.CombineAssessments(opinions); ok {
			list = append(list, roundAssessment{round, joint, opinions})
		}
	}
	return list
}

// scoreChart returns the chart of the judges' scores by round.
func scoreChart(rounds []roundAssessment) *lineChart {
	c := &lineChart{title: "Scores by the judges", unit: "Score (0–10)", maximum: 10}
	for _, a := range rounds {
		for _, p := range a.combined.Value.Participants {
			c.set(p.Name, a.round, p.Score)
		}
	}
	return c
}

// table returns the combined scores of a round, those of each judge if there are several, and the quality of the round.
func (a roundAssessment) table() *table {
	t := &table{Title: "Scores (0–10)", Header: []string{"Name", "Score"}}
	if a.combined.Failed {
		t.Title = "Scores (0–10); defaults, because no valid assessment was received"
	}
	name := func(o judge.Opinion[judge.Assessment]) string {
		if o.Swapped {
			return o.Judge + ", reversed order"
		}
		return o.Judge
	}
	several := len(a.byJudge) > 1
	if several {
		for _, o := range a.byJudge {
			t.Header = append(t.Header, name(o))
		}
	}
	add := func(label string, joint float64, of func(judge.Assessment) (float64, bool)) {
		row := []string{label, formatScore(joint)}
		for _, o := range a.byJudge {
			text := ""
			if v, ok := of(o.Value); ok && !o.Failed {
				text = formatScore(v)
			}
			if several {
				row = append(row, text)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	for _, p := range a.combined.Value.Participants {
		add(p.Name, p.Score, func(v judge.Assessment) (float64, bool) {
			i := slices.IndexFunc(v.Participants, func(s judge.ParticipantAssessment) bool { return s.Name == p.Name })
			if i < 0 {
				return 0, false
			}
			return v.Participants[i].Score, true
		})
	}
	add("Round as a whole", a.combined.Value.Quality, func(v judge.Assessment) (float64, bool) { return v.Quality, true })
	return t
}

// flagSentences replaces the flags of an assessment, as judges' dissent names them, by what they mean.
var flagSentences = strings.NewReplacer(
	"should_continue is true", "the debate should continue", "should_continue is false", "the debate should end",
	"repetitive is true", "the debate is repetitive", "repetitive is false", "the debate is not repetitive",
	"drifting is true", "the debate drifts from the topic", "drifting is false", "the debate keeps to the topic",
	"diminishing_returns is true", "further rounds bring little", "diminishing_returns is false", "further rounds bring more",
	"converged is true", "the participants have converged", "converged is false", "the participants have not converged",
)

// differences returns where the judges of a round differ.
func (a roundAssessment) differences() []string {
	return mapSlice(slices.Concat(a.combined.Disagreement, a.combined.Dissent), flagSentences.Replace)
}

// assessmentText returns the reasons of an assessment as Markdown. The table of the round has the scores.
func assessmentText(a judge.Assessment) string {
	var b strings.Builder
	b.WriteString(a.Reasoning + "\n\n")
	for _, p := range a.Participants {
		for _, s := range p.Strengths {
			fmt.Fprintf(&b, "- %s, strength: %s\n", p.Name, singleLine(s))
		}
		for _, s := range p.Weaknesses {
			fmt.Fprintf(&b, "- %s, weakness: %s\n", p.Name, singleLine(s))
		}
	}
	for _, s := range a.Recommendations {
		fmt.Fprintf(&b, "- Next: %s\n", singleLine(s))
	}
	next := "The debate should end."
	if a.ShouldContinue {
		next = "The debate should continue."
	}
	b.WriteString("\n" + next)
	return b.String()
}

package report

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
)

// assessments returns the assessments by round. The debate's jury combines those of several judges.
func (r *Report) assessments() []outcome.Assessed {
	return outcome.Assessments(r.Result.Assessments, decodeOrZero[judge.Jury](r.shownConfig().Protocol.Jury))
}

// scoreChart returns the chart of the judges' scores by round.
func scoreChart(rounds []outcome.Assessed) *protocol.Chart {
	c := &protocol.Chart{Title: "Scores by the judges", Unit: "Score (0–10)", Maximum: 10}
	for _, a := range rounds {
		for _, p := range a.Combined.Value.Participants {
			c.SetRound(a.Round, p.Name, p.Score)
		}
	}
	return c
}

// scoresOf returns the combined scores of a round, those of each judge if there are several, and the quality of the round.
func scoresOf(a *outcome.Assessed) *table {
	t := &table{Title: "Scores (0–10)", Header: []string{"Name", "Score"}}
	if a.Combined.Failed {
		t.Title = "Scores (0–10); defaults, because no valid assessment was received"
	}
	name := func(o judge.Opinion[judge.Assessment]) string {
		if o.Swapped {
			return o.Judge + ", reversed order"
		}
		return o.Judge
	}
	several := len(a.Opinions) > 1
	if several {
		for _, o := range a.Opinions {
			t.Header = append(t.Header, name(o))
		}
	}
	add := func(label string, joint float64, of func(judge.Assessment) (float64, bool)) {
		row := []string{label, outcome.Number(joint)}
		for _, o := range a.Opinions {
			text := ""
			if v, ok := of(o.Value); ok && !o.Failed {
				text = outcome.Number(v)
			}
			if several {
				row = append(row, text)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	for _, p := range a.Combined.Value.Participants {
		add(p.Name, p.Score, func(v judge.Assessment) (float64, bool) { return readmodel.ScoreIn(&v, p.Name, "") })
	}
	add("Round as a whole", a.Combined.Value.Quality, func(v judge.Assessment) (float64, bool) { return v.Quality, true })
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

// differencesIn returns where the judges of a round differ.
func differencesIn(a *outcome.Assessed) []string {
	return mapSlice(slices.Concat(a.Combined.Disagreement, a.Combined.Dissent), flagSentences.Replace)
}

package debateotel

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/elenchus-go/debate/transcript"
)

// evaluation has the fields in which the contracts of the library evaluate participants, rounds and debates. Contracts of
// your own are read in the same way.
type evaluation struct {
	Participants []struct {
		Name     string `json:"name"`
		Criteria []struct {
			Criterion string  `json:"criterion"`
			Score     float64 `json:"score"`
		} `json:"criteria"`
		Score *float64 `json:"score"`
	} `json:"participants"`
	Ranking []struct {
		Name string `json:"name"`
	} `json:"ranking"`
	Quality    *float64 `json:"quality"`
	Confidence *float64 `json:"confidence"`
	Winner     string   `json:"winner"`
	Supported  string   `json:"supported"`

	WinnerReasoning string `json:"winner_reasoning"`
	Reasoning       string `json:"reasoning"`
	Comparison      string `json:"comparison"`
	Summary         string `json:"summary"`
}

// maxEvaluations limits the events of one turn.
const maxEvaluations = 1000

// addEvaluations adds an event for each score that a turn gives: for each participant and criterion, and for the whole.
func (c content) addEvaluations(span trace.Span, u *transcript.Turn, at time.Time) {
	if len(u.Data) == 0 || slices.Contains(u.Flags, transcript.Defaulted) {
		return
	}
	var v evaluation
	if json.Unmarshal(u.Data, &v) != nil { // another contract
		return
	}
	if u.Kind != transcript.Assessment && u.Kind != transcript.Conclusion && v.Ranking == nil {
		return
	}
	left := maxEvaluations
	add := func(name, who string, result attribute.KeyValue) {
		left--
		if left < 0 {
			return
		}
		list := []attribute.KeyValue{attribute.String(keyEvaluationName, clip(name, maxName)), result}
		if who != "" {
			list = append(list, attribute.String(keyParticipant, clip(who, maxName)))
		} else if why := cmp.Or(v.WinnerReasoning, v.Reasoning, v.Comparison, v.Summary); c.texts && why != "" {
			list = append(list, attribute.String(keyEvaluationExplanation, clip(why, c.most)))
		}
		span.AddEvent(eventEvaluation, trace.WithTimestamp(at), trace.WithAttributes(list...))
	}
	for _, p := range v.Participants {
		for _, s := range p.Criteria {
			add(s.Criterion, p.Name, attribute.Float64(keyEvaluationValue, s.Score))
		}
		if p.Score != nil {
			add("score", p.Name, attribute.Float64(keyEvaluationValue, *p.Score))
		}
	}
	for i, r := range v.Ranking {
		add("rank", r.Name, attribute.Float64(keyEvaluationValue, float64(i+1)))
	}
	if v.Quality != nil {
		add("quality", "", attribute.Float64(keyEvaluationValue, *v.Quality))
	}
	if v.Confidence != nil {
		add("confidence", "", attribute.Float64(keyEvaluationValue, *v.Confidence))
	}
	if winner := cmp.Or(v.Winner, v.Supported); winner != "" {
		add("winner", "", attribute.String(keyEvaluationLabel, clip(winner, maxName)))
	}
}

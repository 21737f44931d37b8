package outcome

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
)

// Of returns what a debate has found: what its protocol says, or what follows from its answer if the protocol says nothing. Without
// any sentence, the text of the answer is the outcome. It shares no memory with the record, and all its numbers are finite.
func Of(p protocol.Protocol, r *protocol.Record, a protocol.Answer) (o protocol.Outcome) {
	own, ok := p.(protocol.Concluder)
	if ok {
		o = own.Outcome(r, a)
	}
	if reflect.ValueOf(o).IsZero() {
		o = ofAnswer(p, r, a)
	}
	if o.Text == "" && o.Sentence == "" {
		o.Text = a.Text
	}
	name, _, _ := strings.Cut(p.Name(), "/")
	o.Kind = cmp.Or(o.Kind, name)
	o = deepcopy.Of(o)
	keepNumbers(&o)
	return o
}

// keepNumbers removes infinities and what is no number, for which JSON has no form. A sum of huge scores is infinite, and a
// protocol may divide by zero.
func keepNumbers(o *protocol.Outcome) {
	o.Confidence = finite(o.Confidence)
	maps.DeleteFunc(o.Scores, isNoNumber)
	m := o.Measure
	if m != nil {
		m.Least = finite(m.Least)
		m.Most = finite(m.Most)
		maps.DeleteFunc(m.Values, isNoNumber)
	}
	charts := []*protocol.Chart{o.Chart}
	for _, x := range slices.Concat(o.Evidence, o.Details) {
		charts = append(charts, x.Chart)
	}
	for _, c := range charts {
		if c != nil {
			keepChart(c)
		}
	}
}

// keepChart removes from a chart what is no number, and the rows that have nothing else. Its maximum is never below a value.
func keepChart(c *protocol.Chart) {
	c.Maximum = finite(c.Maximum)
	c.Rows = slices.DeleteFunc(c.Rows, func(row protocol.ChartRow) bool {
		before := len(row.Values)
		maps.DeleteFunc(row.Values, isNoNumber)
		return before > 0 && len(row.Values) == 0
	})
	for _, row := range c.Rows {
		for _, value := range row.Values {
			c.Maximum = max(c.Maximum, value)
		}
	}
}

// finite returns a number, or 0 in place of what is none.
func finite(f float64) float64 {
	if isNoNumber("", f) {
		return 0
	}
	return f
}

// isNoNumber reports whether a value with a name is infinite or no number.
func isNoNumber(_ string, f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) }

// ofAnswer returns the outcome of an answer that is a verdict, a jury's joint verdict, a decision or a text.
func ofAnswer(p protocol.Protocol, r *protocol.Record, a protocol.Answer) protocol.Outcome {
	if a.Type == decision.Type {
		return OfDecision(a)
	}
	var jury judge.Jury
	own, ok := p.(interface{ AssessmentJury() judge.Jury })
	if ok {
		jury = own.AssessmentJury()
	}
	return OfVerdict(r.Turns, jury, verdictOf(a.Data), false)
}

// verdictOf decodes the data of an answer that may be a verdict or a joint verdict. Of other data, it returns the zero Opinion.
func verdictOf(data json.RawMessage) (joint judge.Opinion[judge.Verdict]) {
	if json.Unmarshal(data, &joint) == nil && (len(joint.Opinions) > 0 || joint.Value.Summary != "") {
		return joint
	}
	var v judge.Verdict
	if json.Unmarshal(data, &v) == nil {
		return judge.Opinion[judge.Verdict]{Value: v}
	}
	return judge.Opinion[judge.Verdict]{}
}

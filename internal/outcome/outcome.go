package outcome

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
)

// Of returns what a debate has found: what its protocol says, or what follows from its answer if the protocol says nothing. Without
// any sentence, the text of the answer is the outcome.
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
	return o
}

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

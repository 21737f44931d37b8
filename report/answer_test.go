package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

// docs/reference/answer.schema.json describes the answer for programs, in the words of its Go type.
func TestTheSchemaOfTheAnswer(t *testing.T) {
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, AllowAdditionalProperties: true, DoNotReference: true}
	require.NoError(t, r.AddGoComments("github.com/elenchus-go/debate/report", "."))
	for name, text := range r.CommentMap {
		r.CommentMap["github.com/elenchus-go/debate/report."+name[strings.LastIndex(name, "/")+1:]] = strings.ReplaceAll(text, "\n", " ")
	}
	s := r.Reflect(report.Answer{})
	s.Title = "Answer of a debate"
	confidence, _ := s.Properties.Get("confidence")
	confidence.Type = ""
	confidence.OneOf = []*jsonschema.Schema{{Type: "number", Minimum: "0", Maximum: "100"}, {Type: "null"}}
	b, err := json.MarshalIndent(s, "", "  ")
	require.NoError(t, err)
	golden.Require(t, "../docs/reference/answer.schema.json", string(b)+"\n")
}

func answered(state fsm.State, typ, data string) *report.Report {
	r := &report.Report{}
	r.Result.ID = "abc"
	r.Result.State = state
	r.Result.Answer = protocol.Answer{Type: typ, Data: []byte(data), Text: "\nThe text.\n", Warnings: []string{"It was short."}}
	r.Result.Total.Usage = transcript.Usage{Input: 100, Output: 20, Cost: 0.5, Unpriced: true}
	r.Result.Protocol = typ
	return concluded(r)
}

func TestAnswer(t *testing.T) {
	const joint = `{"choice": "approve", "option": 1, "confidence": 80, "votes": [{"choice": "approve", "option": 1, "judges": ["Jo", "Al"]}],
		"dissent": ["Bo would wait."], "opinions": [{"judge": "Jo", "value": {"summary": "S", "option": 1, "confidence": 80, "reasons": [{"text": "It is small."}],
		"conditions": ["Tests pass."]}}]}`
	sure := 80.0
	cost := report.Cost{Amount: 0.5, Currency: "USD", Partial: true, InputTokens: 100, OutputTokens: 20}
	require.Equal(t, report.Answer{
		ID: "abc", Complete: true, Decision: "approve", Option: 1, Confidence: &sure, Text: "The text.",
		Reasons: []string{"It is small.", "Tests pass."},
		Dissent: []string{"Bo would wait."}, Findings: []report.Finding{}, Warnings: []string{"It was short."}, Cost: cost,
	}, answered(fsm.Completed, decision.Type, joint).Answer("USD"))

	require.Equal(t, report.Answer{
		ID: "abc", Reasons: []string{}, Dissent: []string{}, Findings: []report.Finding{}, Warnings: []string{}, Cost: cost,
	}, answered(fsm.Judging, decision.Type, joint).Answer("USD"), "nothing is decided while it runs")
	require.Empty(t, answered(fsm.Canceled, decision.Type, joint).Answer("").Decision)

	of := answered(fsm.Completed, "review/1",
		`{"verdict": "request changes", "findings": [{"file": "a.go", "severity": "error", "dissent": ["It is not."]}]}`).Answer("")
	require.Equal(t, "request changes", of.Decision)
	require.Nil(t, of.Confidence)
	require.Equal(t, []string{"It is not."}, of.Dissent)
	require.Equal(t, []report.Finding{{File: "a.go", Severity: "error", Dissent: []string{"It is not."}}}, of.Findings)

	undecided := answered(fsm.Completed, decision.Type, `{"tie": ["a", "b"], "opinions": []}`).Answer("")
	require.Empty(t, undecided.Decision)
	require.Nil(t, undecided.Confidence)
	require.True(t, undecided.Complete)
}

package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/report"
)

func TestFindings(t *testing.T) {
	const data = `{"verdict":"request changes","findings":[{"file":"a/b.go","line":3,"end_line":5,"quote":"x := y","severity":"error",
		"title":"x is shadowed","text":"The caller never sees y.","show":"go vet","by":"Ann","votes":{"stands":2,"falls":1},
		"reasons":["It is."],"dissent":["It is not."]}]}`
	want := []report.Finding{{
		File: "a/b.go", Line: 3, EndLine: 5, Quote: "x := y", Severity: "error", Title: "x is shadowed", Text: "The caller never sees y.",
		Show: "go vet", By: "Ann", Votes: map[string]int{"stands": 2, "falls": 1}, Reasons: []string{"It is."},
		Dissent: []string{"It is not."},
	}}
	of := func(state fsm.State, typ, data string) []report.Finding {
		r := &report.Report{}
		r.Result.State = state
		r.Result.Answer = protocol.Answer{Type: typ, Data: []byte(data)}
		return r.Findings()
	}
	require.Equal(t, want, of(fsm.Completed, "review/1", data))
	require.Nil(t, of(fsm.Judging, "review/1", data), "it can still change")
	require.Nil(t, of(fsm.Completed, "panel/1", data), "no review")
	require.Nil(t, of(fsm.Completed, "review/1", `{"findings":"many"}`))
}

package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
)

// Outcome returns the verdict, and each finding with what was said about it.
func (Protocol) Outcome(_ *protocol.Record, a protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Review"}
	res, err := DecodeAnswer(a)
	if err != nil {
		return o
	}
	o.Choice = string(res.Verdict)
	o.Answer = string(res.Verdict)
	o.Undecided = res.Verdict == ""
	o.Text = strings.Join(res.Summaries, "\n\n")
	if res.Verdict != "" {
		o.Sentence = fmt.Sprintf("The verdict is %s", res.Verdict)
		o.Clauses = []string{standing(len(res.Findings))}
	}
	if n := len(res.Refuted); n > 0 && res.Verdict != "" {
		o.Clauses = append(o.Clauses, outcome.Count(n, "finding was refuted", "findings were refuted"))
	}
	if n := res.Dropped.Total(); n > 0 && res.Verdict != "" {
		o.Clauses = append(o.Clauses, outcome.Count(n, "finding was dropped, because its quote is not there",
			"findings were dropped, because their quotes are not there"))
	}
	for _, f := range res.Findings {
		o.AddReason(f.heading(), "", slices.Concat([]string{f.Text, f.Show}, f.Reasons)...)
	}
	for _, f := range res.Findings {
		o.AddDissent("Against: "+f.heading(), f.Dissent...)
		o.Dissent = append(o.Dissent, f.Dissent...)
	}
	for _, f := range res.Refuted {
		o.AddDissent("Refuted: "+f.heading(), slices.Concat([]string{f.Text}, f.Reasons)...)
	}
	o.Evidence = []protocol.Exhibit{votesTable(slices.Concat(res.Findings, res.Refuted))}
	return o
}

// standing says how many findings stand.
func standing(n int) string {
	if n == 0 {
		return "no finding stands"
	}
	return outcome.Count(n, "finding stands", "findings stand")
}

// heading returns the severity, the title and the place of a finding.
func (f Finding) heading() string {
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return fmt.Sprintf("%s: %s (%s)", f.Severity, f.Title, place)
}

// votesTable returns the votes on each finding.
func votesTable(findings []Finding) protocol.Exhibit {
	table := protocol.Exhibit{Title: "Votes on the findings", Header: []string{"Finding", "By", "Stands", "Falls"}}
	for _, f := range findings {
		by := strings.Join(append([]string{f.By}, f.AlsoBy...), ", ")
		table.Rows = append(table.Rows, []string{f.heading(), by, fmt.Sprint(f.Votes[Stands]), fmt.Sprint(f.Votes[Falls])})
	}
	return table
}

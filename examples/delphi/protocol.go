package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// delphi asks experts for estimates that nobody can attribute, and a facilitator for a summary,
// until the estimates are close.
var delphi = protocol.Flow{
	Title: "delphi/1",
	Seats: protocol.Seats{Participants: protocol.Range{Least: 3, Most: 16}, Judges: protocol.Range{Least: 1, Most: 1}},
	Stages: []protocol.Stage{
		{Kind: transcript.Speech, Name: "estimate", Prompt: "estimate", Contract: contract, Parallel: true, Blind: true, Show: all},
		{Kind: transcript.Assessment, Name: "summary", Prompt: "summary", Blind: true},
	},
	Ends: ends, Finds: finds, Settings: protocol.Defaults{MaxRounds: 4},
}

var contract = reply.New[estimate]("estimate/1")

type estimate struct {
	Value  float64 `json:"value" jsonschema:"minimum=0" jsonschema_description:"your estimate, a number without a unit"`
	Reason string  `json:"reason" jsonschema:"minLength=1,maxLength=900" jsonschema_description:"why, in at most 60 words"`
}

func (e *estimate) Text() string { return fmt.Sprintf("%g. %s", e.Value, e.Reason) }

// all shows the experts all estimates and summaries.
func all(*transcript.Turn) bool { return true }

// ends ends the debate if the estimates are close: the lowest is less than a tenth below the highest.
func ends(r *protocol.Record) (end transcript.Ending) {
	if list := estimates(r, &protocol.Chart{}); len(list) > 0 && list[0] > 0.9*list[len(list)-1] {
		end = transcript.Ending{Outcome: transcript.Converged, Evidence: fmt.Sprint("the estimates are ", list)}
	}
	return end
}

// finds says what the last estimates are, and draws those of all rounds.
func finds(r *protocol.Record, _ protocol.Answer) (o protocol.Outcome) {
	o.Chart = &protocol.Chart{Title: "Estimates by round", Unit: "Estimate"}
	if list := estimates(r, o.Chart); len(list) > 0 {
		o.Answer = fmt.Sprint((list[(len(list)-1)/2] + list[len(list)/2]) / 2)
		o.Sentence = fmt.Sprintf("The median of the last estimates is %s, and they are from %g to %g", o.Answer, list[0], list[len(list)-1])
	}
	return o
}

// estimates returns the last estimate of each expert, the lowest first, and adds all estimates to the chart.
func estimates(r *protocol.Record, chart *protocol.Chart) []float64 {
	last := map[string]float64{}
	for _, t := range r.Turns {
		if e, err := transcript.Decode[estimate](t); err == nil && t.Phase == "estimate" {
			last[t.Actor] = e.Value
			chart.SetRound(t.Round, t.Actor, e.Value)
		}
	}
	return slices.Sorted(maps.Values(last))
}

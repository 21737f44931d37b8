package main

// This file generates the table of defaults in docs/protocols.md.

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

const tableMark = "<!-- the defaults -->\n"

// table returns the page with the defaults of the presets.
func table(t *testing.T, text string) string {
	before, rest, found := strings.Cut(text, tableMark)
	require.True(t, found, "%s has no table of defaults", page)
	_, after, found := strings.Cut(rest, "\n\n")
	require.True(t, found)
	rows := []string{
		"| protocol | rounds | running time | a debater's reply | a judge's reply | all replies | temperatures |",
		"|---|---|---|---|---|---|---|",
	}
	for _, p := range []protocol.Protocol{
		panel.Protocol{},
		skeptic.Protocol{},
		refine.Protocol{},
		arbitration.Protocol{Scores: map[string]float64{"problem": 5, "solution": 5, "market": 5}},
		procon.Protocol{},
		vote.Protocol{},
		council.Protocol{},
		mad.Protocol{},
		review.Protocol{},
	} {
		rows = append(rows, row(t, p))
	}
	return before + tableMark + strings.Join(rows, "\n") + "\n\n" + after
}

// row returns the limits and temperatures of a configuration that sets none.
func row(t *testing.T, p protocol.Protocol) string {
	e := engine(t, nil, speaker())
	c := debate.Config{
		ID: "d", Topic: "T", Protocol: p, Judges: []debate.Participant{{Name: "J"}},
		Participants: []debate.Participant{{Name: "A", Position: "Yes"}, {Name: "B", Position: "No"}},
	}
	if _, ok := p.(council.Protocol); ok {
		c.Participants = append(c.Participants, debate.Participant{Name: "C"})
	}
	d, err := e.Create(t.Context(), c)
	require.NoError(t, err)
	for event, err := range d.Watch(t.Context(), 0) {
		require.NoError(t, err)
		c, err = e.ParseConfig(event.(debate.ConfigChanged).Config)
		require.NoError(t, err)
		break
	}
	rounds := fmt.Sprintf("%d to %d", c.Limits.MinRounds, c.Limits.MaxRounds)
	var heat []string
	for _, who := range append(c.Participants, c.Judges...) {
		heat = append(heat, strconv.FormatFloat(*who.Temperature, 'f', -1, 64))
	}
	return fmt.Sprintf("| `%s` | %s | %s | %d | %d | %d | %s |",
		p.Name(), rounds, c.Limits.RunningTime, c.Limits.StepTokens, c.Limits.JudgeTokens, c.Limits.OutputTokens, strings.Join(heat, ", "))
}

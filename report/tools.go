package report

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/providers/tool"
)

const (
	maxCall = 2 << 10 // bytes of the arguments, and of the result of a call in a report
	maxCell = 400     // bytes of them in a table
)

// addTools adds a round of tool calls, shortened. The last entry of a round has its results.
func (r *Report) addTools(ev debate.ToolsCalled) {
	ev.Parts, ev.Attempts = nil, nil // the turn has the attempts
	ev.Calls = mapSlice(ev.Calls, shortCall)
	same := func(other debate.ToolsCalled) bool { return other.Key == ev.Key && other.Number == ev.Number }
	if i := slices.IndexFunc(r.Tools, same); i >= 0 {
		r.Tools[i] = ev
		return
	}
	r.Tools = append(r.Tools, ev)
}

// shortCall returns a call with the beginning of its arguments and of its result, and without the texts of sources.
func shortCall(c tool.Record) tool.Record {
	if len(c.Arguments) > maxCall {
		c.Arguments, _ = json.Marshal(characters.Cut(string(c.Arguments), maxCall)) // a text always encodes
	}
	toolcall.Cut(&c, maxCall)
	c.Sources = mapSlice(c.Sources, func(s tool.Source) tool.Source {
		if s.Text != "" {
			s.Size = len(s.Text)
			s.SHA256 = toolcall.Digest(s.Text)
			s.Text = ""
		}
		return s
	})
	return c
}

// toolCalls returns what was called, by whom, and what it found.
func (r *Report) toolCalls() []block {
	var cells [][]string
	short := func(text string) string { return characters.Cut(text, maxCell) }
	for _, ev := range r.Tools {
		for _, c := range ev.Calls {
			var sources []string
			for _, s := range c.Sources {
				sources = append(sources, strings.TrimSpace(s.Title+" "+s.URI))
			}
			found := c.Text
			switch {
			case c.Error != "":
				found = strings.TrimSuffix(readmodel.Words(c.Error)+": "+c.Text, ": ")
			case !c.Done && c.Waits:
				found = "waits for a person"
			case !c.Done:
				found = "runs"
			case c.Text == "" && c.Size > 0:
				found = outcome.Count(c.Size, "byte", "bytes")
			}
			took := ""
			if c.Duration > 0 {
				took = formatDuration(c.Duration)
			}
			cells = append(cells, []string{
				ev.Key.Actor, readmodel.Words(ev.Key.Phase), roundLabel(ev.Key), c.Name,
				short(string(c.Arguments)), short(found), short(strings.Join(sources, "; ")), took,
			})
		}
	}
	return tableBlock("Calls before the statements, in order", []string{"Who", "Phase", "Round", "Tool", "Arguments", "What it found", "Sources", "Duration"}, cells)
}

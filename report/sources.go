package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/transcript"
)

// sourcesOf returns the documents, and what tools have found and somebody has cited: who cites and quotes each, how many quotes are
// right, and what nobody has answered.
func sourcesOf(r *Report) []block {
	shown := slices.Clone(r.Result.Sources)
	shown = slices.DeleteFunc(shown, func(s evidence.Source) bool { return !s.Document && s.CitedBy == nil })
	if len(shown) == 0 {
		return nil
	}
	var blocks []block
	if count := sources.Count(allCitations(r)); count != "" {
		blocks = append(blocks, block{Note: "Quotes, compared with the sources: " + count + "."})
	}
	var open []string
	for i := range shown {
		if s := &shown[i]; s.Unanswered {
			open = append(open, fmt.Sprintf("%s, cited by %s", sources.Label(s.Number, shown), naming.Enumerate(s.CitedBy, 4)))
		}
	}
	return slices.Concat(blocks, sourceTable("Sources of the debate", shown), listBlock("Cited by one side only, and answered by nobody:", open))
}

// otherSources returns what tools have found and nobody has cited.
func otherSources(r *Report) []block {
	rest := slices.Clone(r.Result.Sources)
	return sourceTable("Sources that nobody cites", slices.DeleteFunc(rest, func(s evidence.Source) bool { return s.Document || s.CitedBy != nil }))
}

func sourceTable(title string, list []evidence.Source) []block {
	var cells [][]string
	names := func(list []string) string { return strings.Join(list, ", ") }
	for i := range list {
		s := &list[i]
		origin := "found by " + names(s.FoundBy)
		switch {
		case s.Private:
			origin = "private document"
		case s.Document:
			origin = "document"
		}
		address := ""
		if s.URI != s.Name {
			address = s.URI
		}
		cells = append(cells, []string{
			sources.Label(s.Number, list), address, origin, outcome.Thousands(s.Size), names(s.CitedBy),
			names(s.QuotedBy), names(s.MisquotedBy),
		})
	}
	return tableBlock(title, []string{"Source", "Address", "Origin", "Bytes", "Cited by", "Quoted by", "Misquoted by"}, cells)
}

// allCitations returns the citations of all turns.
func allCitations(r *Report) (list []transcript.Citation) {
	for i := range r.Result.Turns {
		list = append(list, r.Result.Turns[i].Citations...)
	}
	return list
}

func readableReasons(r *Report, list []Reason) []Reason {
	return mapSlice(list, func(x Reason) Reason {
		x.Points = mapSlice(x.Points, func(text string) string { return readmodel.Readable(&r.Result, text) })
		return x
	})
}

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/elenchus-go/debate/evidence/quote"
	"github.com/elenchus-go/debate/evidence/search"
	"github.com/elenchus-go/debate/internal/lines"
	"github.com/elenchus-go/debate/providers/tool"
)

// The tools that search and read the documents for which the prompts have no room.
const (
	searchTool = "search_documents"
	readTool   = "read_document"
)

// The limits of what a call of readTool returns.
const (
	maxReadLines = 200
	maxReadBytes = 6 << 10
)

// searchQuery holds the arguments of the search tool.
type searchQuery struct {
	Words string `json:"words" jsonschema:"minLength=1,description=what to look for: words that the passage has"`
}

// readQuery holds the arguments of the tool that reads.
type readQuery struct {
	Name string `json:"name" jsonschema:"minLength=1,description=the name of the document"`
	Line int    `json:"line,omitempty" jsonschema:"minimum=1,description=the number of the first line to read"`
}

// documentTools returns the tools that search and read documents.
func documentTools(ctx context.Context, list []*document) []tool.Tool {
	texts := map[string]string{}
	for i := range list {
		texts[list[i].place] = list[i].text
	}
	return []tool.Tool{newSearchTool(ctx, texts), newReadTool(texts)}
}

// newSearchTool returns a tool that searches documents. It builds the index when it is first called, so that a debate whose models do
// not search begins at once.
func newSearchTool(ctx context.Context, texts map[string]string) tool.Tool {
	index := sync.OnceValues(func() (*search.Index, error) { return search.New(ctx, texts, search.Options{}) })
	names := slices.Sorted(maps.Keys(texts))
	about := "Searches the documents of this debate, and returns the passages that fit best. The documents: " + joinFirst(names, 50) + "."
	return tool.Func(tool.Spec{Name: searchTool, Description: about}, func(ctx context.Context, q searchQuery) (tool.Result, error) {
		all, err := index()
		if err != nil {
			return tool.Result{}, err
		}
		found, err := all.Find(ctx, q.Words, 5)
		if err != nil {
			return tool.Result{}, err
		}
		if len(found) == 0 {
			return tool.Result{}, tool.Refusal("No passage has these words. Use other words, or fewer.")
		}
		var r tool.Result
		for _, x := range found {
			r.Sources = append(r.Sources, passage(x.Document, texts[x.Document], x.Start, x.End))
		}
		return r, nil
	})
}

// newReadTool returns a tool that reads a document from a line on.
func newReadTool(texts map[string]string) tool.Tool {
	about := fmt.Sprintf("Reads up to %d lines of a document that %s finds, from a line on.", maxReadLines, searchTool)
	return tool.Func(tool.Spec{Name: readTool, Description: about}, func(_ context.Context, q readQuery) (tool.Result, error) {
		text, known := texts[q.Name]
		if !known {
			return tool.Result{}, tool.Refusal("There is no document of this name. Use a name that " + searchTool + " returns.")
		}
		start := 0
		for range max(q.Line, 1) - 1 {
			at := strings.IndexByte(text[start:], '\n')
			if at < 0 || start+at+1 == len(text) {
				return tool.Result{}, tool.Refusal(fmt.Sprintf("The document has %d lines.", 1+
					strings.Count(strings.TrimSuffix(text, "\n"), "\n")))
			}
			start += at + 1
		}
		end := start
		for line := range strings.Lines(text[start:]) {
			_, last := lines.Range(text, start, end+len(line))
			if end > start && (end+len(line)-start > maxReadBytes || last-max(q.Line, 1) >= maxReadLines) {
				break
			}
			end += len(line)
		}
		return tool.Result{Sources: []tool.Source{passage(q.Name, text, start, end)}}, nil
	})
}

// passage returns a part of a document as a source. That of code has lines.
func passage(name, text string, start, end int) tool.Source {
	s := tool.Source{URI: fmt.Sprintf("%s#%d-%d", name, start, end), Title: name, Text: text[start:end]}
	if quote.IsCode(name) && start < end {
		s.Line, _ = lines.Range(text, start, end)
	}
	return s
}

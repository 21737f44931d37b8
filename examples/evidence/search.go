package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence/search"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/report"
)

// query holds the arguments of the tool.
type query struct {
	Words string `json:"words" jsonschema:"minLength=1,description=words that the passage has"`
}

// searchTool returns a tool that finds passages of texts.
func searchTool(ctx context.Context, texts map[string]string) (tool.Tool, error) {
	index, err := search.New(ctx, texts, search.Options{Bytes: 200})
	if err != nil {
		return nil, err
	}
	spec := tool.Spec{Name: "search", Description: "Searches the reports of the city, and returns the passages that fit best."}
	return tool.Func(spec, func(ctx context.Context, q query) (tool.Result, error) {
		found, err := index.Find(ctx, q.Words, 3)
		if err == nil && len(found) == 0 {
			return tool.Result{}, tool.Refusal("No passage has these words. Use other words, or fewer.")
		}
		var r tool.Result
		for _, f := range found {
			r.Sources = append(r.Sources, tool.Source{URI: fmt.Sprintf("%s#%d", f.Document, f.Start), Title: f.Document, Text: f.Text})
		}
		return r, err
	}), nil
}

// writeReport writes a report about a stored debate to a file, if one is given.
func writeReport(ctx context.Context, p *console.Program, o debate.Options, id, path string) error {
	if path == "" {
		return nil
	}
	engine, err := debate.NewEngine(o)
	if err != nil {
		return err
	}
	d, err := engine.Open(ctx, id)
	if err != nil {
		return err
	}
	r, err := report.Collect(ctx, d)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(report.HTML(f, r), f.Close()); err != nil {
		return err
	}
	fmt.Fprintln(p.Stderr, "report written to", path)
	return nil
}

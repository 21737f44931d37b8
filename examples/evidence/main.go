// Evidence runs a debate over the files in a folder. All read the shortest file in their prompts, and search the others with a
// tool.
//
//	go run ./examples/evidence
//	go run ./examples/evidence -docs ./papers -report report.html "Should our city ban private cars?"
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model, which must be able to call tools. If none is set, the
// example uses an offline demo model, which searches for the words of the topic and quotes what it finds. One of its quotes lacks a
// word, so that the report shows what the check of quotes finds.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/tool"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	folder := p.Flags.String("docs", "examples/evidence/testdata", "a folder with text files that end with .md or .txt")
	path := p.Flags.String("report", "", "write a report to this file, as HTML")
	topic, err := p.Topic("Should Linden ban private cars in the center?")
	if err != nil {
		return err
	}
	texts, err := readTexts(*folder)
	if err != nil {
		return err
	}
	read := shortest(texts)
	shared := evidence.Shared(read, texts[read])
	delete(texts, read)
	find, err := searchTool(ctx, texts)
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	tools := []string{find.Spec().Name}
	options := debate.Options{Providers: map[string]providers.Provider{"model": model}, Tools: []tool.Tool{find}, Store: store.Memory()}
	result, err := p.Debate(ctx, debate.Config{
		Topic:        topic,
		Documents:    []evidence.Document{shared},
		Protocol:     procon.Protocol{},
		Participants: []debate.Participant{{Name: "Ann", Side: "pro", Tools: tools}, {Name: "Ben", Side: "con", Tools: tools}},
		Judges:       []debate.Participant{{Name: "Judge", Tools: tools}},
		Limits:       debate.Limits{MaxRounds: 2},
	}, options)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\n\n%s\n", result.Topic, result.Answer.Text)
	return writeReport(ctx, p, options, result.ID, *path)
}

// readTexts returns the text files of a folder, by their names.
func readTexts(folder string) (map[string]string, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, f := range files {
		if !slices.Contains([]string{".md", ".txt"}, strings.ToLower(filepath.Ext(f.Name()))) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		texts[f.Name()] = string(text)
	}
	if len(texts) < 2 {
		return nil, errors.New("read " + folder + ": want two or more files that end with .md or .txt")
	}
	return texts, nil
}

// shortest returns the name of the shortest text.
func shortest(texts map[string]string) (name string) {
	for other, text := range texts {
		if name == "" || len(text) < len(texts[name]) || len(text) == len(texts[name]) && other < name {
			name = other
		}
	}
	return name
}

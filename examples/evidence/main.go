// Evidence runs a debate over the files in a folder. All read the shortest text in their prompts, search the other texts with a tool,
// and see the pictures and PDF documents.
//
//	go run ./examples/evidence
//	go run ./examples/evidence -docs ./papers -report report.html "Should our city ban private cars?"
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model, which must be able to call tools. If none is set, the
// example uses an offline demo model, which searches for the words of the topic and quotes what it finds. One of its quotes lacks a
// word, so that the report shows what the check of quotes finds. Of a picture it sees only the format and the size.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	folder := p.Flags.String("docs", "examples/evidence/testdata", "a folder with texts, pictures and PDF documents")
	path := p.Flags.String("report", "", "write a report to this file, as HTML")
	topic, err := p.Topic("Should Linden ban private cars in the center?")
	if err != nil {
		return err
	}
	texts, seen, err := readFiles(*folder)
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
	model, err := offline.Choose(p.Env, p.Stderr, describer{offline.Model(p.IsTerminal)})
	if err != nil {
		return err
	}
	tools := []string{find.Spec().Name}
	options := debate.Options{Providers: map[string]providers.Provider{"model": model}, Tools: []tool.Tool{find}, Store: store.Memory()}
	result, err := p.Debate(ctx, debate.Config{
		Topic:        topic,
		Documents:    []evidence.Document{shared},
		Attachments:  seen,
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

// readFiles returns the texts of a folder by their names, and what models see.
func readFiles(folder string) (texts map[string]string, seen []debate.Attachment, err error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, err
	}
	texts = map[string]string{}
	for _, f := range files {
		ending := strings.ToLower(filepath.Ext(f.Name()))
		isText := ending == ".md" || ending == ".txt"
		if !isText && !slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"}, ending) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return nil, nil, err
		}
		if isText {
			texts[f.Name()] = string(data)
		} else { // its first bytes tell the media type
			seen = append(seen, debate.Attachment{Name: f.Name(), MediaType: http.DetectContentType(data), Data: data})
		}
	}
	if len(texts) < 2 {
		return nil, nil, errors.New("read " + folder + ": want two or more files that end with .md or .txt")
	}
	return texts, seen, nil
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

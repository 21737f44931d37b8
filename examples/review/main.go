// Review has several reviewers read a diff, and prints the findings that stand.
//
//	go run ./examples/review
//	go run ./examples/review -diff examples/review/change.diff -context examples/review/main.go "Should we merge this?"
//
// It fails if the reviewers request changes, so a script can stop there. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a
// model. If none is set, the example uses an offline demo model, which quotes lines and judges them by their numbers.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/providers"
)

//go:embed change.diff
var sample string

// errChanges is the error of a review that requests changes.
var errChanges = errors.New("the reviewers request changes")

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	path := p.Flags.String("diff", "", "a `file` with a diff; defaults to a sample")
	more := p.Flags.String("context", "", "`files` that the reviewers read too, separated by commas")
	topic, err := p.Topic("Should this change be merged?")
	if err != nil {
		return err
	}
	documents, err := read(*path, *more)
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	result, err := p.Debate(ctx, config(topic, documents), debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	answer, err := review.DecodeAnswer(result.Answer)
	if err != nil {
		return err
	}
	printFindings(p, answer)
	if answer.Verdict == review.RequestChanges {
		return errChanges
	}
	return nil
}

// config returns a review of documents.
func config(topic string, documents []evidence.Document) debate.Config {
	return debate.Config{
		Topic:     topic,
		Protocol:  review.Protocol{},
		Documents: documents,
		Participants: []debate.Participant{
			{Name: "Ada", Instructions: "Look first for what computes or does something wrong."},
			{Name: "Bo", Instructions: "Look first for what others could abuse."},
			{Name: "Cy", Instructions: "Look first for what its users will stumble over."},
		},
		Judges: []debate.Participant{{Name: "Judge"}},
	}
}

// read returns the diff and the files beside it.
func read(path, more string) ([]evidence.Document, error) {
	diff := evidence.Shared("change.diff", sample)
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		diff = evidence.Shared("change.diff", string(text))
	}
	documents := []evidence.Document{diff}
	for name := range strings.SplitSeq(more, ",") {
		if name == "" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		documents = append(documents, evidence.Shared(filepath.ToSlash(name), string(text)))
	}
	return documents, nil
}

// printFindings prints each finding as compilers print errors, so that editors find the place.
func printFindings(p *console.Program, answer review.Result) {
	for _, f := range answer.Findings {
		fmt.Fprintf(p.Stdout, "%s:%d: %s: %s\n", f.File, f.Line, f.Severity, f.Title)
		fmt.Fprintf(p.Stdout, "\t%s Show it: %s\n", f.Text, f.Show)
		fmt.Fprintf(p.Stdout, "\t%d for it, %d against it\n", f.Votes[review.Stands], f.Votes[review.Falls])
		for _, reason := range f.Dissent {
			fmt.Fprintf(p.Stdout, "\tdissent: %s\n", reason)
		}
	}
	fmt.Fprintf(p.Stdout, "%s: %d findings stand, %d do not, %d quoted what is not there\n", answer.Verdict, len(answer.Findings),
		len(answer.Refuted), answer.Dropped.Total())
}

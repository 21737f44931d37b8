// Attachments runs a debate about a picture or a PDF document.
//
//	go run ./examples/attachments
//	go run ./examples/attachments -file contract.pdf "Should we sign this contract?"
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set, the example uses an offline demo
// model, which reads only the format and the size of the file.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	file := p.Flags.String("file", "examples/attachments/testdata/logo.png", "a PNG, JPEG, GIF, WebP or PDF file")
	topic, err := p.Topic("Is this clear enough to publish?")
	if err != nil {
		return err
	}
	attached, err := attach(*file)
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, describer{offline.Model(p.IsTerminal)})
	if err != nil {
		return err
	}
	config := debate.Config{
		Topic:        topic,
		Attachments:  []debate.Attachment{attached},
		Protocol:     procon.Protocol{},
		Participants: []debate.Participant{{Name: "Ann", Side: "pro"}, {Name: "Ben", Side: "con"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
	}
	result, err := p.Debate(ctx, config, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\n%s\n\n%s\n", result.Topic, attached, result.Answer.Text)
	return nil
}

// attach reads a file. Its first bytes tell the media type.
func attach(path string) (debate.Attachment, error) {
	data, err := os.ReadFile(path)
	return debate.Attachment{Name: filepath.Base(path), MediaType: http.DetectContentType(data), Data: data}, err
}

// Example has an agent of ADK answer by a debate. The model is a script, so it needs no key.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/genai"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debateadk"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/providers"
)

func main() { answer(context.Background(), os.Stdout) }

// answer has the agent answer a question, and shows who speaks. To give an agent of yours a debate as its tool, set Tools
// of llmagent.Config to what debateadk.NewTools(set) returns.
func answer(ctx context.Context, w io.Writer) {
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"offline": offline.Model(false)}})
	check(err)
	set, err := debatetool.New(engine, debatetool.Options{})
	check(err)
	panel, err := debateadk.NewAgent(set, "panel", "Answers by a debate.", debatetool.Input{}) //nolint:contextcheck // its runs have contexts of their own
	check(err)
	run, err := runner.NewInMemory("example", panel)
	check(err)
	question := genai.NewContentFromText("Should cities ban private cars?", genai.RoleUser)
	for e, err := range run.Run(ctx, "you", "session", question, agent.RunConfig{}) {
		check(err)
		fmt.Fprintf(w, "%s: %s\n\n", e.Author, e.Content.Parts[0].Text)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

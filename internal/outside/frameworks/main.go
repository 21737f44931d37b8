// Command frameworks uses the library beside langchaingo, Eino, ADK, Genkit and the SDKs of the Model Context Protocol and of
// A2A in one program. It shows that the versions of their dependencies go together.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/firebase/genkit/go/core"
	"github.com/firebase/genkit/go/genkit"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/fake"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatea2a"
	"github.com/elenchus-go/debate/integrations/debateadk"
	"github.com/elenchus-go/debate/integrations/debateeino"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
)

func main() {
	ctx := context.Background()
	if err := errors.Join(hold(ctx), serve(), invoke(ctx), describe(), run(ctx)); err != nil {
		log.Fatal(err)
	}
}

// hold holds a debate between models of langchaingo.
func hold(ctx context.Context) error {
	var model llms.Model = fake.NewFakeLLM([]string{"Cars take the space that people need."})
	_, err := debate.New(ctx, debate.Config{
		Topic:        "Should cities ban private cars?",
		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
	}, debate.Options{Providers: map[string]providers.Provider{"fake": langchain.New(model)}})
	return err
}

// serve makes a server of the Model Context Protocol, and an agent of A2A.
func serve() error {
	engine, err := debate.NewEngine(debate.Options{})
	if err != nil {
		return err
	}
	_, err = debatea2a.New(engine, debatea2a.Options{})
	if err != nil {
		return err
	}
	_, err = debatemcp.NewServer(engine, debatemcp.Options{})
	return err
}

// tools returns a debate as tools.
func tools() (*debatetool.Toolset, error) {
	engine, err := debate.NewEngine(debate.Options{})
	if err != nil {
		return nil, err
	}
	return debatetool.New(engine, debatetool.Options{})
}

// invoke makes a debate a tool of Eino.
func invoke(ctx context.Context) error {
	set, err := tools()
	if err != nil {
		return err
	}
	t, err := debateeino.NewTool(ctx, set)
	if err != nil {
		return err
	}
	info, err := t.Info(ctx)
	if err == nil {
		fmt.Fprintln(os.Stdout, "eino: "+info.Name)
	}
	return err
}

// describe makes a debate an agent of ADK.
func describe() error {
	set, err := tools()
	if err != nil {
		return err
	}
	a, err := debateadk.NewAgent(set, "adk", "ready", debatetool.Input{})
	if err == nil {
		fmt.Fprintln(os.Stdout, a.Name()+": "+a.Description())
	}
	return err
}

// run runs a flow of Genkit.
func run(ctx context.Context) error {
	g := genkit.Init(ctx)
	var flow *core.Flow[string, string, struct{}] = genkit.DefineFlow(g, "ready", func(_ context.Context, in string) (string, error) {
		return "genkit: " + in, nil
	})
	out, err := flow.Run(ctx, "ready")
	fmt.Fprintln(os.Stdout, out)
	return err
}

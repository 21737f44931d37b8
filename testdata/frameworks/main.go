// Command frameworks uses the library beside langchaingo, Eino, ADK, Genkit and the SDK of the Model Context Protocol in one
// program. It shows that the versions of their dependencies go together.
package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"os"

	"github.com/cloudwego/eino/compose"
	"github.com/firebase/genkit/go/core"
	"github.com/firebase/genkit/go/genkit"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/fake"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatemcp"
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

// serve makes a server of the Model Context Protocol.
func serve() error {
	engine, err := debate.NewEngine(debate.Options{})
	if err != nil {
		return err
	}
	_, err = debatemcp.NewServer(engine, debatemcp.Options{})
	return err
}

// invoke runs a graph of Eino.
func invoke(ctx context.Context) error {
	chain := compose.NewChain[string, string]().AppendLambda(compose.InvokableLambda(func(_ context.Context, in string) (string, error) {
		return "eino: " + in, nil
	}))
	runnable, err := chain.Compile(ctx)
	if err != nil {
		return err
	}
	out, err := runnable.Invoke(ctx, "ready")
	fmt.Fprintln(os.Stdout, out)
	return err
}

// describe makes an agent of ADK.
func describe() error {
	a, err := agent.New(agent.Config{
		Name: "adk", Description: "ready",
		Run: func(agent.InvocationContext) iter.Seq2[*session.Event, error] {
			return func(func(*session.Event, error) bool) {}
		},
	})
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

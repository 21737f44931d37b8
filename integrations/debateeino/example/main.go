// Example gives an agent of Eino a debate as its tool. Both models are scripts, so it needs no key.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debateeino"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/providers"
)

func main() { answer(context.Background(), os.Stdout) }

// answer has an agent answer a question, and shows each turn of its debate.
func answer(ctx context.Context, w io.Writer) {
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"offline": offline.Model(false)}})
	check(err)
	set, err := debatetool.New(engine, debatetool.Options{})
	check(err)
	debates, err := debateeino.NewTool(ctx, set)
	check(err)
	tools := adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{debates}}, EmitInternalEvents: true}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{Name: "host", Model: script{}, ToolsConfig: tools})
	check(err)
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Should cities ban private cars?")
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		check(e.Err)
		fmt.Fprintf(w, "%s: %s\n\n", e.AgentName, e.Output.MessageOutput.Message.Content)
	}
}

// script is a chat model that calls the tool once, and repeats its result.
type script struct{ model.BaseChatModel }

func (script) Generate(_ context.Context, m []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if last := m[len(m)-1]; last.Role == schema.Tool {
		return schema.AssistantMessage("I have heard both sides. "+last.Content, nil), nil
	}
	call := schema.FunctionCall{Name: "debate", Arguments: fmt.Sprintf(`{"topic": %q}`, m[len(m)-1].Content)}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: "1", Function: call}}), nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

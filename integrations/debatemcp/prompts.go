package debatemcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// prompts are commands that people choose in their client.
var prompts = []struct {
	mcp.Prompt
	text func(arguments map[string]string) string
}{
	{
		mcp.Prompt{
			Name: "debate", Title: "Debate a topic", Description: "Has models debate a topic, and explains their answer.",
			Arguments: []*mcp.PromptArgument{{Name: "topic", Description: "The question or claim", Required: true}, {Name: "protocol", Description: "Who speaks when, such as vote"}},
		},
		func(a map[string]string) string {
			text := "Have this topic debated with the tool debate:\n\n" + a["topic"] + "\n\nGive the participants the facts of our conversation that they need as background."
			if p := a["protocol"]; p != "" {
				text += fmt.Sprintf(" Use the protocol %q.", p)
			}
			return text + " If a call returns before the debate has ended, call again as it says. Then tell me the answer, who dissents and why, and everything that the result says about its limits."
		},
	},
	{
		mcp.Prompt{
			Name: "find", Title: "Find a debate", Description: "Finds an earlier debate, and sums up what it decided.",
			Arguments: []*mcp.PromptArgument{{Name: "text", Description: "Part of its topic", Required: true}},
		},
		func(a map[string]string) string {
			return fmt.Sprintf("Find the debate about %q with the tool debate_list, read its answer with debate_result, and sum up what it decided and who dissents. If several debates fit, ask me which one.", a["text"])
		},
	},
	{
		mcp.Prompt{
			Name: "continue", Title: "Continue a debate", Description: "Waits for the answer of a debate that is not over.",
			Arguments: []*mcp.PromptArgument{{Name: "id", Description: "The id of the debate", Required: true}},
		},
		func(a map[string]string) string {
			return fmt.Sprintf("Continue the debate %q with the tool debate, and call again as it says until the debate has ended. Then tell me the answer, who dissents and why.", a["id"])
		},
	},
}

// addPrompts adds the prompts to a server.
func addPrompts(server *mcp.Server) {
	for _, p := range prompts {
		server.AddPrompt(&p.Prompt, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			for _, a := range p.Arguments {
				if a.Required && r.Params.Arguments[a.Name] == "" {
					return nil, fmt.Errorf("get prompt %s: %s is empty", p.Name, a.Name)
				}
			}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: p.text(r.Params.Arguments)}}}}, nil
		})
	}
}

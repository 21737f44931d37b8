package compare

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

// An adkModel is a model for ADK.
type adkModel struct{ who string }

func (m adkModel) Name() string { return m.who }

func (m adkModel) GenerateContent(ctx context.Context, r *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	bytes := 0
	for _, c := range r.Contents {
		for _, part := range c.Parts {
			bytes += len(part.Text)
		}
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		said := workOf(ctx).piecesFor(m.who, bytes)
		if len(said) == 1 {
			yield(&model.LLMResponse{Content: genai.NewContentFromText(said[0], genai.RoleModel), TurnComplete: true}, nil)
			return
		}
		for _, piece := range said {
			if !yield(&model.LLMResponse{Content: genai.NewContentFromText(piece, genai.RoleModel), Partial: true}, nil) {
				return
			}
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromText(speech, genai.RoleModel), TurnComplete: true}, nil)
	}
}

// adkLoop runs three agents in a loop, with a session in memory. Their prompts have the judge's scores too.
func adkLoop(t testing.TB) func(*work) error {
	var agents []agent.Agent
	for _, who := range []string{"ada", "bo", "judge"} {
		a, err := llmagent.New(llmagent.Config{Name: who, Model: adkModel{who}, Instruction: systemOf(who)})
		require.NoError(t, err)
		agents = append(agents, a)
	}
	loop, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "debate", SubAgents: agents}, MaxIterations: rounds})
	require.NoError(t, err)
	sessions, n := session.InMemoryService(), 0
	r, err := runner.New(runner.Config{AppName: "app", Agent: loop, SessionService: sessions, AutoCreateSession: true})
	require.NoError(t, err)
	return func(w *work) error {
		n++
		id, ctx := fmt.Sprint(n), context.WithValue(context.Background(), workKey{}, w)
		began := genai.NewContentFromText(topic, genai.RoleUser)
		for ev, err := range r.Run(ctx, "user", id, began, agent.RunConfig{StreamingMode: agent.StreamingModeSSE}) {
			if err != nil {
				return err
			}
			switch {
			case ev.Content == nil:
			case ev.Partial:
				w.chunks++
			case ev.Author == "judge":
				if err := w.decode(ev.Content.Parts[0].Text); err != nil {
					return err
				}
			}
		}
		return sessions.Delete(ctx, &session.DeleteRequest{AppName: "app", UserID: "user", SessionID: id})
	}
}

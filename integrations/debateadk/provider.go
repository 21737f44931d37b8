package debateadk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
	"github.com/elenchus-go/debate/transcript"
)

// FromModel returns a provider that calls a model of ADK. Settings for reasoning are refused: set them in the model.
// Schemas are not sent: only the prompt describes a structured reply. The provider is safe for concurrent use if m is.
func FromModel(m model.LLM) providers.Provider {
	unsupported := map[string]string{"reasoning": "ADK has no such option for all models, set it in the model"}
	return &adapter.Provider{Settings: unsupported, Stream: func(ctx context.Context, r providers.Request, add adapter.Add) error {
		system, list := contents(r.Messages)
		c := &genai.GenerateContentConfig{StopSequences: r.Stop, MaxOutputTokens: int32(min(r.MaxTokens, 1<<30))} //nolint:gosec // bounded
		if system != "" {
			c.SystemInstruction = genai.NewContentFromText(system, genai.RoleUser)
		}
		if r.Temperature != nil {
			c.Temperature = new(float32(*r.Temperature))
		}
		if r.TopP > 0 {
			c.TopP = new(float32(r.TopP))
		}
		if r.Seed != nil {
			c.Seed = new(int32(*r.Seed)) //nolint:gosec // any part of the seed serves
		}
		h := &hearer{add: add}
		for reply, err := range m.GenerateContent(ctx, &model.LLMRequest{Model: r.Model, Contents: list, Config: c}, r.OnChunk != nil) {
			if err != nil {
				return err
			}
			if err := h.hear(reply); err != nil {
				return err
			}
		}
		return add(h.last)
	}}
}

// contents returns the system message and the other messages in ADK's form.
func contents(list []providers.Message) (system string, out []*genai.Content) {
	for _, m := range list {
		if m.Role == providers.System {
			system = m.Text
			continue
		}
		role := map[providers.Role]genai.Role{providers.User: genai.RoleUser, providers.Assistant: genai.RoleModel}[m.Role]
		out = append(out, genai.NewContentFromText(m.Text, role))
	}
	return system, out
}

// A hearer reads what a model replies: pieces, and after them or in their place a whole message.
type hearer struct {
	add adapter.Add // for the text and the reasoning

	open bool   // whether pieces have arrived since the last whole message
	said string // their text
	last adapter.Chunk
}

// hear reads one response.
func (h *hearer) hear(r *model.LLMResponse) error {
	var c adapter.Chunk
	if r.Content != nil {
		for _, p := range r.Content.Parts {
			switch {
			case p.FunctionCall != nil:
				h.last.ToolCalls = append(h.last.ToolCalls, providers.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name})
			case p.Thought:
				c.Reasoning += p.Text
			default:
				c.Text += p.Text
			}
		}
	}
	switch {
	case r.Partial:
		h.open, h.said = true, h.said+c.Text
	case h.open: // the whole message repeats the pieces
		rest, same := strings.CutPrefix(c.Text, h.said)
		c = (adapter.Chunk{})
		if same {
			c.Text = rest
		}
		h.open, h.said = false, ""
	}
	if err := h.add(c); err != nil {
		return err
	}
	if u := r.UsageMetadata; u != nil {
		h.last.Usage = transcript.Usage{
			Input: int(u.PromptTokenCount), Cached: int(u.CachedContentTokenCount),
			Output: int(u.CandidatesTokenCount + u.ThoughtsTokenCount), Reasoning: int(u.ThoughtsTokenCount),
		}
	}
	h.last.Model, h.last.FinishReason = r.ModelVersion, string(r.FinishReason)
	switch r.ErrorCode {
	case "":
		return nil
	case "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII": // why there is no text
		h.last.FinishReason = r.ErrorCode
		return nil
	}
	return fmt.Errorf("%s: %s", r.ErrorCode, r.ErrorMessage)
}

// FromAgent returns a provider that lets an agent of ADK speak, which may call its tools before each turn. Each turn is a
// session of its own in memory. The system message of the prompt stands at the head of the first user message, because the
// agent has instructions of its own. Its last message is the reply. Usage is that of all calls of its model. Set the
// settings of the model in the agent: Temperature and MaxTokens of the participant have no effect, and others are refused.
// The provider is safe for concurrent use if the agent is.
func FromAgent(a agent.Agent) providers.Provider {
	const reason = "an agent of ADK has settings of its own, set it there"
	unsupported := map[string]string{"top_p": reason, "seed": reason, "stop": reason, "reasoning": reason}
	// Tools may take any time: the debate's step timeout applies.
	return &adapter.Provider{Settings: unsupported, Timeout: -1, Stream: func(ctx context.Context, r providers.Request, add adapter.Add) error {
		system, list := contents(r.Messages)
		list[0].Parts[0].Text = strings.TrimSpace(system + "\n\n" + list[0].Parts[0].Text)
		services := session.InMemoryService()
		run, err := runner.New(runner.Config{
			AppName: "debate", Agent: a, SessionService: services, ArtifactService: artifact.InMemoryService(), MemoryService: memory.InMemoryService(),
		})
		if err != nil {
			return err
		}
		created, err := services.Create(ctx, &session.CreateRequest{AppName: "debate", UserID: "debate"})
		if err != nil {
			return err
		}
		for _, c := range list[:len(list)-1] {
			e := session.NewEvent(ctx, "")
			e.Author, e.LLMResponse.Content = genai.RoleUser, c
			if c.Role == genai.RoleModel {
				e.Author = a.Name()
			}
			if err := services.AppendEvent(ctx, created.Session, e); err != nil {
				return err
			}
		}
		mode := map[bool]agent.StreamingMode{true: agent.StreamingModeSSE}[r.OnChunk != nil]
		return speak(run.Run(ctx, "debate", created.Session.ID(), list[len(list)-1], agent.RunConfig{StreamingMode: mode}), add)
	}}
}

// speak adds what an agent says.
func speak(events iter.Seq2[*session.Event, error], add adapter.Add) error {
	text := adapter.AgentText{Add: add}
	h := &hearer{add: func(c adapter.Chunk) error { return text.Say(c.Text) }}
	var total transcript.Usage
	for e, err := range events {
		switch {
		case err != nil:
			return err
		case len(e.Actions.RequestedToolConfirmations) > 0:
			err := errors.New("run agent: it waits for a confirmation by its user, use tools that need none")
			return &providers.Error{Kind: providers.InvalidRequest, Err: err}
		case e.Content == nil && e.ErrorCode == "", e.Content != nil && e.Content.Role != genai.RoleModel:
			continue // such as a change of the state, or the result of a tool
		case !h.open:
			text.Next()
		}
		h.last.Usage = transcript.Usage{}
		if err := h.hear(&e.LLMResponse); err != nil {
			return err
		}
		if !e.Partial {
			total = total.Add(h.last.Usage)
		}
	}
	if err := text.End(); err != nil {
		return err
	}
	return add(adapter.Chunk{FinishReason: h.last.FinishReason, Usage: total, Model: h.last.Model})
}

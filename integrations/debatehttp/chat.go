package debatehttp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/deepcopy"
)

// The bodies of the OpenAI API, as far as this package uses them. Clients send many more fields, which are ignored.
type (
	chatRequest struct {
		Model         string        `json:"model"`
		Messages      []chatMessage `json:"messages"`
		Stream        bool          `json:"stream,omitempty"`
		StreamOptions streamOptions `json:"stream_options,omitzero"`

		// Fields that would change the answer. Values that would are refused.
		N              int             `json:"n,omitempty"`                  // at most 1
		ResponseFormat chatFormat      `json:"response_format,omitzero"`     // text
		ToolChoice     json.RawMessage `json:"tool_choice,omitempty"`        // auto or none
		FunctionCall   json.RawMessage `json:"function_call,omitempty"`      // auto or none
		Modalities     []string        `json:"modalities,omitempty"`         // text
		Stop           json.RawMessage `json:"stop,omitempty"`               // null or an empty list
		Logprobs       bool            `json:"logprobs,omitempty"`           // false
		WebSearch      json.RawMessage `json:"web_search_options,omitempty"` // null
	}
	chatFormat struct {
		Type string `json:"type"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage,omitempty"`
	}
	chatMessage struct {
		Role    string      `json:"role"`
		Content chatContent `json:"content"`
	}
	chatCompletion struct {
		ID      string       `json:"id"` // the debate's id
		Object  string       `json:"object"`
		Created int64        `json:"created"`
		Model   string       `json:"model"`
		Choices []chatChoice `json:"choices"`
		Usage   *chatUsage   `json:"usage,omitempty"`
	}
	chatChoice struct {
		Index        int        `json:"index"`
		Message      *chatReply `json:"message,omitempty"` // without streaming
		Delta        *chatReply `json:"delta,omitempty"`   // with streaming
		FinishReason *string    `json:"finish_reason"`
	}
	chatReply struct {
		Role             string `json:"role,omitempty"`
		Content          string `json:"content"`
		ReasoningContent string `json:"reasoning_content,omitempty"` // the turns, with Options.ShowTurns
	}
	chatUsage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
	}
	chatModel struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	chatModels struct {
		Object string      `json:"object"`
		Data   []chatModel `json:"data"`
	}
)

// chatContent holds the text of a message, which clients send as a string or as a list of parts.
type chatContent string

// UnmarshalJSON decodes a string or a list of text parts.
func (t *chatContent) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*t = chatContent(text)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(b, &parts) != nil {
		return errors.New("the content of a message is neither a text nor a list of parts")
	}
	for _, p := range parts {
		if p.Type != "text" {
			return fmt.Errorf("a message has a part of type %q, only text is supported", p.Type)
		}
		text += p.Text
	}
	*t = chatContent(text)
	return nil
}

// models lists the presets.
func (c *call) models() error {
	if err := c.allow(); err != nil {
		return err
	}
	list := chatModels{Object: "list", Data: []chatModel{}}
	for _, name := range slices.Sorted(maps.Keys(c.Presets)) {
		list.Data = append(list.Data, modelOf(name))
	}
	return c.answer(http.StatusOK, list)
}

// model answers with a preset.
func (c *call) model() error {
	if err := c.allow(); err != nil {
		return err
	}
	name := c.r.PathValue("model")
	if _, ok := c.Presets[name]; !ok {
		return c.noModel(name)
	}
	return c.answer(http.StatusOK, modelOf(name))
}

func modelOf(name string) chatModel { return chatModel{ID: name, Object: "model", OwnedBy: "debate"} }

func (c *call) noModel(name string) *Problem {
	p := problem("model-not-found", "the model %q does not exist, use one of %s", name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(c.Presets)), ", "), "none"))
	p.Problems = invalid("model", "%s", p.Detail).Problems
	return p
}

// chat launches a debate about the last message, and answers with the debate's answer. The debate continues when the
// client leaves.
func (c *call) chat() error {
	b, err := c.body()
	if err != nil {
		return err
	}
	var body chatRequest
	if err := json.Unmarshal(b, &body); err != nil {
		return problem("invalid", "the body is not a chat request: %v", err)
	}
	cfg, err := c.preset(&body)
	if err != nil {
		return err
	}
	d, err := c.begin(cfg, func(ctx context.Context, cfg debate.Config) (*debate.Debate, error) { return c.ask(ctx, cfg, b) })
	if err != nil {
		return err
	}
	c.lasts()
	r := &completion{waiter: waiter{c, d}, usage: !body.Stream || body.StreamOptions.IncludeUsage}
	r.head = chatCompletion{ID: d.ID(), Object: "chat.completion", Created: time.Now().Unix(), Model: body.Model}
	if !body.Stream {
		return r.whole()
	}
	r.head.Object = "chat.completion.chunk"
	r.streamed()
	return nil
}

// refusal returns a problem for a field that would change the answer in a way that a debate cannot.
func (r *chatRequest) refusal() error {
	stop := string(r.Stop)
	switch {
	case r.N > 1:
		return invalid("n", "there is one answer only, leave it out")
	case r.ResponseFormat.Type != "" && r.ResponseFormat.Type != "text":
		return invalid("response_format", "the answer of a debate is text, leave it out, and let a model convert the answer")
	case requires(r.ToolChoice):
		return invalid("tool_choice", "a debate calls no tool of the client, use auto or none")
	case requires(r.FunctionCall):
		return invalid("function_call", "a debate calls no function of the client, use auto or none")
	case slices.ContainsFunc(r.Modalities, func(m string) bool { return m != "text" }):
		return invalid("modalities", "the answer of a debate is text, leave it out")
	case stop != "" && stop != "null" && stop != "[]":
		return invalid("stop", "the answer of a debate is whole, leave it out")
	case r.Logprobs:
		return invalid("logprobs", "the answer of a debate has no probabilities, leave it out")
	case len(r.WebSearch) > 0 && string(r.WebSearch) != "null":
		return invalid("web_search_options", "the preset decides what a debate retrieves, leave it out")
	}
	return nil
}

// requires reports whether a tool_choice or a function_call wants a tool to be called.
func requires(choice json.RawMessage) bool {
	var word string
	if len(choice) == 0 || json.Unmarshal(choice, &word) == nil {
		return word != "" && word != "auto" && word != "none"
	}
	var allowed struct {
		Tools struct {
			Mode string `json:"mode"`
		} `json:"allowed_tools"`
	}
	return json.Unmarshal(choice, &allowed) != nil || allowed.Tools.Mode != "auto"
}

// preset returns the configuration for a chat request.
func (c *call) preset(body *chatRequest) (cfg debate.Config, err error) {
	cfg, ok := c.Presets[body.Model]
	last := len(body.Messages) - 1
	if err := body.refusal(); err != nil {
		return cfg, err
	}
	switch {
	case !ok:
		return cfg, c.noModel(body.Model)
	case last < 0 || body.Messages[last].Role != "user":
		return cfg, invalid("messages", "the last message is not from the user")
	}
	cfg = deepcopy.Of(cfg) // Authorize may change it
	cfg.ID, cfg.Topic = "", string(body.Messages[last].Content)
	background := []string{cfg.Background}
	for _, m := range body.Messages[:last] {
		if m.Role == "system" || m.Role == "developer" {
			background = append(background, string(m.Content))
		} else {
			said := strings.ReplaceAll(string(m.Content), "\n", "\n> ") // so that no line of it looks like another message
			background = append(background, fmt.Sprintf("Earlier, the %s said:\n> %s", m.Role, said))
		}
	}
	cfg.Background = strings.TrimSpace(strings.Join(background, "\n\n"))
	return cfg, nil
}

// A completion is the answer to a chat request.
type completion struct {
	waiter
	head  chatCompletion // the fields that all parts of the response have
	usage bool           // whether the client wants to know what the debate has used
}

// whole answers when the debate has ended. If that takes long, it begins the answer with blank lines, so that proxies and
// clients do not close the connection. An error after that has the status 200.
func (r *completion) whole() error {
	var turns strings.Builder
	var out *stream
	result, err := r.follow(func() bool {
		if out == nil {
			out = r.startStream("application/json")
		}
		return out.send([]byte("\n"))
	}, func(text string) bool { turns.WriteString(text); return true })
	if err == nil {
		r.head.Usage = usageOf(result)
		r.head.Choices = []chatChoice{{
			Message: &chatReply{Role: "assistant", Content: answerText(result), ReasoningContent: turns.String()}, FinishReason: new("stop"),
		}}
	}
	switch {
	case out == nil && err != nil:
		return err
	case out == nil:
		return r.answer(http.StatusOK, r.head)
	case err != nil:
		out.sendJSON("%s\n", openAIError(r.problemOf(err)))
	default:
		out.sendJSON("%s\n", r.head)
	}
	out.end()
	return nil
}

// streamed answers with a stream. It sends the turns as they come, and the answer when the debate has ended.
func (r *completion) streamed() {
	out := r.startStream("text/event-stream")
	show := func(reply chatReply) bool { return r.part(out, chatChoice{Delta: &reply}) }
	if !show(chatReply{Role: "assistant"}) {
		return
	}
	result, err := r.follow(out.keepAlive, func(text string) bool { return show(chatReply{ReasoningContent: text}) })
	if err != nil {
		if r.r.Context().Err() == nil {
			out.sendJSON(eventFormat, openAIError(r.problemOf(err)))
			out.end()
		}
		return
	}
	if !show(chatReply{Content: answerText(result)}) || !r.part(out, chatChoice{Delta: &chatReply{}, FinishReason: new("stop")}) {
		return
	}
	if r.usage {
		last := r.head
		last.Choices, last.Usage = []chatChoice{}, usageOf(result)
		out.sendJSON(eventFormat, last)
	}
	if out.send([]byte("data: [DONE]\n\n")) {
		out.end()
	}
}

// part sends a part of a streamed response.
func (r *completion) part(out *stream, choice chatChoice) bool {
	next := r.head
	next.Choices = []chatChoice{choice}
	return out.sendJSON(eventFormat, next)
}

func usageOf(r *debate.Result) *chatUsage {
	u := r.Total.Usage
	return &chatUsage{u.Input, u.Output, u.Input + u.Output}
}

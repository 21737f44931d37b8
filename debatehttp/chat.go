package debatehttp

import (
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
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/transcript"
)

// The bodies of the OpenAI API, as far as this package uses them. Clients send many more fields, which are ignored.
type (
	chatRequest struct {
		Model         string        `json:"model"`
		Messages      []chatMessage `json:"messages"`
		Stream        bool          `json:"stream,omitempty"`
		StreamOptions streamOptions `json:"stream_options,omitzero"`
		N             int           `json:"n,omitempty"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage,omitempty"`
	}
	chatMessage struct {
		Role    string      `json:"role"`
		Content chatContent `json:"content"`
	}
	chatResponse struct {
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
	chatError struct {
		Error chatErrorBody `json:"error"`
	}
	chatErrorBody struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Param   string `json:"param,omitempty"` // the field that is wrong
		Code    string `json:"code"`            // the kind of problem, as in Problem.Type
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
		list.Data = append(list.Data, chatModel{ID: name, Object: "model", OwnedBy: "debate"})
	}
	return c.answer(http.StatusOK, list)
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
	d, err := c.begin(cfg)
	if err != nil {
		return err
	}
	c.lasts()
	r := &completion{call: c, debate: d, usage: !body.Stream || body.StreamOptions.IncludeUsage}
	r.head = chatResponse{ID: d.ID(), Object: "chat.completion", Created: time.Now().Unix(), Model: body.Model}
	if !body.Stream {
		return r.whole()
	}
	r.head.Object = "chat.completion.chunk"
	r.streamed(c.startStream())
	return nil
}

// preset returns the configuration for a chat request.
func (c *call) preset(body *chatRequest) (cfg debate.Config, err error) {
	cfg, ok := c.Presets[body.Model]
	last := len(body.Messages) - 1
	switch {
	case !ok:
		return cfg, invalid("model", "%q does not exist, use one of %s", body.Model, strings.Join(slices.Sorted(maps.Keys(c.Presets)), ", "))
	case body.N > 1:
		return cfg, invalid("n", "there is one answer only, leave it out")
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
			background = append(background, fmt.Sprintf("Earlier, the %s said: %s", m.Role, m.Content))
		}
	}
	cfg.Background = strings.TrimSpace(strings.Join(background, "\n\n"))
	return cfg, nil
}

// A completion is the answer to a chat request.
type completion struct {
	*call
	debate *debate.Debate
	head   chatResponse // the fields that all parts of the response have
	usage  bool         // whether the client wants to know what the debate has used
}

// whole answers when the debate has ended.
func (r *completion) whole() error {
	var turns strings.Builder
	result, err := r.follow(nil, func(text string) bool { turns.WriteString(text); return true })
	if err != nil {
		return err
	}
	r.head.Usage = usageOf(result)
	r.head.Choices = []chatChoice{{
		Message: &chatReply{Role: "assistant", Content: answerText(result), ReasoningContent: turns.String()}, FinishReason: new("stop"),
	}}
	return r.answer(http.StatusOK, r.head)
}

// streamed answers with a stream. It sends the turns as they come, and the answer when the debate has ended.
func (r *completion) streamed(out *stream) {
	show := func(reply chatReply) bool { return r.part(out, chatChoice{Delta: &reply}) }
	if !show(chatReply{Role: "assistant"}) {
		return
	}
	result, err := r.follow(out, func(text string) bool { return show(chatReply{ReasoningContent: text}) })
	if err != nil {
		if r.r.Context().Err() == nil {
			r.data(out, chatErrorOf(problemOf(err)))
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
		r.data(out, last)
	}
	if out.send([]byte("data: [DONE]\n\n")) {
		out.end()
	}
}

// part sends a part of a streamed response.
func (r *completion) part(out *stream, choice chatChoice) bool {
	next := r.head
	next.Choices = []chatChoice{choice}
	return r.data(out, next)
}

func (r *completion) data(out *stream, v any) bool {
	b, err := json.Marshal(v)
	return err == nil && out.send(fmt.Appendf(nil, "data: %s\n\n", b))
}

// A happening is what a debate's viewer sees next.
type happening struct {
	event debate.Event
	err   error
}

// follow waits for the end of the debate. It calls show with the text of each statement if Options.ShowTurns is set, and
// sends comments to out, if it is not nil, so that the connection stays open.
func (r *completion) follow(out *stream, show func(string) bool) (*debate.Result, error) {
	ctx, leave := context.WithCancel(r.r.Context())
	events := make(chan happening)
	go func() {
		defer close(events)
		for ev, err := range r.debate.Watch(ctx, 0) {
			select {
			case events <- happening{ev, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() {
		leave()
		for range events { //nolint:revive // until the goroutine has returned
		}
	}()
	beat := time.NewTicker(r.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			if out != nil && !out.send([]byte(": keep-alive\n\n")) {
				return nil, errClientLeft
			}
		case h, more := <-events:
			if !more {
				return nil, errClientLeft
			}
			if result, err := r.see(ctx, h, show); result != nil || err != nil {
				return result, err
			}
		}
	}
}

// errClientLeft ends a response whose client has disconnected.
var errClientLeft = errors.New("the client has disconnected")

// see handles what happens in the debate. It returns the result if the debate has ended.
func (r *completion) see(ctx context.Context, h happening, show func(string) bool) (*debate.Result, error) {
	if _, refused := errors.AsType[*debate.Problems](h.err); refused {
		r.Logger.WarnContext(ctx, "answer chat request", "debate", r.debate.ID(), "error", h.err)
		return nil, problem("stopped", "debate %s could not start, see its problems", r.debate.ID())
	}
	if h.err != nil {
		return nil, h.err
	}
	switch ev := h.event.(type) {
	case debate.TurnDone:
		said := ev.Turn.Kind == transcript.Speech || ev.Turn.Kind == transcript.Remark
		if r.ShowTurns && said && !show(fmt.Sprintf("%s: %s\n\n", ev.Turn.Actor, ev.Turn.Text)) {
			return nil, errClientLeft
		}
	case debate.StateChanged:
		if ev.To != fsm.Error {
			return nil, nil
		}
		s, err := r.debate.Status(ctx)
		if err == nil && s.State == fsm.Error { // nobody has retried it
			err = problem("stopped", "debate %s is in error: %s", s.ID, s.FailureKind)
		}
		return nil, err
	case debate.Ended:
		if answerText(ev.Result) == "" {
			return nil, problem("stopped", "debate %s has ended without an answer: %s", ev.Result.ID, ev.Result.Ending.Outcome)
		}
		return ev.Result, nil
	}
	return nil, nil
}

// answerText returns the answer as text, or as JSON if it has no text.
func answerText(r *debate.Result) string {
	if r.Answer.Text != "" {
		return r.Answer.Text
	}
	return string(r.Answer.Data)
}

func usageOf(r *debate.Result) *chatUsage {
	u := r.Total.Usage
	return &chatUsage{u.Input, u.Output, u.Input + u.Output}
}

// chatErrorOf returns a problem in the format of the OpenAI API.
func chatErrorOf(p *Problem) chatError {
	e := chatErrorBody{Message: p.Detail, Type: "server_error", Code: strings.TrimPrefix(p.Type, typeBase)}
	if e.Message == "" {
		e.Message = p.Title
	}
	if p.Status < http.StatusInternalServerError {
		e.Type = "invalid_request_error"
	}
	if len(p.Problems) > 0 {
		e.Param = p.Problems[0].Field
	}
	return chatError{e}
}

// Package adapter makes providers of the models and agents of other frameworks. You write one function, which calls the
// model and adds what arrives to the reply; [Provider] does the rest of what package providers asks of a provider:
//
//	p := &adapter.Provider{Stream: func(ctx context.Context, r providers.Request, add adapter.Add) error {
//		text, err := model.Ask(ctx, r.Messages)
//		if err != nil {
//			return err
//		}
//		return add(adapter.Chunk{Text: text, FinishReason: "stop"})
//	}}
//
// The function runs on a goroutine of its own, so a model that ignores its context cannot block the caller, and a panic
// of the model becomes an error. Such a goroutine ends when the model returns. Chunks reach the caller on the caller's
// goroutine, cut between characters. The kind of an error is derived from status codes and known phrases, and keys that
// the error quotes are removed.
package adapter

import (
	"context"
	"errors"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Provider calls a model of another framework. It refuses requests with tools or attachments. Set its fields before the first call. It is safe for concurrent use if
// its functions are.
type Provider struct {
	// Stream calls the model. The messages of r are in a form that all services accept: at most one system message, which
	// is the first, followed by alternating user and assistant messages, the first of which is a user message. Each message
	// has text only. r.OnChunk only says whether the caller wants the reply in pieces; do not call it. If Stream returns
	// nil, the reply is complete.
	Stream func(ctx context.Context, r providers.Request, add Add) error
	// Kind returns the kind of an error of Stream by its type, or "" if the type does not tell. It may be nil. Errors of
	// type *providers.Error keep their kinds.
	Kind func(error) providers.ErrorKind
	// Settings maps the JSON names of settings that the model does not support to sentences that say what to do instead.
	// See [providers.Limited].
	Settings map[string]string
	// Timeout limits the time in which Stream adds nothing. An empty chunk counts. Defaults to 120 s. A negative value
	// disables the limit.
	Timeout time.Duration
}

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	messages, err := normalize(r)
	if err != nil {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: err}
	}
	if ctx.Err() != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	run, cancel := context.WithCancel(ctx)
	defer cancel() // ends the model's goroutine even if OnChunk panics
	sent := 0
	for _, m := range messages {
		sent += len(m.Text)
	}
	c := &call{reply: wire.NewReply(r), sent: sent, kind: p.Kind, chunks: make(chan Chunk), done: make(chan error, 1)}
	r.Messages = messages
	if r.OnChunk != nil {
		r.OnChunk = func(string) error { return nil }
	}
	go c.run(run, p.Stream, r)
	return c.wait(ctx, p.timeout())
}

func (p *Provider) timeout() time.Duration {
	const byDefault = 120 * time.Second
	if p.Timeout == 0 {
		return byDefault
	}
	return p.Timeout
}

// Unsupported returns the settings of r that are in Settings.
func (p *Provider) Unsupported(r providers.Request) map[string]string {
	found := map[string]string{}
	for name, set := range map[string]bool{
		"temperature": r.Temperature != nil, "top_p": r.TopP > 0, "seed": r.Seed != nil, "stop": len(r.Stop) > 0, "reasoning": r.Reasoning != "",
	} {
		if reason, ok := p.Settings[name]; ok && set {
			found[name] = reason
		}
	}
	if reason := prompt.Refused(r, r.Model, refuses); reason != "" {
		found["attachments"] = reason
	}
	return found
}

var (
	errTools       = errors.New("build prompt: the request has tools, which this provider does not support")
	errAttachments = errors.New("build prompt: the request has attachments, which this provider does not support")
)

// refuses returns why no attachment can be read.
func refuses(string, *providers.Attachment) string {
	return "this provider passes on texts only, use a provider of the library for the service, such as providers/openai"
}

// normalize returns the messages of a request in a form that all services accept.
func normalize(r providers.Request) ([]providers.Message, error) {
	if len(r.Tools) > 0 {
		return nil, errTools
	}
	p, err := prompt.New(r.Messages)
	if err != nil {
		return nil, err
	}
	var list []providers.Message
	if p.System != "" {
		list = append(list, providers.Message{Role: providers.System, Text: p.System})
	}
	for _, turn := range p.Dialog {
		if turn.HasAttachments() {
			return nil, errAttachments
		}
		for _, part := range turn.Parts {
			if part.ToolCall != nil || part.ToolResult != nil {
				return nil, errTools
			}
		}
		list = append(list, providers.Message{Role: turn.Role, Text: turn.Text()})
	}
	return list, nil
}

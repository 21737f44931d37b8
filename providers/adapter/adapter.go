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
	"regexp"
	"slices"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Provider calls a model of another framework. It refuses requests with attachments, and with tools unless Tools is set. Set its fields before the first call. It is safe for concurrent use if
// its functions are.
type Provider struct {
	// Stream calls the model. The messages of r are in a form that all services accept: at most one system message, which
	// is the first, followed by alternating user and assistant messages, the first of which is a user message. Each message
	// has text only, unless Tools is set. r.OnChunk only says whether the caller wants the reply in pieces; do not call it. If Stream returns
	// nil, the reply is complete.
	Stream func(ctx context.Context, r providers.Request, add Add) error
	// Tools says that Stream passes on r.Tools and r.ToolChoice, and adds the calls of the model to the reply. A message that
	// has tool calls or results then has Parts: texts, calls whose arguments are objects, and results. Each call has an ID of
	// at most 64 letters, digits, underscores and hyphens, and the next message begins with the results.
	Tools bool
	// Kind returns the kind of an error of Stream by its type, or "" if the type does not tell. It may be nil. Errors of
	// type *providers.Error keep their kinds.
	Kind func(error) providers.ErrorKind
	// Settings maps the JSON names of settings that the model does not support to sentences that say what to do instead.
	// See [providers.Limited].
	Settings map[string]string
	// Timeout limits the time in which Stream adds nothing. An empty chunk counts. Defaults to 120 s. A negative value
	// disables the limit.
	Timeout time.Duration

	support wire.SupportCache // what models have refused
}

// Generate requests one reply from the model. If the model refuses the system prompt, Generate moves it to the first message of
// the user.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	support := p.support.Get(r.Model, wire.Support{})
	res, err := p.generate(ctx, r, support)
	if err == nil || support.NoSystem || !hasSystem(r) || !refusesSystem(err) {
		return res, err
	}
	support.NoSystem = true
	res, err = p.generate(ctx, r, support)
	if err == nil {
		p.support.Put(r.Model, support)
		res.Warnings = append(res.Warnings, support.Warning(r.Model, wire.Support{}))
	}
	return res, err
}

// hasSystem reports whether a request has a system prompt.
func hasSystem(r providers.Request) bool {
	return slices.ContainsFunc(r.Messages, func(m providers.Message) bool { return m.Role == providers.System })
}

// refusesSystem reports whether a model has refused the system prompt, and replied nothing.
func refusesSystem(err error) bool {
	failed, ok := errors.AsType[*providers.Error](err)
	return ok && failed.Partial.Text == "" && fault.RefusesSystem(failed.Error())
}

// generate requests one reply from the model, in the form that it supports.
func (p *Provider) generate(ctx context.Context, r providers.Request, support wire.Support) (providers.Response, error) {
	messages, err := p.normalize(r, support)
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
		for _, part := range m.Parts {
			sent += len(part.Text)
			if part.ToolResult != nil {
				sent += len(part.ToolResult.Text)
			}
		}
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
	if len(r.Tools) > 0 && !p.Tools {
		found["tools"] = "this provider passes on no tools, use a provider of the library for the service, such as providers/openai"
	}
	if reason := prompt.Refused(r, r.Model, refuses); reason != "" {
		found["attachments"] = reason
	}
	return found
}

var errAttachments = errors.New("build prompt: the request has attachments, which this provider does not support")

// callIDs is the pattern of the IDs of tool calls, which all services but Mistral accept.
var callIDs = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// refuses returns why no attachment can be read.
func refuses(string, *providers.Attachment) string {
	return "this provider passes on texts only, use a provider of the library for the service, such as providers/openai"
}

// normalize returns the messages of a request in a form that all services accept, and the model.
func (p *Provider) normalize(r providers.Request, support wire.Support) ([]providers.Message, error) {
	if !p.Tools {
		if err := prompt.RefuseTools(r); err != nil {
			return nil, err
		}
	}
	given, err := support.Prompt(r, callIDs)
	if err != nil {
		return nil, err
	}
	var list []providers.Message
	if given.System != "" {
		list = append(list, providers.Message{Role: providers.System, Text: given.System})
	}
	for _, turn := range given.Dialog {
		if turn.HasAttachments() {
			return nil, errAttachments
		}
		m := providers.Message{Role: turn.Role}
		if isRound := func(part providers.Part) bool { return part.ToolCall != nil || part.ToolResult != nil }; slices.ContainsFunc(turn.Parts, isRound) {
			m.Parts = slices.DeleteFunc(turn.Parts, func(part providers.Part) bool { return part.Reasoning != nil })
		} else {
			m.Text = turn.Text()
		}
		list = append(list, m)
	}
	return list, nil
}

// Package acp makes providers of coding agents that speak the Agent Client Protocol, such as Claude Code, Codex, Gemini CLI and
// OpenCode. They work with the accounts that they are signed in with, and read the files of a folder by themselves.
//
//	agent, err := acp.New(acp.Claude())
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer agent.Close()
//	d, err := debate.New(ctx, config, debate.Options{Providers: map[string]providers.Provider{"agent/claude": agent}})
//
// Each call opens a new session in a process that is kept, and sends the whole prompt, so that a reply depends on nothing that the
// journal of the debate does not have. The process and its children end with [Provider.Close], and if the program ends in any other
// way.
//
// Agents only read: they are in a mode that reads, or have only tools that read, they get neither files nor a terminal, and each
// request for permission is refused unless [Config.Permission] says otherwise. [providers.Response.Read] lists what an agent has
// looked at. If the debate has documents that are files below [Config.Dir], quotes of them are checked as all quotes are.
//
// An agent counts the prompt that it makes around the one of the debate, so [transcript.Usage] is larger than that of a model. If
// the agent reports a cost in US dollars, [transcript.Usage.Cost] has it where the debate knows no price of the model. With a
// subscription, it is what the same tokens would cost with a key.
//
// Agents have no temperature, no token limit and no seed: the temperature and the limit of a request have no effect, and a debate
// that sets others does not start. [providers.Request.Reasoning] chooses the agent's effort.
//
// The package is a module of its own, because of the library that speaks the protocol.
package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
	"github.com/elenchus-go/debate/transcript"
)

// Provider is an agent. It is safe for concurrent use: calls have sessions of their own.
type Provider struct {
	config  Config
	prompts *adapter.Provider
	checks  *adapter.Provider

	mu      sync.Mutex
	current *process
	closed  bool
}

// New returns an agent. Its process begins with the first call.
func New(c Config) (*Provider, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return nil, errors.New("create agent: Config.Command is empty, want a program and its arguments")
	}
	for _, variable := range c.Env {
		if name, _, ok := strings.Cut(variable, "="); !ok || name == "" {
			return nil, errors.New("create agent: Config.Env has an element without a name and a value, want NAME=VALUE")
		}
	}
	const silence = 5 * time.Minute
	c.Timeout = cmp.Or(c.Timeout, silence)
	p := &Provider{config: c}
	p.prompts = &adapter.Provider{Stream: p.prompt, Kind: kindOf, Settings: settings, Timeout: -1}
	p.checks = &adapter.Provider{Stream: p.check, Kind: kindOf, Timeout: -1}
	return p, nil
}

// settings are those that no agent has. An agent has no temperature either, but every debate sets one.
var settings = map[string]string{
	"top_p": "a coding agent has no top_p, leave it out",
	"seed":  "a coding agent has no seed, leave it out",
	"stop":  "a coding agent has no stop texts, leave them out",
}

// Generate sends the prompt to the agent in a new session, and returns the agent's last message.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return p.prompts.Generate(ctx, r)
}

// Unsupported returns the settings of a request that agents do not have. See [providers.Limited].
func (p *Provider) Unsupported(r providers.Request) map[string]string {
	return p.prompts.Unsupported(r)
}

// Check starts the agent, and opens a session with the model. Some agents say only in the first call that they are not signed in.
func (p *Provider) Check(ctx context.Context, model string) error {
	_, err := p.checks.Generate(ctx, providers.Request{Model: model, Messages: []providers.Message{{Role: providers.User, Text: "Hello."}}})
	return err
}

// Close ends the process of the agent with all its children. Calls in flight fail, and no other call can begin.
func (p *Provider) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.current != nil {
		p.current.end()
	}
	return nil
}

// use returns the process of the agent, and starts one if there is none that can be used.
func (p *Provider) use(ctx context.Context) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, &providers.Error{Kind: providers.InvalidRequest, Final: true, Err: errors.New("the agent is closed")}
	}
	if p.current != nil && p.current.tryUse() {
		return p.current, nil
	}
	agent, err := start(ctx, &p.config)
	if err != nil {
		return nil, err
	}
	p.current = agent
	agent.tryUse()
	return agent, nil
}

// check opens a session and closes it.
func (p *Provider) check(ctx context.Context, r providers.Request, add adapter.Add) error {
	s, err := p.open(ctx, r)
	if err != nil {
		return err
	}
	go s.tidy(ctx)
	return add(adapter.Chunk{Text: "ok", FinishReason: "stop"})
}

// open opens a session for a request. tidy or abandon ends it.
func (p *Provider) open(ctx context.Context, r providers.Request) (*session, error) {
	agent, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	if p.config.Timeout > 0 {
		silent := p.config.failure(Silent, fmt.Errorf("it sends nothing for %v", p.config.Timeout))
		limited, cancel := context.WithTimeoutCause(ctx, p.config.Timeout, silent)
		defer cancel()
		ctx = limited
	}
	s, err := openSession(ctx, agent, cmp.Or(r.Model, p.config.Model), r.Reasoning)
	if err != nil {
		hangs := errors.Is(err, context.Cause(ctx)) && ctx.Err() != nil
		agent.release(hangs)
		return nil, err
	}
	return s, nil
}

// grace is how long an agent may take for what nobody waits for.
const grace = 5 * time.Second

// tidy closes a session that has ended.
func (s *session) tidy(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	s.close(ctx)
	s.agent.release(false)
}

// answer is the agent's answer to a prompt.
type answer struct {
	StopReason string `json:"stopReason"`
	Usage      *struct {
		Input   int `json:"inputTokens"`
		Read    int `json:"cachedReadTokens"`
		Written int `json:"cachedWriteTokens"`
		Output  int `json:"outputTokens"`
		Thought int `json:"thoughtTokens"`
		Total   int `json:"totalTokens"`
	} `json:"usage"`
	Meta struct {
		Quota struct {
			Count struct {
				Input  int `json:"input_tokens"`
				Output int `json:"output_tokens"`
			} `json:"token_count"`
			Models []struct {
				Model string `json:"model"`
			} `json:"model_usage"`
		} `json:"quota"`
	} `json:"_meta"`
}

// chunk returns what the answer says about the reply.
func (a *answer) chunk(model string, spent float64) adapter.Chunk {
	c := adapter.Chunk{FinishReason: a.StopReason, Model: model}
	if a.StopReason == string(sdk.StopReasonMaxTurnRequests) {
		c.FinishReason = "context_length" // a limit of the agent has ended the reply
	}
	if models := a.Meta.Quota.Models; len(models) == 1 {
		c.Model = models[0].Model
	}
	switch u := a.Usage; {
	case u != nil:
		c.Usage = transcript.Usage{
			Input: u.Input, Cached: u.Read, Written: u.Written, Output: u.Output,
			Reasoning: min(u.Thought, u.Output),
		}
		if u.Total >= u.Input+u.Read+u.Written+u.Output { // the input is only what no cache had
			c.Usage.Input += u.Read + u.Written
		}
		if u.Thought > 0 && u.Total == c.Usage.Input+u.Output+u.Thought { // the output is only the text
			c.Usage.Output += u.Thought
			c.Usage.Reasoning = u.Thought
		}
	default:
		count := a.Meta.Quota.Count
		c.Usage = transcript.Usage{Input: count.Input, Output: count.Output}
	}
	c.Usage.Cost = spent
	return c
}

// outcome is the end of a prompt.
type outcome struct {
	answer answer
	err    error
}

// prompt sends a prompt in a new session, and adds what comes to the reply.
func (p *Provider) prompt(ctx context.Context, r providers.Request, add adapter.Add) error {
	s, err := p.open(ctx, r)
	if err != nil {
		return err
	}
	t := newTurn(s.agent.dir, p.config.Permission)
	s.agent.follow(s.id, t)
	t.begin()
	done := make(chan outcome, 1)
	go func() { done <- s.send(context.WithoutCancel(ctx), promptText(r.Messages)) }()
	said := &speech{out: adapter.AgentText{Add: add}, numbers: s.agent.numbers}
	end, wrong, err := p.listen(ctx, t, said, done)
	if end == nil {
		go s.abandon(context.WithoutCancel(ctx), done, wrong != "")
	} else {
		s.agent.follow(s.id, nil)
		go s.tidy(ctx)
	}
	return p.finish(s, t, said, end, err)
}

// send sends a prompt, and returns when the agent has answered it. What the agent says meanwhile goes to the turn.
func (s *session) send(ctx context.Context, text string) (end outcome) {
	request := sdk.PromptRequest{SessionId: sdk.SessionId(s.id), Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}}
	var raw json.RawMessage
	raw, end.err = call[json.RawMessage](ctx, s.agent, sdk.AgentMethodSessionPrompt, request)
	if end.err == nil && json.Unmarshal(raw, &end.answer) != nil {
		end.err = s.agent.config.failure(NotProtocol, fmt.Errorf("its answer to %s is not valid", sdk.AgentMethodSessionPrompt))
	}
	return end
}

// listen passes on what comes until the agent ends its turn. It returns no outcome if the turn ends before, and why if the agent
// is to blame.
func (p *Provider) listen(ctx context.Context, t *turn, said *speech, done chan outcome) (*outcome, Reason, error) {
	silence := make(<-chan time.Time)
	for {
		if p.config.Timeout > 0 {
			silence = time.After(p.config.Timeout)
		}
		var end *outcome
		select {
		case <-t.news:
		case got := <-done:
			end = &got
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		case <-silence:
			return nil, Silent, p.config.failure(Silent, fmt.Errorf("it sends nothing for %v", p.config.Timeout))
		}
		events, wrong, because := t.take()
		for _, e := range events {
			if err := said.add(e); err != nil {
				return end, "", err
			}
		}
		if wrong != "" {
			return end, wrong, p.config.failure(wrong, because)
		}
		if end != nil {
			return end, "", end.err
		}
	}
}

// finish adds what is known when a turn has ended, also after a failure, because the tokens are used.
func (p *Provider) finish(s *session, t *turn, said *speech, end *outcome, err error) error {
	spent, failed := t.result()
	last := adapter.Chunk{Model: s.model}
	if end != nil {
		last = end.answer.chunk(s.model, spent)
	}
	last.Read = t.accesses()
	if err == nil {
		err = said.failure(failed)
	}
	if _, answered := errors.AsType[*agentError](err); !answered { // otherwise, what is held back is the text of the error
		err = cmp.Or(err, said.end())
	}
	if err != nil {
		last.FinishReason = ""
	}
	for _, text := range append(s.warnings, said.notices...) {
		err = cmp.Or(err, said.out.Add(adapter.Chunk{Warning: text}))
	}
	return cmp.Or(err, said.out.Add(last))
}

// abandon ends a session whose turn has not ended. An agent that does not end its turn in time is not used any more.
func (s *session) abandon(ctx context.Context, done chan outcome, broken bool) {
	go func() {
		_ = s.agent.conn.SendNotification(ctx, sdk.AgentMethodSessionCancel, sdk.CancelNotification{SessionId: sdk.SessionId(s.id)})
	}()
	if broken {
		s.agent.follow(s.id, nil)
		s.agent.release(true)
		return
	}
	select {
	case <-done:
		s.agent.follow(s.id, nil)
		s.tidy(ctx)
	case <-time.After(grace):
		s.agent.follow(s.id, nil)
		s.agent.release(true)
	}
}

// promptText returns the prompt as one text. The protocol knows no system prompt, and a new session no earlier replies.
func promptText(messages []providers.Message) string {
	var parts []string
	for _, m := range messages {
		if m.Role == providers.Assistant {
			parts = append(parts, "[Your earlier reply]\n"+m.Text+"\n[End of your earlier reply]")
			continue
		}
		parts = append(parts, m.Text)
	}
	return strings.Join(parts, "\n\n")
}

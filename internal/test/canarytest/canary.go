// Package canarytest has debates whose models repeat what is private, for the tests of everything that shows debates. An [Output]
// finds what is private, and the secret of a journal, in what leaves the engine.
package canarytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Spoken is a sentence of a private document that speakers quote. What they say is public by their own act.
const Spoken = "The mayor has signed this page"

// quoted are words of a quote that its source does not contain.
const quoted = "no such page"

// Case is a debate whose participants and judges read private documents.
type Case struct {
	Config  debate.Config
	Options debate.Options // without a store; keeps and logs whatever it can, and its observer sees all
	Out     *Output

	model *gossip
}

// Presets returns the configurations of all presets, each also with tools.
func Presets() map[string]debate.Config {
	configs := enginetest.PresetConfigs()
	for name, cfg := range enginetest.PresetConfigs() {
		configs[name+" with tools"] = withTools(cfg)
	}
	return configs
}

// New returns the case of a configuration.
func New(t *testing.T, cfg debate.Config) *Case {
	cfg, texts, readers := withDocuments(cfg)
	o := &Output{T: t}
	g := &gossip{cfg: cfg, readers: readers, out: o, calls: map[transcript.Key]int{}, reads: map[string]int{}, used: map[string]int{}}
	return &Case{Config: cfg, Out: o, model: g, Options: debate.Options{
		Providers: map[string]providers.Provider{"m": g}, Observer: o.Observe(), KeepReasoning: true, KeepReplies: true,
		Tools: g.tools(t), Logger: slog.New(slog.NewTextHandler(o, &slog.HandlerOptions{Level: slog.LevelDebug})), LogTexts: true,
		Documents: func(_ context.Context, _ string, _ map[string]string, d evidence.Document) (string, error) {
			return texts[d.Name], nil
		},
	}}
}

// Tools returns an engine over a store, and options for tools whose default preset is the debate. No call of a model fails,
// because attempts wait, and a test may have no fake time.
func (c *Case) Tools() (*debate.Engine, store.Store, debatetool.Options) {
	c.model.calm = true
	c.Options.Store = store.Memory()
	preset := c.Config
	preset.ID, preset.Topic = "", ""
	return debatetest.Engine(c.Out, c.Options), c.Options.Store, debatetool.Options{Presets: map[string]debatetool.Preset{"default": {Config: preset}}}
}

// Require requires that the models have read what is private, that at least that many bytes of output were searched, and that they
// have none of it.
func (c *Case) Require(least int) {
	o := c.Out
	require.Empty(o, o.Leaks)
	require.Greater(o, o.Seen, least, "the outputs were looked at")
	for _, p := range c.Config.Participants {
		require.Positive(o, c.model.reads[p.Name], "%s reads", p.Name)
	}
	if c.Config.Participants[0].Tools != nil {
		for _, name := range append(toolNames, marker) {
			require.Positive(o, c.model.used[name], name)
		}
	}
}

// gossip is a model that repeats what it reads wherever that is no speech: in reasoning, in warnings, in replies that are
// not valid, in errors, and in calls of tools.
type gossip struct {
	cfg     debate.Config
	readers []string
	out     *Output
	calm    bool // calls never fail

	mu    sync.Mutex
	calls map[transcript.Key]int
	reads map[string]int // calls whose request has the text, by actor
	used  map[string]int // results of tools in requests, by their beginning
}

type question struct {
	Q string `json:"q"`
}

// tools returns tools that give what is private in each way that a tool can.
func (g *gossip) tools(t testing.TB) (list []tool.Tool) {
	for name, f := range map[string]func(context.Context) (tool.Result, error){
		"find": func(context.Context) (tool.Result, error) {
			return tool.Result{Text: "Found: " + marker, Sources: []tool.Source{{URI: "file:" + marker, Title: marker, Text: marker}}}, nil
		},
		"refuse": func(context.Context) (tool.Result, error) { return tool.Result{}, tool.Refusal("No: " + marker) },
		"fail":   func(context.Context) (tool.Result, error) { return tool.Result{}, errors.New("cannot read " + marker) },
		"panic":  func(context.Context) (tool.Result, error) { panic(marker) },
	} {
		list = append(list, tool.Func(tool.Spec{Name: name, Description: "Looks.", Fresh: name == "find"}, func(ctx context.Context, q question) (tool.Result, error) {
			require.Contains(t, q.Q, marker)
			require.True(t, providers.IsPrivate(ctx))
			return f(ctx)
		}))
	}
	return list
}

// call returns a round of calls of all tools and of one that is unknown, with arguments that are valid and not.
func (g *gossip) call(resp providers.Response) providers.Response {
	for i, name := range append(slices.Clone(toolNames), marker, "find") {
		arguments := fmt.Sprintf(`{"q":"%s %d"}`, marker, i)
		if i == len(toolNames)+1 {
			arguments = `{"` + marker + `":1}`
		}
		resp.Parts = append(resp.Parts, providers.Part{ToolCall: &providers.ToolCall{ID: fmt.Sprint(marker, i), Name: name, Arguments: json.RawMessage(arguments)}})
	}
	resp.Text, resp.FinishReason = "Let me look for "+marker, providers.ToolCalls
	return resp
}

var toolNames = []string{"find", "refuse", "fail", "panic"}

// note counts the results of tools in a request.
func (g *gossip) note(r providers.Request) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.ToolResult != nil {
				g.used[p.ToolResult.Name]++
			}
		}
	}
}

// Generate implements providers.Provider.
func (g *gossip) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	s, _ := debate.StepFrom(ctx)
	raw, err := json.Marshal(r.Messages)
	if err != nil {
		return providers.Response{}, err
	}
	has := strings.Contains(string(raw), marker)
	if reads := slices.Contains(g.readers, s.Key.Actor); has != reads || has != providers.IsPrivate(ctx) {
		g.out.Add("request of "+s.Key.Actor, fmt.Sprintf("%s: read %v, want %v", marker, has, reads))
	}
	g.mu.Lock()
	g.calls[s.Key]++
	n := g.calls[s.Key]
	if has {
		g.reads[s.Key.Actor]++
	}
	g.note(r)
	g.mu.Unlock()
	r.Messages = slices.DeleteFunc(slices.Clone(r.Messages), func(m providers.Message) bool { // rounds of tool calls
		return slices.ContainsFunc(m.Parts, func(p providers.Part) bool { return p.ToolCall != nil || p.ToolResult != nil })
	})
	resp := providers.Response{Text: enginetest.PresetReply(g.cfg, r), FinishReason: providers.Stop, Warnings: []string{"text"}}
	if !has {
		return resp, nil
	}
	if r.SchemaName == "" {
		resp.Text += ` <quote source="file">` + Spoken + `</quote> <quote source="file">the mayor has signed ` + quoted + `</quote>`
	}
	resp.Warnings = []string{"ignored " + marker}
	resp.Read = []transcript.Access{{Kind: "read", Title: "read " + marker, Places: []transcript.Place{{Path: marker}}}}
	resp.Parts = []providers.Part{
		{Reasoning: &providers.Reasoning{Text: "The text says " + marker, Service: "s", Data: json.RawMessage(`"` + marker + `"`)}}, {Text: resp.Text},
	}
	failing := providers.Response{Text: "It says " + marker, Usage: transcript.Usage{Input: 10, Output: 5}}
	if r.Tools != nil {
		n -= 2
	}
	switch {
	case n < 1 && r.MayCallTools(): // two rounds of tool calls, of which the second one follows results of the first one
		return g.call(resp), nil
	case n == 1 && !g.calm:
		return failing, &providers.Error{Kind: providers.ServerError, Partial: failing, Err: errors.New("cannot process: " + marker)}
	case n == 2 && r.SchemaName != "":
		failing.Text = "I cannot say. " + marker
		return failing, nil
	}
	if r.OnChunk != nil {
		if err := r.OnChunk("Hm, " + marker + "</think>"); err != nil {
			return resp, err
		}
	}
	return resp, nil
}

// withDocuments returns a debate in which each participant and each judge reads a text of its own, and all read another.
func withDocuments(cfg debate.Config) (debate.Config, map[string]string, []string) {
	texts, readers := map[string]string{}, []string(nil)
	for _, p := range slices.Concat(cfg.Participants, cfg.Judges) {
		name := "notes of " + p.Name
		texts[name] = "Only for " + p.Name + ": " + marker + "."
		cfg.Documents = append(cfg.Documents, evidence.Private(name, texts[name], p.Name))
		readers = append(readers, p.Name)
	}
	texts["file"] = "For all, but not stored: " + marker + ". " + Spoken + "."
	cfg.Documents = append(cfg.Documents, evidence.Private("file", texts["file"], evidence.Everybody), evidence.Shared("law", "Everybody may read the law."))
	return cfg, texts, readers
}

// withTools returns a debate whose participants and judges have tools.
func withTools(cfg debate.Config) debate.Config {
	for _, list := range []*[]debate.Participant{&cfg.Participants, &cfg.Judges} {
		*list = slices.Clone(*list)
		for i := range *list {
			if p := &(*list)[i]; !p.Human {
				p.Tools = toolNames
			}
		}
	}
	return cfg
}

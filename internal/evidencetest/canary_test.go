// Package evidencetest tests documents of debates: who reads them, and that nobody else does.
package evidencetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/inspector"
	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/tool"
	"github.com/elenchus-go/debate/transcript"
)

// marker is in everything that is private: the texts, and what a model and its service make of them.
const marker = "XYLOPHONE-7"

// spoken is a sentence of a private document that speakers quote. What they say is public by their own act.
const spoken = "The mayor has signed this page"

// quoted are words of a quote that its source does not contain.
const quoted = "no such page"

// output collects what leaves the engine.
type output struct {
	*testing.T

	mu     sync.Mutex
	hidden []string // other texts that no output has; empty for the marker
	seen   int      // bytes
	leaks  []string
}

// Write implements io.Writer, for logs.
func (o *output) Write(b []byte) (int, error) {
	o.add("log", string(b))
	return len(b), nil
}

// add looks for the marker in a text.
func (o *output) add(where, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen += len(text)
	hidden := o.hidden
	if hidden == nil {
		hidden = []string{marker}
	}
	for _, x := range hidden {
		if at := strings.Index(text, x); at >= 0 {
			o.leaks = append(o.leaks, fmt.Sprintf("%s: …%s…", where, text[max(0, at-80):min(len(text), at+80)]))
		}
	}
}

// hide looks for further texts from now on.
func (o *output) hide(texts []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hidden = append(slices.Clone(o.hidden), texts...)
}

// json adds the JSON of a value.
func (o *output) json(where string, v any) {
	raw, err := json.Marshal(v)
	require.NoError(o, err)
	o.add(where, string(raw))
}

// gossip is a model that repeats what it reads wherever that is no speech: in reasoning, in warnings, in replies that are
// not valid, in errors, and in calls of tools.
type gossip struct {
	cfg     debate.Config
	readers []string
	out     *output

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
		g.out.add("request of "+s.Key.Actor, fmt.Sprintf("%s: read %v, want %v", marker, has, reads))
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
		resp.Text += ` <quote source="file">` + spoken + `</quote> <quote source="file">the mayor has signed ` + quoted + `</quote>`
	}
	resp.Warnings = []string{"ignored " + marker}
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
	case n == 1:
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
	texts["file"] = "For all, but not stored: " + marker + ". " + spoken + "."
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

// observe adds all that an observer gets.
func (o *output) observe() debate.Observer {
	return debate.Observer{
		Begin: func(ctx context.Context, s debate.Step) (context.Context, func(debate.Outcome)) {
			return ctx, func(out debate.Outcome) {
				o.add("outcome of "+s.Key.String(), fmt.Sprintf("%v %+v %+v", out.Err, out.Request, out.Response))
				for err := out.Err; err != nil; err = errors.Unwrap(err) {
					o.add("cause of "+s.Key.String(), fmt.Sprintf("%v %#v", err, err))
				}
				o.json("outcome of "+s.Key.String(), []any{out.Turn, out.Attempt, out.Request, out.Response, out.Status, out.Call})
			}
		},
		Commit: func(_ context.Context, _ string, ev debate.Event) { o.json("commit", ev) },
		Event:  func(_ string, ev debate.Event) { o.json("event", ev) },
	}
}

// A marker in all that is private appears in the requests of its readers, and nowhere else: in no output of a debate of any
// preset.
func TestNoOutputHasAPrivateText(t *testing.T) {
	configs := enginetest.PresetConfigs()
	for name, cfg := range enginetest.PresetConfigs() {
		configs[name+" with tools"] = withTools(cfg)
	}
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, texts, readers := withDocuments(cfg)
				o := &output{T: t}
				g := &gossip{cfg: cfg, readers: readers, out: o, calls: map[transcript.Key]int{}, reads: map[string]int{}, used: map[string]int{}}
				kept := store.Memory()
				e, err := debate.NewEngine(debate.Options{
					Store: kept, Providers: map[string]providers.Provider{"m": g}, Observer: o.observe(), KeepReasoning: true, KeepReplies: true,
					Tools: g.tools(t), Logger: slog.New(slog.NewTextHandler(o, &slog.HandlerOptions{Level: slog.LevelDebug})), LogTexts: true,
					Documents: func(_ context.Context, id string, _ map[string]string, d evidence.Document) (string, error) {
						return texts[d.Name], nil
					},
				})
				require.NoError(t, err)
				d, err := e.Create(t.Context(), cfg)
				require.NoError(t, err)
				for ev, err := range d.Run(t.Context()) {
					require.NoError(t, err)
					o.json("run", ev)
					if _, ok := ev.(debate.TurnDone); ok {
						list, err := d.Preview(t.Context())
						require.NoError(t, err)
						o.json("preview", list)
					}
				}
				o.collect(e, kept, d)
				require.NoError(t, e.Close(t.Context()))
				require.Empty(t, o.leaks)
				require.Greater(t, o.seen, 50_000, "the outputs were looked at")
				require.NotEmpty(t, g.reads)
				o.quotes(d)
				for _, p := range cfg.Participants {
					require.Positive(t, g.reads[p.Name], "%s reads", p.Name)
				}
				if cfg.Participants[0].Tools != nil {
					for _, name := range append(toolNames, marker) {
						require.Positive(t, g.used[name], name)
					}
				}
			})
		})
	}
}

// collect adds what the engine, its doors and the store have of a debate, and of a fork.
func (o *output) collect(e *debate.Engine, kept store.Store, d *debate.Debate) {
	ctx := o.Context()
	r, err := d.Result(ctx)
	require.NoError(o, err)
	require.Equal(o, "completed", string(r.State))
	o.json("result", r)
	for _, t := range r.Turns {
		if t.Kind == transcript.Remark {
			continue
		}
		p, err := d.PromptOf(ctx, t.Key)
		require.NoError(o, err)
		o.json("prompt of "+t.Key.String(), p)
		if slices.ContainsFunc(r.Participants, func(x debate.ParticipantStatus) bool { return x.Name == t.Actor }) {
			require.Equal(o, "unknown", p.Match, "%s reads private documents", t.Key)
		}
		require.Nil(o, t.Reasoning, "%s", t.Key)
	}
	fork, err := e.Fork(ctx, d.ID(), r.Turns[len(r.Turns)-1].Seq-1, debate.Edits{ID: "fork"})
	require.NoError(o, err)
	for _, err := range fork.Run(ctx) {
		require.NoError(o, err)
	}
	for _, id := range []string{d.ID(), "fork"} {
		j, err := archive.Export(ctx, kept, id)
		require.NoError(o, err)
		o.json("journal", j)
	}
	full, err := report.Collect(ctx, d)
	require.NoError(o, err)
	o.json("report", full)
	var b bytes.Buffer
	require.NoError(o, report.HTML(&b, full))
	require.NoError(o, report.Markdown(&b, full))
	o.add("report", b.String())
	pages, err := inspector.Handler(e, inspector.Options{Authorize: debatehttp.AllowEveryone, Store: kept, Controls: true})
	require.NoError(o, err)
	for _, path := range append([]string{"/", "/debates/d", "/debates/d/archive", "/debates/d/past", "/debates/d/judges", "/debates/d/family", "/debates/d/fork", "/api/debates/d", "/api/debates/d/report"}, turnPages(r)...) {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", path, nil))
		require.Equal(o, 200, w.Code, path)
		o.add("page "+path, w.Body.String())
	}
}

// turnPages returns the addresses of the pages of turns.
func turnPages(r *debate.Result) (list []string) {
	for _, t := range r.Turns {
		list = append(list, "/debates/d/turn?seq="+fmt.Sprint(t.Seq), "/debates/d/past?at="+fmt.Sprint(t.Seq))
	}
	return list
}

// quotes checks that the speeches are stored with the verdicts about their quotes of a private document.
func (o *output) quotes(d *debate.Debate) {
	r, err := d.Result(o.Context())
	require.NoError(o, err)
	for _, turn := range r.Turns {
		if strings.Contains(turn.Text, spoken) && turn.Kind != transcript.Summary {
			require.Len(o, turn.Citations, 2, turn.Key.String())
			require.Equal(o, transcript.Verified, turn.Citations[0].Verdict)
			require.Equal(o, transcript.Altered, turn.Citations[1].Verdict)
		}
	}
}

// Package toolviewtest has a debate with calls of tools for the tests of everything that shows debates. Ada's calls and what they
// find are public and hostile: they have markup, control characters and 100 kB. One of them waits for a person. Bo reads a private
// document, and his calls quote it.
package toolviewtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// Texts that outputs have.
const (
	Asked   = "asked-7f3a"   // in the arguments of Ada's call of look
	Found   = "found-91bc"   // at the beginning of its result
	Ordered = "ordered-33ae" // in the arguments of her call of order, which a person approves
	Reason  = "reason-5c0e"  // why the person refuses it
	// Secret is in Bo's document, and in the arguments, results and errors of his calls. No output has it.
	Secret = "secret-d41d"
)

// Hostile is what models and tools may write: markup, control characters, and the end of a quotation.
const Hostile = "<script>alert(1)</script> <b>bold</b> **bold** [link](javascript:alert(1)) \x1b[31mred \x1b]0;title\a \u202ereversed\u202c \u009b1m >>> ``` | cell"

const (
	document = "The rent is " + Secret + "." // Bo's
	quoted   = "quoted-58b1"
	rules    = "The " + quoted + " is paid once a year." // which all read
)

// claims are what Ada's speeches cite and quote: rightly, with another word, and of what nobody has found.
const claims = `It is so [3]. <quote source="2">the ` + quoted + ` is paid</quote> <quote source="rules">The ` + quoted + ` is paid twice a year.</quote>` +
	` <quote source="9">the <b>tenant</b> never ` + "\x1b[31m" + `pays</quote>`

// Checked is what the check of claims finds, as outputs for people say it. It lacks the quote of a source that is not there.
var Checked = []string{
	"Verified: “the " + quoted + " is paid” is in [2] rules.",
	"Altered: “The " + quoted + " is paid twice a year.” is not in [2] rules, which has a similar passage.",
}

// Config returns the debate: one round of Ada and Bo before the judge J.
func Config() debate.Config {
	return debate.Config{
		ID: "d", Topic: "Is the rent too high?", Protocol: panel.Protocol{Format: panel.RoundLimited},
		Participants: []debate.Participant{{Name: "Ada", Provider: "m", Tools: []string{"look", "order"}}, {Name: "Bo", Provider: "m", Tools: []string{"look"}}},
		Judges:       []debate.Participant{{Name: "J", Provider: "m", Tools: []string{"look"}}},
		Documents:    []evidence.Document{evidence.Private("contract", document, "Bo"), evidence.Shared("rules", rules)},
		Limits:       debate.Limits{MaxRounds: 1},
	}
}

// Log is the log of an engine.
type Log struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(b)
}

// Text returns what was logged.
func (l *Log) Text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.String()
}

// Options returns the options of an engine for the debate, which keeps and logs whatever it can.
func Options() (debate.Options, *Log) {
	log := &Log{}
	look := func(ctx context.Context, q question) (tool.Result, error) {
		switch c, _ := tool.CallFrom(ctx); {
		case strings.Contains(string(c.Arguments), "fail"):
			return tool.Result{}, errors.New(q.Q)
		case strings.Contains(q.Q, Secret):
			return tool.Result{Text: document, Sources: []tool.Source{{URI: "file:" + Secret, Title: Secret, Text: document}}}, nil
		}
		text := Found + " " + Hostile + strings.Repeat(" and more", 11_000)
		return tool.Result{Text: text, Sources: []tool.Source{{URI: "file:///" + Found, Title: "Title " + Hostile, Text: text}}}, nil
	}
	return debate.Options{
		Providers: map[string]providers.Provider{"m": &model{}}, KeepReplies: true, KeepReasoning: true, LogTexts: true,
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Tools: []tool.Tool{
			tool.Func(tool.Spec{Name: "look", Description: "Looks.", Fresh: true}, look),
			tool.Func(tool.Spec{Name: "order", Description: "Orders.", Once: true, Approval: true}, func(context.Context, question) (string, error) { return "It is ordered.", nil }),
		},
		Documents: func(context.Context, string, map[string]string, evidence.Document) (string, error) {
			return document, nil
		},
	}, log
}

type question struct {
	Q string `json:"q"`
}

// model calls tools before each reply: Ada calls look and a tool that she does not have, and then order; the others call look
// twice, of which the second call fails.
type model struct{}

// Generate implements providers.Provider.
func (m *model) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	s, _ := debate.StepFrom(ctx)
	done := 0
	for _, x := range r.Messages {
		if len(x.Parts) > 0 && x.Parts[0].ToolResult != nil {
			done++
		}
	}
	call := func(name, q string) (p providers.Part) {
		var arguments bytes.Buffer
		e := json.NewEncoder(&arguments)
		e.SetEscapeHTML(false) // as models write it
		_ = e.Encode(question{q})
		p.ToolCall = &providers.ToolCall{ID: name + q[:3], Name: name, Arguments: arguments.Bytes()}
		return p
	}
	var parts []providers.Part
	switch {
	case !r.MayCallTools() || done > 1 || done > 0 && s.Key.Actor != "Ada":
		return m.speak(ctx, s, r)
	case s.Key.Actor == "Ada" && done == 0:
		parts = []providers.Part{{Text: "Let me look. " + Asked}, call("look", Asked+" "+Hostile), call("no\x1b[31m <b>such</b> tool", "x"+Asked)}
	case s.Key.Actor == "Ada":
		parts = []providers.Part{call("order", Ordered+" "+Hostile)}
	case s.Key.Actor == "Bo":
		parts = []providers.Part{{Reasoning: &providers.Reasoning{Text: "I read " + Secret}}, {Text: "I read " + Secret}, call("look", Secret), call("look", "fail "+Secret)}
	default:
		parts = []providers.Part{call("look", "judge"), call("look", "fail judge")}
	}
	return providers.Response{FinishReason: providers.ToolCalls, Parts: parts, Usage: transcript.Usage{Input: 9, Output: 3}}, nil
}

func (m *model) speak(ctx context.Context, s debate.Step, r providers.Request) (providers.Response, error) {
	reply := scripted.Reply{Text: s.Key.Actor + " says that it is so."}
	if s.Key.Actor == "Ada" {
		reply.Text += " " + claims
	}
	if r.Schema != nil {
		reply = scripted.Values{}.Reply(r)
	}
	return (&scripted.Provider{Replies: []scripted.Reply{reply}}).Generate(ctx, r)
}

// Engine returns an engine for the debate.
func Engine(t testing.TB, change ...func(*debate.Options)) (*debate.Engine, *Log) {
	t.Helper()
	o, log := Options()
	for _, f := range change {
		f(&o)
	}
	e := debatetest.Engine(t, o)
	return e, log
}

// Waiting creates the debate and runs it until a person has to decide about Ada's order.
func Waiting(t testing.TB, e *debate.Engine) (*debate.Debate, *debate.Question) {
	t.Helper()
	d := debatetest.Create(t, e, Config())
	Run(t, d)
	r := debatetest.Result(t, d)
	require.Equal(t, fsm.Paused, r.State)
	require.NotNil(t, r.Question)
	require.NotNil(t, r.Question.Call)
	return d, r.Question
}

// Run runs a debate until it rests, and returns the events.
func Run(t testing.TB, d *debate.Debate) (list []debate.Event) {
	t.Helper()
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		list = append(list, ev)
	}
	return list
}

// Ended runs the debate to its end: the person refuses the order.
func Ended(t testing.TB, e *debate.Engine) *debate.Debate {
	t.Helper()
	d, q := Waiting(t, e)
	require.NoError(t, d.Decide(t.Context(), q.ID, "refuse", debate.Remark{From: "Pat", Text: Reason}))
	Run(t, d)
	r := debatetest.Result(t, d)
	require.Equal(t, fsm.Completed, r.State)
	return d
}

// RequireSafe requires that an output has all wanted texts, nothing of Bo's document, and no character that can control a terminal
// or change the direction of text. most limits its size in bytes.
func RequireSafe(t testing.TB, output string, most int, wanted ...string) {
	t.Helper()
	require.NotContains(t, output, Secret)
	require.LessOrEqual(t, len(output), most)
	for _, r := range output {
		require.False(t, unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r), "%q is in the output", r)
	}
	for _, text := range wanted {
		require.Contains(t, output, text)
	}
}

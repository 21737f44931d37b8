package configtest

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

const problemsFile = "testdata/problems.txt"

// given is what a case of the golden file begins with: a valid configuration, and an engine that has what it names.
type given struct {
	debate.Config

	options debate.Options
}

// problemCases are configurations with something wrong, in the order of the golden file.
var problemCases = []struct {
	name   string
	change func(*given)
}{
	{"blank topic, and invalid texts", func(g *given) {
		g.Topic = " "
		g.ID = "a/b"
		g.Seed = strings.Repeat("s", 129)
		g.OnFailure = "panic"
		g.Retries = map[providers.ErrorKind]int{providers.Network: -1}
		g.AskAboveCost = -1
		g.Rubric = judge.Rubric{{Name: "a"}, {Name: "a"}}
	}},
	{"labels", func(g *given) {
		g.Labels = map[string]string{strings.Repeat("n", 129): "", "a\n": "", "long": strings.Repeat("v", 5_000)}
	}},
	{"too many labels", func(g *given) {
		g.Labels = map[string]string{}
		for i := range 65 {
			g.Labels[fmt.Sprint(i)] = strings.Repeat("v", 300)
		}
	}},
	{"a nil protocol", func(g *given) { g.Protocol = (*panel.Protocol)(nil) }},
	{"a protocol without steps", func(g *given) { g.Protocol = script{} }},
	{"a protocol with a step twice", func(g *given) {
		a := debatetest.Step("A", "", nil)
		g.Protocol = script{{Name: "twice", Steps: []protocol.Step{a, a}}}
	}},
	{"a protocol that asks nobody", func(g *given) {
		g.Protocol = script{{Name: "odd", Steps: []protocol.Step{debatetest.Step("Nobody", "", nil)}}}
	}},
	{"a protocol with a prompt that the engine lacks", func(g *given) {
		s := debatetest.Step("A", "", nil)
		s.Prompt = "unheard"
		g.Protocol = script{{Name: "first", Steps: []protocol.Step{s}}}
	}},
	{"names", func(g *given) {
		g.Participants[0].Name = "a/b"
		g.Participants[1].Name = "j"
	}},
	{"a judge with a side", func(g *given) { g.Judges[0].Side = "for" }},
	{"a reference for nobody", func(g *given) {
		g.Protocol = vote.Protocol{}
		g.Judges = nil
		g.Reference = "Yes."
	}},
	{"settings of models", func(g *given) {
		hot := 3.0
		a := &g.Participants[0]
		a.Temperature = &hot
		a.TopP = 2
		a.Stop = []string{""}
		a.Reasoning = "much"
		a.MaxTokens = -1
		a.Blind = true
		b := &g.Participants[1]
		b.Reasoning = "4000"
		b.MaxTokens = 4_000
		b.Window = -1
		g.Judges[0].Window = 200
		g.Judges[0].MaxTokens = 300
	}},
	{"people", func(g *given) {
		g.Participants[0] = debate.Participant{
			Name: "A", Human: true, Provider: "m", Model: "x", Tools: []string{"find"},
		}
		g.Summarizer = debate.Participant{Provider: "human", Human: true}
	}},
	{"tools", func(g *given) {
		g.Participants[0].Tools = []string{"a b", "find", "find", "unknown"}
		g.Substitutes = []debate.Participant{{Provider: "j", Tools: []string{"find"}}}
		g.Summarizer.Tools = []string{"find"}
	}},
	{"limits", func(g *given) {
		g.Limits = debate.Limits{
			StepTokens: -1, StepTimeout: -time.Second, ToolBytes: 1, Cost: math.NaN(), MinRounds: 3, MaxRounds: 2,
		}
	}},
	{"prices", func(g *given) {
		g.Limits.Cost = 1
		g.Prices = price.Prices{"x": {Input: -1}}
	}},
	{"budgets", func(g *given) {
		g.Participants[0].Model = "x"
		g.Participants[1].Model = "x"
		g.Judges[0].Model = "x"
		g.Prices = price.Prices{"x": {Input: 1, Output: 1}}
		g.Limits = debate.Limits{OutputTokens: 1, Tokens: 1, Cost: 1e-9}
	}},
	{"rules that mean nothing", func(g *given) {
		g.Detect = []detect.Rule{{Signal: "boredom"}}
	}},
	{"rules without a judge", func(g *given) {
		g.Protocol = vote.Protocol{}
		g.Detect = []detect.Rule{
			{Signal: detect.Drifting, Method: "scores"},
			{Signal: detect.Repetitive, Effect: detect.Advise},
			{Signal: detect.Repetitive, Method: "vectors"},
		}
	}},
	{"attachments", func(g *given) {
		g.Attachments = []debate.Attachment{{Name: "a.svg", MediaType: "image/svg+xml", Data: []byte("x")}}
	}},
	{"documents", func(g *given) {
		g.Documents = []evidence.Document{{Name: "a.md", Readers: []string{"Nobody"}}}
	}},
	{"a long topic", func(g *given) { g.Topic = strings.Repeat("cars ", 100_000) }},
	{"a long document", func(g *given) {
		g.Documents = []evidence.Document{evidence.Shared("a.md", strings.Repeat("cars ", 100_000))}
	}},
	{"documents that leave too little together", func(g *given) {
		text := strings.Repeat("cars ", 20_000)
		g.Documents = []evidence.Document{evidence.Shared("a.md", text), evidence.Shared("b.md", text+"bikes")}
	}},
	{"a small window", func(g *given) { g.Judges[0].Window = 2_000 }},
	{"a small window with tools", func(g *given) {
		g.Participants[0].Window = 1_900
		g.Participants[0].MaxTokens = 300
		g.Participants[0].Tools = []string{"find"}
	}},
	{"large attachments", func(g *given) {
		g.Participants[0].Window = 3_000
		for i := range 3 {
			g.Attachments = append(g.Attachments, debate.Attachment{
				Name: fmt.Sprintf("%d.pdf", i), MediaType: "application/pdf", URL: "https://example.com/a.pdf", Pages: 9,
			})
		}
	}},
	{"what the engine lacks", func(g *given) {
		g.Participants[1].Provider = "unknown"
		g.Prompts = "unknown"
		g.Detect = []detect.Rule{{Signal: detect.Converged, Method: "answers"}}
		g.Documents = []evidence.Document{evidence.Private("a.md", "A text.", "A")}
	}},
	{"no providers", func(g *given) { g.options.Providers = nil }},
	{"no provider of several", func(g *given) { g.Participants[0].Provider = "" }},
	{"a tool that cannot be repeated", func(g *given) {
		g.Participants[0].Tools = []string{"send"}
		g.Documents = []evidence.Document{evidence.Private("a.md", "A text.", "A")}
		g.options.Documents = func(context.Context, string, map[string]string, evidence.Document) (string, error) {
			return "A text.", nil
		}
	}},
	{"settings that a provider does not support", func(g *given) {
		lacks := map[string]string{"top_p": "it samples in its own way", "attachments": "it reads none"}
		g.options.Providers["m"] = limited{&scripted.Provider{}, lacks, false}
	}},
	{"a provider that does not say what it reads", func(g *given) {
		g.options.Providers["m"] = debatetest.ProviderFunc(nil)
		g.Attachments = []debate.Attachment{{
			Name: "a.pdf", MediaType: "application/pdf", URL: "https://example.com/a.pdf", Pages: 9,
		}}
	}},
	{"a provider whose check of settings panics", func(g *given) {
		g.options.Providers["m"] = limited{&scripted.Provider{}, nil, true}
	}},
}

// The golden file has the text of each problem that the gate of an engine reports: with a new configuration, when a driver asks the
// providers, and with an edit.
func TestEachProblemHasItsText(t *testing.T) {
	var b strings.Builder
	write := func(name string, err error) {
		t.Helper()
		var found *debate.Problems
		if !assert.ErrorAs(t, err, &found, name) {
			return
		}
		fmt.Fprintf(&b, "# %s\n", name)
		for _, p := range found.List {
			fmt.Fprintln(&b, p)
		}
		b.WriteString("\n")
	}
	for _, tt := range problemCases {
		g := givenPair()
		tt.change(&g)
		_, err := debate.New(t.Context(), g.Config, g.options)
		write(tt.name, err)
	}
	g := givenPair()
	g.Participants[0].Model = "bad"
	g.Participants[1].Model = "bad"
	g.options.Providers["m"] = &scripted.Provider{Models: []string{"good"}}
	g.options.Providers["j"] = checked{&scripted.Provider{}, providers.Authentication}
	_, err := debatetest.Run(t, debatetest.New(t, g.Config, g.options))
	write("what providers tell a driver", err)
	g = givenPair()
	g.options.Providers["m"] = checked{&scripted.Provider{}, providers.Panic}
	_, err = debatetest.Run(t, debatetest.New(t, g.Config, g.options))
	write("a provider whose check of a key panics", err)
	fmt.Fprintf(&b, "# what another engine lacks\n%v\n\n", unknownProtocol(t))
	for name, err := range editErrors(t) {
		write(name, err)
	}
	golden.Require(t, problemsFile, b.String())
}

// Each format of a problem in the source of the gate matches a line of the golden file. A format is a literal with a blank in a call
// that adds a problem.
func TestNoTextOfAProblemIsLeftOut(t *testing.T) {
	lines := string(read(t, problemsFile))
	verb := regexp.MustCompile(`%[.\d]*[a-zA-Z]`)
	seen := 0
	for _, pattern := range []string{
		"gate.go", "journal/check.go", "internal/findings/*.go", "internal/budget/*.go",
		"internal/step/prompting/room.go", "internal/clients/*.go", "internal/userinput/*.go",
	} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			for _, format := range problemFormats(t, file) {
				parts := verb.Split(format, -1)
				for i := range parts {
					parts[i] = regexp.QuoteMeta(strings.ReplaceAll(parts[i], "%%", "%"))
				}
				known := regexp.MustCompile(": .*" + strings.Join(parts, ".*")).MatchString(lines)
				assert.True(t, known, "%s: no case has the text %q", file, format)
				seen++
			}
		}
	}
	require.Greater(t, seen, 50)
}

// problemFormats returns the formats of problems in a file.
func problemFormats(t *testing.T, file string) (list []string) {
	if strings.HasSuffix(file, "_test.go") {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			// What people add to a debate is no configuration.
			return !slices.Contains([]string{"CheckRemark", "CheckBy"}, n.Name.Name) && !isMethodOf(n, "Notes")
		case *ast.CallExpr:
			if !slices.Contains([]string{"add", "Problemf", "same"}, calledName(n)) {
				return true
			}
			for _, arg := range n.Args {
				text := literalOf(t, arg)
				if strings.Contains(text, " ") {
					list = append(list, text)
				}
			}
		}
		return true
	})
	return list
}

// literalOf returns the text of a literal, or of several that are joined. Anything else has none.
func literalOf(t *testing.T, x ast.Expr) string {
	switch x := x.(type) {
	case *ast.BasicLit:
		if x.Kind != token.STRING {
			return ""
		}
		text, err := strconv.Unquote(x.Value)
		require.NoError(t, err)
		return text
	case *ast.BinaryExpr:
		return literalOf(t, x.X) + literalOf(t, x.Y)
	}
	return ""
}

func isMethodOf(f *ast.FuncDecl, name string) bool {
	if f.Recv == nil {
		return false
	}
	pointer, ok := f.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	id, ok := pointer.X.(*ast.Ident)
	return ok && id.Name == name
}

// calledName returns the name of the function or method that a call calls.
func calledName(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func givenPair() given {
	find := func(name string, once bool) tool.Tool {
		return tool.Func(
			tool.Spec{Name: name, Description: "Finds.", Once: once},
			func(context.Context, struct{}) (string, error) { return "", nil },
		)
	}
	return given{debatetest.PairConfig(nil), debate.Options{
		Providers: map[string]providers.Provider{"m": &scripted.Provider{}, "j": &scripted.Provider{}},
		Tools:     []tool.Tool{find("find", false), find("send", true)},
	}}
}

// unknownProtocol returns the error of an engine that lacks the protocol of a debate.
func unknownProtocol(t *testing.T) error {
	t.Helper()
	g := givenPair()
	g.Protocol = renamed{}
	g.options.Store = store.Memory()
	debatetest.New(t, g.Config, g.options)
	_, err := debatetest.Run(t, debatetest.Open(t, debatetest.Engine(t, g.options), "d"))
	require.ErrorIs(t, err, debate.ErrUnsupported)
	return err
}

// editErrors yields the errors of an edit and of a fork that change what must stay.
func editErrors(t *testing.T) func(yield func(string, error) bool) {
	t.Helper()
	speak := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if r.SchemaName != "" {
			return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("set J_KEY")}}
		}
		return scripted.Reply{Text: "Yes."}
	}}
	c := debatetest.PairConfig(nil)
	c.Documents = []evidence.Document{evidence.Private("a.md", "A text.", "A"), evidence.Private("b.md", "B text.", "A")}
	e := debatetest.Engine(t, debate.Options{
		Providers: map[string]providers.Provider{"m": speak, "j": speak},
		Documents: func(_ context.Context, _ string, _ map[string]string, d evidence.Document) (string, error) {
			return strings.ToUpper(d.Name[:1]) + " text.", nil
		},
	})
	d := debatetest.Create(t, e, c)
	_, err := debatetest.Run(t, d)
	require.ErrorContains(t, err, "J_KEY")
	require.NotEmpty(t, debatetest.Result(t, d).Turns)
	require.NoError(t, d.Retry(t.Context()))
	c.Seed = "other"
	c.Topic = "Ban bikes?"
	c.Background = "Cities."
	c.Protocol = vote.Protocol{}
	c.Participants = []debate.Participant{{Name: "A", Provider: "m"}, {Name: "C", Provider: "m"}}
	c.Documents = []evidence.Document{evidence.Private("a.md", "A text.", "C"), evidence.Shared("b.md", "B text.")}
	return func(yield func(string, error) bool) {
		if !yield("an edit after the first turn", d.Edit(t.Context(), c)) {
			return
		}
		fork := c
		fork.ID = ""
		_, err := e.Fork(t.Context(), d.ID(), 0, debate.Edits{Config: &fork})
		yield("a fork after the first turn", err)
	}
}

// script is a protocol with given phases of speeches.
type script []protocol.Phase

func (script) Name() string                              { return "script/1" }
func (script) Check(*protocol.Record) []protocol.Problem { return nil }
func (script) End(*protocol.Record) transcript.Ending    { return transcript.Ending{} }

func (s script) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Speech {
		return s
	}
	return nil
}

// renamed is a protocol that other engines lack.
type renamed struct{ panel.Protocol }

func (renamed) Name() string { return "renamed/1" }

// limited is a provider that says what it does not support, or panics.
type limited struct {
	*scripted.Provider

	lacks  map[string]string
	panics bool
}

func (l limited) Unsupported(providers.Request) map[string]string {
	if l.panics {
		panic("no settings")
	}
	return l.lacks
}

// checked is a provider that rejects its key, or panics.
type checked struct {
	*scripted.Provider

	kind providers.ErrorKind
}

func (c checked) Check(context.Context, string) error {
	if c.kind == providers.Panic {
		panic("no key")
	}
	return &providers.Error{Kind: c.kind, Err: errors.New("set J_KEY")}
}

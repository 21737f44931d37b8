package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	validator "github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/report"
)

// commandLine matches what the runner takes for a command: two colons after white space, or the older form anywhere in a line.
var commandLine = regexp.MustCompile(`(?m)^\s*::|##\[`)

// runnerCommands returns the lines of an output that the runner of GitHub Actions takes for commands.
func runnerCommands(text string) (list []string) {
	for line := range strings.Lines(text) {
		if commandLine.MatchString(line) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// A model that writes commands to the runner writes text.
func TestTextsOfModelsAreNoCommands(t *testing.T) {
	folder(t)
	const attack = "::error file=a.go::It is hacked.\n\n  ::add-mask::a\n\n\t::stop-commands::x\n\nThe words ##[set-env name=PATH;]/tmp and ##[error]x."
	b, err := json.Marshal(map[string]any{
		"summary": attack, "option": 1, "confidence": 80,
		"reasons": []any{map[string]any{"text": attack}},
	})
	require.NoError(t, err)
	env, _ := listening(t, func(prompt string) string {
		if strings.Contains(prompt, "json_schema") {
			return string(b)
		}
		return attack
	})
	summary := filepath.Join(t.TempDir(), "summary.md")
	require.NoError(t, os.WriteFile(summary, []byte("Before.\n"), 0o600))
	actions := func(name string) string {
		switch name {
		case actionsVariable:
			return "true"
		case summaryVariable:
			return summary
		}
		return env(name)
	}
	args := []string{"--rounds", "1", "--option", "yes", "--option", "no", topic}
	for _, more := range [][]string{nil, {"--json"}, {"--verbose"}} {
		code, stdout, stderr := execute(t, actions, append(more, args...)...)
		require.Equal(t, 0, code, stderr)
		require.Empty(t, runnerCommands(stdout))
		require.Empty(t, runnerCommands(stderr))
		require.Contains(t, stdout+stderr, "It is hacked.")
		if more != nil && more[0] == "--json" {
			require.True(t, json.Valid([]byte(stdout)))
		}
	}
	_, stdout, _ := execute(t, env, args...)
	require.NotEmpty(t, runnerCommands(stdout), "elsewhere, a text stays as it is")
	written, err := os.ReadFile(summary)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(written), "Before.\n"))
	require.Equal(t, 3, strings.Count(string(written), "## Transcript"), "the report of each debate")
}

func TestHarmlessWriter(t *testing.T) {
	for text, want := range map[string]string{
		"::error::x":         ":\\:error::x",
		" \t ::x\n\u00a0::y": " \t :\\:x\n\u00a0:\\:y",
		"a::b ::c":           "a::b ::c",
		":: ":                ":\\: ",
		": :x":               ": :x",
		"a ##[error]b":       "a ##\\[error]b",
		"###[x] # #[y]":      "###\\[x] # #[y]",
		"a\r::b":             "a\r:\\:b",
		"grün\n::ü":          "grün\n:\\:ü",
	} {
		for _, size := range []int{1, 2, 3, 100} {
			var b bytes.Buffer
			w := &harmlessWriter{Writer: &b}
			for rest := []byte(text); len(rest) > 0; {
				n := min(size, len(rest))
				written, err := w.Write(rest[:n])
				require.NoError(t, err)
				require.Equal(t, n, written)
				rest = rest[n:]
			}
			require.Equal(t, want, b.String(), "%q in pieces of %d bytes", text, size)
		}
	}
}

func FuzzHarmlessWriter(f *testing.F) {
	for _, text := range []string{"::error::x", " ::", "##[x]", "a:\n:", "#\n#[", "\n\u00a0::x", "a\xe2\x80"} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		var b bytes.Buffer
		w := &harmlessWriter{Writer: &b}
		cut = max(0, min(cut, len(text)))
		_, _ = w.Write([]byte(text[:cut]))
		_, _ = w.Write([]byte(text[cut:]))
		require.Empty(t, runnerCommands(b.String()))
		text = strings.TrimSuffix(text, string(w.begun)) // a character that never came to its end
		require.Equal(t, strings.ReplaceAll(text, "\\", ""), strings.ReplaceAll(b.String(), "\\", ""), "only backslashes are added")
	})
}

// findings are such as models could write.
var findings = []report.Finding{
	{
		File: "cmd/a b,c:d.go", Line: 3, EndLine: 5, Quote: "x := 1\ny := 2", Severity: "error", Title: "x, y: 100% wrong",
		Text: "It fails.\r\n::warning::No.", Show: "go test", By: "Ann", Votes: map[string]int{"stands": 2, "falls": 1},
		Dissent: []string{"It is fine."},
	},
	{File: "größe.go", Line: 7, Severity: "warning", Title: "W"},
	{File: "a:b.go", Severity: "note", Title: "N", Text: "About the whole file."},
	{File: "../x y.go", Line: 1, EndLine: 1, Severity: "unknown", Title: "\x1b[31mred\u202e", Text: "T"},
}

func TestAnnotations(t *testing.T) {
	var list []string
	for i := range findings {
		list = append(list, annotation(&findings[i]))
	}
	require.Equal(t, []string{
		"::error file=cmd/a b%2Cc%3Ad.go,line=3,endLine=5,title=x%2C y%3A 100%25 wrong::It fails.%0A::warning::No.%0A%0AHow to show it: go test%0A%0ADissent: It is fine.",
		"::warning file=größe.go,line=7,endLine=7,title=W::W",
		"::notice file=a%3Ab.go,title=N::About the whole file.",
		"::notice file=../x y.go,line=1,endLine=1,title=[31mred::T",
	}, list)
	require.Len(t, runnerCommands(strings.Join(list, "\n")), len(list), "each is one command")
}

func reviewed(t *testing.T) *report.Report {
	t.Helper()
	data, err := json.Marshal(map[string]any{"verdict": "request changes", "findings": findings})
	require.NoError(t, err)
	r := &report.Report{}
	r.Result.ID = "abc"
	r.Result.State = fsm.Completed
	r.Result.Answer = protocol.Answer{Type: "review/1", Data: data, Text: "Request changes."}
	return r
}

func TestFindingsBecomeAnnotations(t *testing.T) {
	folder(t)
	var commands, stderr bytes.Buffer
	all := reviewed(t)
	p := program{stderr: &stderr, commands: &commands, env: environment(actionsVariable, "true", summaryVariable, "summary.md")}
	p.tellActions(all, all.Findings())
	require.Len(t, runnerCommands(commands.String()), len(findings))
	require.Empty(t, stderr.String())
	text, err := os.ReadFile("summary.md")
	require.NoError(t, err)
	require.NotEmpty(t, text)
	commands.Reset()
	p.env = environment()
	p.tellActions(all, all.Findings())
	require.Empty(t, commands.String(), "elsewhere, there are none")
}

func TestASummaryIsCut(t *testing.T) {
	text := strings.Repeat("a line\n", 100)
	require.Equal(t, text, cutSummary(text, 700))
	cut := cutSummary(text, 300)
	require.LessOrEqual(t, len(cut), 300)
	require.True(t, strings.HasSuffix(cut, "a line\n\nThe rest has no room in this summary.\n"), cut)
	require.Empty(t, cutSummary(text, 5))
	require.Empty(t, cutSummary(text, -5))
}

// sarifSchema returns the schema of OASIS, which the module go-sarif has in its source.
func sarifSchema(t *testing.T) *validator.Schema {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3")
	list.Dir = home
	folder, err := list.Output()
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(),
		filepath.Join(strings.TrimSpace(string(folder)), "pkg", "report", "v210", "sarif", "schema.go"), nil, 0)
	require.NoError(t, err)
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && len(literal.Value) > len(text) {
			text = literal.Value
		}
		return true
	})
	require.Contains(t, text, "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema")
	schema, err := validator.CompileString("sarif.json", strings.Trim(text, "`"))
	require.NoError(t, err)
	return schema
}

func TestSARIF(t *testing.T) {
	schema := sarifSchema(t)
	valid := func(b []byte) error {
		var v any
		require.NoError(t, json.Unmarshal(b, &v))
		return schema.Validate(v)
	}
	for name, list := range map[string][]report.Finding{"findings": findings, "none": nil} {
		b, err := sarifOf("abc", list)
		require.NoError(t, err)
		require.NoError(t, valid(b), name)
		parsed, err := sarif.FromBytes(b)
		require.NoError(t, err, name)
		require.Len(t, parsed.Runs, 1)
		require.Len(t, parsed.Runs[0].Results, len(list))
		require.Len(t, parsed.Runs[0].Tool.Driver.Rules, 3)
	}
	b, err := sarifOf("abc", findings)
	require.NoError(t, err)
	parsed, err := sarif.FromBytes(b)
	require.NoError(t, err)
	var places, levels []string
	for i, x := range parsed.Runs[0].Results {
		place := x.Locations[0].PhysicalLocation
		places = append(places, *place.ArtifactLocation.URI)
		levels = append(levels, x.Level)
		require.Equal(t, *parsed.Runs[0].Tool.Driver.Rules[x.RuleIndex].ID, *x.RuleID)
		if i == 0 {
			require.Equal(t, 3, *place.Region.StartLine)
			require.Equal(t, 5, *place.Region.EndLine)
			require.Equal(t, "x := 1\ny := 2", *place.Region.Snippet.Text)
		}
	}
	require.Equal(t, []string{"cmd/a%20b,c:d.go", "gr%C3%B6%C3%9Fe.go", "./a:b.go", "../x%20y.go"}, places)
	require.Equal(t, []string{"error", "warning", "note", "note"}, levels)
	for given, want := range map[string]string{"v0.1.0": "0.1.0", "(devel)": "0 (devel)", "": "0 "} {
		require.Equal(t, want, sarifVersion(given))
	}
	broken := bytes.Replace(b, []byte(`"startLine": 3`), []byte(`"startLine": 0`), 1)
	require.Error(t, valid(broken), "the schema refuses what is wrong")
}

// Microsoft's validator, which make proofs ONLY=sarif installs, finds nothing to say about the file, and finds what is wrong in others.
func TestSARIFInTheValidatorOfMicrosoft(t *testing.T) {
	path := os.Getenv("DEBATE_SARIF_VALIDATOR")
	if path == "" {
		t.Skip("make proofs ONLY=sarif runs it")
	}
	folder(t)
	b, err := sarifOf("abc", findings)
	require.NoError(t, err)
	none, err := sarifOf("abc", nil)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		old, changed string
		says         []string // ids of the validator's messages
	}{
		"findings":             {},
		"none":                 {},
		"no line":              {`"startLine": 3`, `"startLine": 0`, []string{"JSON1008"}},
		"lines in wrong order": {`"startLine": 3`, `"startLine": 9`, []string{"SARIF1007"}},
		"an unknown rule":      {`"ruleIndex": 0`, `"ruleIndex": 7`, []string{"SARIF1009"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(b)
			if name == "none" {
				text = string(none)
			}
			if tt.old != "" {
				require.Contains(t, text, tt.old)
			}
			require.NoError(t, os.WriteFile("r.sarif", []byte(strings.Replace(text, tt.old, tt.changed, 1)), 0o600))
			cmd := exec.CommandContext(t.Context(), path, "validate", "r.sarif")
			cmd.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1")
			said, err := cmd.CombinedOutput()
			require.NoError(t, err, string(said))
			require.Contains(t, string(said), "1 files scanned")
			require.Regexp(t, `(?s)^Analyzing.*Analysis completed successfully\.\s*$`, string(said))
			lines := regexp.MustCompile(`(?m)r\.sarif\(.*\): .*$`).FindAllString(string(said), -1)
			if tt.says == nil {
				require.Empty(t, lines)
			}
			for _, id := range tt.says {
				require.Contains(t, strings.Join(lines, "\n"), "error "+id)
			}
		})
	}
}

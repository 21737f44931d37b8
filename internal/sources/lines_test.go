package sources

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

const program = "package main\n\nimport \"os\"\n\nfunc main() {\n\tif len(os.Args) > 1 {\n\t\tos.Exit(2)\n\t}\n}\n"

// withCode returns a list with a file of code (1), a file of prose (2), a JSON file (3), and a part of another file of code that a tool
// has found (4).
func withCode() *List {
	l := &List{}
	l.SetDocuments([]evidence.Document{
		evidence.Shared("cmd/main.go", program), evidence.Shared("README.md", "Any rent above\n800 euros is void."),
		evidence.Shared("package.json", "{\n  \"name\": \"a small package\",\n  \"main\": \"it \\\"quotes\\\" a word\"\n}\n"),
	}, 1)
	found := tool.Source{Title: "pkg/b.go", Text: "func b() {\n\treturn nothing, at, all\n}\n", Line: 41}
	l.findIn(key(1, "speak", "A"), 2, 3, tool.Record{Text: "x", Sources: []tool.Source{found}})
	return l
}

func TestQuotesOfCodeHaveLines(t *testing.T) {
	at := func(file string, line, end int) transcript.Citation {
		return transcript.Citation{Verdict: transcript.Verified, File: file, Line: line, EndLine: end}
	}
	for name, tt := range map[string]struct {
		source, words string
		want          transcript.Citation
	}{
		"one line":         {"cmd/main.go", "if len(os.Args) > 1 {", at("cmd/main.go", 6, 6)},
		"several lines":    {"1", "func main() {\n  if len(os.Args) > 1 {\n    os.Exit(2)", at("cmd/main.go", 5, 7)},
		"with the numbers": {"1", "6| \tif len(os.Args) > 1 {\n7| \t\tos.Exit(2)", at("cmd/main.go", 6, 7)},
		"with an omission": {
			"1", "func main() {\n...\nos.Exit(2)",
			transcript.Citation{Verdict: transcript.Verified, Omitted: 5, File: "cmd/main.go", Line: 5, EndLine: 7},
		},
		"the last line":          {"1", "os.Exit(2)\n}\n}", at("cmd/main.go", 7, 9)},
		"in another case":        {"1", "if len(OS.Args) > 1 {", transcript.Citation{Verdict: transcript.Altered}},
		"another sign":           {"1", "if len(os.Args) >= 1 {", transcript.Citation{Verdict: transcript.Altered}},
		"invented":               {"1", "log.Fatal(err) // of nobody", transcript.Citation{Verdict: transcript.NotFound}},
		"prose":                  {"2", "any rent above 800 euros", transcript.Citation{Verdict: transcript.Verified}},
		"JSON":                   {"3", `"name": "a small package"`, at("package.json", 2, 2)},
		"a string in JSON":       {"3", `it "quotes" a word`, transcript.Citation{Verdict: transcript.Verified}},
		"a part of a file":       {"4", "return nothing, at, all", at("pkg/b.go", 42, 42)},
		"a part, by the numbers": {"4", "42| return nothing, at, all\n43| }", at("pkg/b.go", 42, 43)},
	} {
		t.Run(name, func(t *testing.T) {
			l := withCode()
			said := turn("A", `<quote source="`+tt.source+`">`+tt.words+`</quote>`)
			got := l.Cite(said, nil).Check(&Texts{})
			require.Len(t, got, 1)
			require.False(t, l.Cite(said, nil).Contradict(got, &Texts{}))
			moved := got[0]
			moved.Line++
			require.True(t, l.Cite(said, nil).Contradict([]transcript.Citation{moved}, &Texts{}), "other lines")
			tt.want.Source = got[0].Source
			tt.want.Quote = got[0].Quote
			require.Equal(t, tt.want, got[0])
		})
	}
}

func TestLinesAreDescribed(t *testing.T) {
	list := withCode().Report(nil, nil)
	c := transcript.Citation{Source: 1, Quote: "os.Exit(2)", Verdict: transcript.Verified, File: "cmd/main.go", Line: 7, EndLine: 7}
	require.Equal(t, []string{"Verified: “os.Exit(2)” is in [1] cmd/main.go, line 7."}, Describe([]transcript.Citation{c}, list))
	c.EndLine = 9
	require.Equal(t, []string{"Verified: “os.Exit(2)” is in [1], lines 7 to 9."}, Describe([]transcript.Citation{c}, nil))
	b, err := json.Marshal(c)
	require.NoError(t, err)
	require.JSONEq(t, `{"source": 1, "quote": "os.Exit(2)", "verdict": "verified", "file": "cmd/main.go", "line": 7, "end_line": 9}`,
		string(b))
}

// The same lines in two files are two sources, so that a quote names the right one.
func TestTheSameLinesInTwoFiles(t *testing.T) {
	calls := []tool.Record{{Text: "x", Sources: []tool.Source{
		{Title: "a.go", Text: "same\n", Line: 1}, {Title: "b.go", Text: "same\n", Line: 1}, {Title: "a.go", Text: "same\n", Line: 1},
	}}}
	(&List{}).Number(key(1, "speak", "A"), 0, calls)
	require.Equal(t, 1, calls[0].Sources[0].Number)
	require.Equal(t, 2, calls[0].Sources[1].Number)
	require.Equal(t, 1, calls[0].Sources[2].Number)
}

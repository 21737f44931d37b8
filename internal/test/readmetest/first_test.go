package readmetest

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report/printer"
)

// firstDebate returns what the first command of README prints, and the calls that its debate makes at most.
func firstDebate(t *testing.T) (text string, calls int) {
	t.Helper()
	d, err := debate.New(t.Context(), debate.Config{
		Topic:        "Should cities ban private cars?",
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
	}, debate.Options{Providers: map[string]providers.Provider{"model": offline.Model(false)}})
	require.NoError(t, err)
	var b bytes.Buffer
	p := printer.Printer{Output: &b}
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		p.Skip(m.Event)
	}
	for event, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		p.Show(event)
		if e, ok := event.(debate.PhaseStarted); ok {
			calls = e.Rounds*3 + 1 // two speeches and an assessment in each round, and a verdict
		}
	}
	return b.String(), calls
}

func TestReadmeShowsRealOutput(t *testing.T) {
	output, calls := firstDebate(t)
	block, _ := codeBlock(t, readReadme(t), "text")
	times := regexp.MustCompile(`\d+\.\ds\n`)
	require.Contains(t, times.ReplaceAllString(output, "0.0s\n"), times.ReplaceAllString(block, "0.0s\n"))
	lines := 0
	for line := range strings.Lines(block) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	require.Equal(t, 10, lines)
	require.Equal(t, 16, calls)
	require.Contains(t, readReadme(t), "makes up to 16 calls")
}

// The first screen answers these questions in this order.
func TestReadmeAnswersInOrder(t *testing.T) {
	text, at := readReadme(t), 0
	for _, part := range []string{
		"`debate` is a Go library", "```text", "## Try it", "with Go 1.26.5 or newer",
		"go run ./examples/quickstart", `go run ./cmd/debate "Should cities ban private cars?"`, "make test",
		"**When a debate helps.**", "**What it costs.**", "**What a loop over a model's SDK cannot do.**", "```go", "`go run ./examples/quickstart`", "If you use Eino, ADK, langchaingo, MCP",
		"[Choosing](docs/choose.md)", "[Evaluation](docs/evaluation.md)", "## Once released", "## Features",
	} {
		i := strings.Index(text[at:], part)
		require.GreaterOrEqual(t, i, 0, "README has no %q after %q", part, text[max(0, at-40):at])
		at += i
	}
	mod, err := os.ReadFile(root + "/go.work")
	require.NoError(t, err)
	require.Contains(t, string(mod), "go 1.26.5\n")
}

// README quotes how long the first builds take.
func TestReadmeQuotesFirstBuilds(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/measured/performance.md")
	require.NoError(t, err)
	for row, words := range map[string]string{
		"| `examples/quickstart` | 68 s |": "the first build takes 68 s of CPU time",
		"| `cmd/debate` after it | 94 s |": "its first build takes 94 s more",
	} {
		require.Contains(t, string(page), row)
		require.Contains(t, readReadme(t), words)
	}
}

// README quotes the shares of right answers and of calls of docs/measured/voting.md.
func TestReadmeQuotesVoting(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/measured/voting.md")
	require.NoError(t, err)
	for row, words := range map[string]string{
		"| arithmetic | 300 | 0.717 [0.66, 0.76] | 48 | 0.887": "right in 89 % of cases after a debate of two rounds, and\nin 72 % by the vote",
		"| GSM8K | 77 | 0.727 [0.62, 0.81] | 16 | 0.740":       "GSM8K (74 % and 73 %)",
		"| MMLU | 62 | 0.710 [0.59, 0.81] | 3 | 0.677":         "MMLU (68 % and 71 %)",
	} {
		require.Contains(t, string(page), row)
		require.Contains(t, readReadme(t), words)
	}
}

package vocabulary_test

// What docs/windows.md says of estimates is measured here.

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/vocabulary"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/golden"
	"github.com/elenchus-go/debate/internal/recorded"
)

const command = "`go test -update` in `context/vocabulary`"

// A corpus is texts of one kind.
type corpus struct {
	name  string
	texts []string
}

// models have one vocabulary each.
var models = []struct{ name, model string }{{"o200k_base", "gpt-4o"}, {"cl100k_base", "gpt-4"}}

func TestTheFiguresArePublished(t *testing.T) {
	golden.Section(t, "../../docs/windows.md", "counting", section(append([]corpus{english(t)}, corpora(t)...)))
}

func TestEstimatesAreWithin15PercentOnceCalibrated(t *testing.T) {
	for _, c := range append(corpora(t), corpus{"this library", goFiles(t, "../..")}) {
		within15Percent(t, c)
	}
	t.Run("recorded", func(t *testing.T) { within15Percent(t, english(t)) })
}

func within15Percent(t *testing.T, c corpus) {
	for _, m := range models {
		t.Run(m.name+"/"+c.name, func(t *testing.T) {
			f := measure(m.model, c.texts)
			require.LessOrEqual(t, math.Abs(f.calibrated), 0.15, "in total")
			require.LessOrEqual(t, f.mean, 0.15, "of a text, on average")
		})
	}
}

// figures are how far estimates are from the tokens, as parts of these.
type figures struct {
	texts, tokens int
	raw           float64 // of all texts together, as estimated
	calibrated    float64 // of all texts of one half, calibrated by the other
	mean, worst   float64 // of a text likewise, without its sign
}

// measure has each half of the texts calibrated by prompts of the other.
func measure(model string, texts []string) figures {
	f := figures{texts: len(texts)}
	first, second := texts[:len(texts)/2], texts[len(texts)/2:]
	estimated := 0
	for _, text := range texts {
		estimated += window.Estimate(text)
		f.tokens += vocabulary.TokenCounter{}.Count(model, text)
	}
	f.raw = off(float64(estimated), f.tokens)
	for _, half := range [][2][]string{{first, second}, {second, first}} {
		factor := calibrate(model, half[0]).Factor()
		sum, tokens := 0.0, 0
		for _, text := range half[1] {
			scaled, n := factor*float64(window.Estimate(text)), vocabulary.TokenCounter{}.Count(model, text)
			sum, tokens = sum+scaled, tokens+n
			f.mean += math.Abs(off(scaled, n)) / float64(len(texts))
			f.worst = max(f.worst, math.Abs(off(scaled, n)))
		}
		if total := off(sum, tokens); math.Abs(total) > math.Abs(f.calibrated) {
			f.calibrated = total
		}
	}
	return f
}

func off(estimate float64, tokens int) float64 { return estimate/float64(tokens) - 1 }

// calibrate reports prompts that grow by one text after the other, as they do in a debate.
func calibrate(model string, texts []string) (c window.Calibration) {
	estimated, counted := 0, 0
	for _, text := range texts {
		estimated += window.Estimate(text)
		counted += vocabulary.TokenCounter{}.Count(model, text)
		c = c.WithReported(estimated, counted)
	}
	return c
}

func section(list []corpus) string {
	var b strings.Builder
	b.WriteString("## How close estimates come\n\n" +
		"Measured by " + command + ", which writes this section, against the vocabularies themselves.\n" +
		"The speeches are recordings that are no part of the repository (DebateBench), the German and the Chinese text were\n" +
		"written for it and are short, and the code is that of the packages `assert`, `mock` and `suite` of the testify that\n" +
		"`go.mod` names.\n\n" +
		"*Estimated* is how far `window.Estimate` is from the tokens of all texts together. *Calibrated* is the same after a\n" +
		"`window.Calibration` that has seen only the other half of the texts, as prompts that grow by one text at a time; of the\n" +
		"two halves, the worse. A *text* is a speech, a paragraph or a file: on average it is so far off once calibrated, and at\n" +
		"worst so far.\n\n" +
		"| texts | vocabulary | number | tokens | estimated | calibrated | a text | the worst |\n|---|---|---|---|---|---|---|---|\n")
	for _, c := range list {
		for _, m := range models {
			f := measure(m.model, c.texts)
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %+.1f %% | %+.1f %% | %.1f %% | %.1f %% |\n",
				c.name, m.name, f.texts, f.tokens, 100*f.raw, 100*f.calibrated, 100*f.mean, 100*f.worst)
		}
	}
	b.WriteString("\nA factor is a model's, so a debate in several languages has one for all of them, which is too small for some texts and\n" +
		"too great for others. Vocabularies other than these two were not measured.\n")
	return b.String()
}

// corpora are the texts that are always at hand.
func corpora(t *testing.T) []corpus {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/stretchr/testify").Output()
	require.NoError(t, err)
	var code []string
	for _, dir := range []string{"assert", "mock", "suite"} {
		code = append(code, goFiles(t, filepath.Join(strings.TrimSpace(string(out)), dir))...)
	}
	return []corpus{{"German", paragraphs(t, "german.txt")}, {"Chinese", paragraphs(t, "chinese.txt")}, {"Go", code}}
}

func paragraphs(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n\n")
}

// goFiles are the sources in a folder that people wrote and that are no tests.
func goFiles(t *testing.T, dir string) (texts []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if text := string(data); !strings.HasSuffix(path, "_test.go") && !strings.Contains(text, "Code generated") {
			texts = append(texts, text)
		}
	}
	require.NotEmpty(t, texts)
	return texts
}

// english are recorded speeches; the test is skipped where they are not at hand.
func english(t *testing.T) corpus {
	t.Helper()
	c := corpus{name: "English"}
	for _, debate := range recorded.Lines[struct{ Turns []struct{ Text string } }](t, "speeches.jsonl") {
		for _, turn := range debate.Turns {
			c.texts = append(c.texts, turn.Text)
		}
	}
	return c
}

package vocabulary_test

// This file measures the figures on estimates in docs/measured/windows.md.

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
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/recorded"
)

const command = "`go test -update` in `context/vocabulary`"

// A corpus is a set of texts of one kind.
type corpus struct {
	name  string
	texts []string
}

// models lists one model for each vocabulary.
var models = []struct{ name, model string }{{"o200k_base", "gpt-4o"}, {"cl100k_base", "gpt-4"}}

func TestTheFiguresArePublished(t *testing.T) {
	golden.Section(t, "../../docs/measured/windows.md", "counting", section(append([]corpus{english(t)}, corpora(t)...)))
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

// figures are the errors of estimates, relative to the number of tokens.
type figures struct {
	texts, tokens int
	raw           float64 // error for all texts together, without calibration
	calibrated    float64 // error for all texts of one half, calibrated by the other half
	mean, worst   float64 // absolute error for a single text, calibrated
}

// measure estimates each half of the texts with a calibration by prompts of the other half.
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

// calibrate returns a calibration from prompts that grow by one text at a time, as in a debate.
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
		command + " measures these figures and writes this section. It compares\n" +
		"estimates with the vocabularies themselves. The English texts are recorded speeches (DebateBench) and not part of the\n" +
		"repository. The German and Chinese texts were written for this test and are short. The code is that of testify's packages\n" +
		"`assert`, `mock` and `suite`, at the version in `go.mod`.\n\n" +
		"- *Estimated* is the error of `window.Estimate` for all texts together.\n" +
		"- *Calibrated* is the error after calibration. A `window.Calibration` sees prompts that grow by one text at a time, made\n" +
		"  from one half of the texts, and is tested on the other half. The column shows the worse half.\n" +
		"- *Mean* and *worst* are the mean and the largest absolute error for a single text after calibration. A text is a speech,\n" +
		"  a paragraph or a file.\n\n" +
		"| texts | vocabulary | number | tokens | estimated | calibrated | mean | worst |\n|---|---|---|---|---|---|---|---|\n")
	for _, c := range list {
		for _, m := range models {
			f := measure(m.model, c.texts)
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %+.1f %% | %+.1f %% | %.1f %% | %.1f %% |\n",
				c.name, m.name, f.texts, f.tokens, 100*f.raw, 100*f.calibrated, 100*f.mean, 100*f.worst)
		}
	}
	b.WriteString("\nEach model has one calibration factor. A debate in several languages uses the same factor for all of them, so it is too\n" +
		"small for some texts and too large for others. Other vocabularies were not measured.\n")
	return b.String()
}

// corpora returns the texts that are always available.
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

// goFiles returns the sources in a folder, without tests and generated files.
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

// english returns the recorded speeches. It skips the test if they are not available.
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

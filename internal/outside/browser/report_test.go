package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// The report of each protocol can be read on a desktop and on a phone, with a zoom of 200 %, in light and dark colours.
func TestReports(t *testing.T) {
	files, err := filepath.Glob("../../../report/testdata/*.html")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".html")
		t.Run(name, func(t *testing.T) {
			p := newPage(t)
			path, err := filepath.Abs(file)
			require.NoError(t, err)
			p.do(chromedp.Navigate("file://" + path))
			for _, l := range looks() {
				p.show(l)
				p.picture("report-" + name + "-" + l.name)
				p.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = true)`))
				p.check()
				p.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = false)`))
			}
		})
	}
}

// readmeVar names the file for the picture of a report in README. make pictures sets it.
const readmeVar = "DEBATE_README"

func TestPicture(t *testing.T) {
	file := os.Getenv(readmeVar)
	if file == "" {
		t.Skip("no picture is wanted: run make pictures")
	}
	p := newPage(t)
	path, err := filepath.Abs("../../../report/testdata/article.html")
	require.NoError(t, err)
	p.show(look{width: 1200, height: 1000, zoom: 1})
	p.do(chromedp.Navigate("file://" + path))
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, png, 0o644)) //nolint:gosec // anyone may read it
}

// What the other tests rely on: axe-core finds faults.
func TestFaultsAreFound(t *testing.T) {
	p := newPage(t)
	p.do(chromedp.Navigate("data:text/html,<html><body><h3>A</h3><p style='color:%23ccc'>pale</p><img src=''><input>"))
	var rules []string
	for _, v := range p.violations() {
		rule, _, _ := strings.Cut(v, ":")
		rules = append(rules, rule)
	}
	require.Subset(t, rules, []string{"color-contrast", "document-title", "html-has-lang", "image-alt", "label"})
}

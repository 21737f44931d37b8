// Package browser opens the pages of package report and of package inspector in Chromium. It tests what a person can
// do with them, runs axe-core on them, and takes pictures to look at.
//
// The tests run with make proofs ONLY=browser, which installs Chromium and axe-core. Without DEBATE_BROWSER they are skipped.
package browser

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Environment variables that make proofs ONLY=browser sets.
const (
	browserVar  = "DEBATE_BROWSER"  // the browser's program
	axeVar      = "DEBATE_AXE"      // the file axe.min.js
	picturesVar = "DEBATE_PICTURES" // folder for pictures; without it, none are taken
)

// browser returns the browser of all tests. Each has its own tab.
var browser = sync.OnceValue(func() context.Context {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(os.Getenv(browserVar)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	closeBrowser = func() { _ = chromedp.Cancel(ctx); cancel() }
	return ctx
})

var closeBrowser = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	closeBrowser()
	os.Exit(code)
}

// A page is a tab of the browser.
type page struct {
	t     testing.TB
	ctx   context.Context
	noisy bool // errors on the browser's console are expected
}

// newPage opens a tab. The test fails if the page complains on the browser's console.
func newPage(t testing.TB) *page {
	if os.Getenv(browserVar) == "" {
		t.Skip("no browser: run make proofs ONLY=browser")
	}
	require.NoError(t, chromedp.Do(browser())) // the first context owns the browser
	ctx, _ := chromedp.NewContext(browser())
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute) // one tab shows many pages, also on a busy machine
	p := &page{t: t, ctx: ctx}
	messages := chromedp.Console(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		cancel()
		for m, err := range messages {
			if err != nil {
				break
			}
			if p.noisy {
				continue
			}
			require.NotContains(t, []chromedp.ConsoleType{"error", chromedp.ConsoleException}, m.Type, m.Text)
		}
	})
	return p
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, steps...))
}

// value returns the value of a JavaScript expression.
func value[T any](p *page, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	require.NoError(p.t, err, expression)
	return v
}

// until waits until a JavaScript expression is true, also if the browser opens another page meanwhile.
func (p *page) until(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Minute)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(0)))
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			p.picture("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
			require.Fail(p.t, "this never becomes true: "+expression, "on %s: %v", value[string](p, "location.href"), err)
		}
	}
}

// A look is a way to see a page.
type look struct {
	name          string
	width, height int64
	zoom          float64
	dark          bool
}

// looks returns a desktop, a phone, and a desktop with a zoom of 200 %, each in light and dark colours.
func looks() (list []look) {
	for _, dark := range []bool{false, true} {
		scheme := "light"
		if dark {
			scheme = "dark"
		}
		list = append(list,
			look{"1200-" + scheme, 1200, 800, 1, dark}, look{"390-" + scheme, 390, 844, 1, dark}, look{"zoom-" + scheme, 1200, 800, 2, dark})
	}
	return list
}

// show sets the size of the window, the zoom and the colours. A zoom of 2 halves the number of CSS pixels.
func (p *page) show(l look) {
	p.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media)
	require.NoError(p.t, err)
	p.do(chromedp.EmulateViewport(int64(float64(l.width)/l.zoom), int64(float64(l.height)/l.zoom), chromedp.EmulateScale(l.zoom)))
}

// picture writes a picture of the whole page, if pictures are wanted.
func (p *page) picture(name string) {
	p.t.Helper()
	dir := os.Getenv(picturesVar)
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	require.NoError(p.t, err)
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// axe returns the text of axe-core.
var axe = sync.OnceValues(func() (string, error) {
	b, err := os.ReadFile(os.Getenv(axeVar))
	return string(b), err
})

// check requires that axe-core finds nothing, and that the page is not wider than the window.
func (p *page) check() {
	p.t.Helper()
	violations := p.violations()
	require.Empty(p.t, violations, strings.Join(violations, "\n"))
	require.LessOrEqual(p.t, value[int](p, "document.documentElement.scrollWidth"), value[int](p, "document.documentElement.clientWidth"),
		"the page is wider than the window: %s", value[string](p, wide))
}

// violations returns what axe-core finds.
func (p *page) violations() (list []string) {
	p.t.Helper()
	script, err := axe()
	require.NoError(p.t, err, "set %s to the file axe.min.js", axeVar)
	p.do(chromedp.Evaluate[chromedp.Void](script + "; null"))
	found, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`axe.run({resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(
		v => v.id + ": " + v.nodes.map(n => n.target + " " + n.failureSummary + " " + n.html.slice(0, 200)).join("\n  "))))`, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal([]byte(found), &list))
	return list
}

// wide lists elements that reach beyond the right edge of the window.
const wide = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
	.slice(0, 5).map(e => e.outerHTML.slice(0, 120)).join("\n")`

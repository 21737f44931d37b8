package browser

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
)

// offered is what visitors may begin.
func offered(context.Context, string) (*launch.Offer, error) {
	judges := []debate.Participant{{Name: "Judge"}}
	return &launch.Offer{
		Purposes: []launch.Purpose{
			{
				Name: "decision", Title: "a decision, yes or no, or between options",
				About: "Two participants weigh the options, and a judge decides with reasons and conditions.", Config: debate.Config{
					Protocol:     panel.Protocol{Decision: decision.Task{Options: []string{"Yes", "No"}}},
					Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: judges, Limits: debate.Limits{MaxRounds: 1},
				},
			},
			{
				Name: "answer", Title: "a right answer", About: "Three answers, and a second round only if they differ.",
				Config: debate.Config{
					Protocol: vote.Protocol{}, Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}},
				},
			},
			{
				Name: "sides", Title: "both sides heard",
				About: "One participant argues for the claim and one against it, and a judge decides at the end.", Config: debate.Config{
					Protocol: procon.Protocol{}, Participants: []debate.Participant{
						{Name: "Pro", Position: "The answer to the topic is yes."},
						{Name: "Con", Position: "The answer to the topic is no."},
					}, Judges: judges, Limits: debate.Limits{MaxRounds: 1},
				},
			},
			{
				Name: "evaluation", Title: "the scores of an evaluation checked",
				About: "One participant defends the scores, one attacks them, and an arbiter rules.", Config: debate.Config{
					Protocol:     arbitration.Protocol{Scores: map[string]float64{"problem": 5, "solution": 5, "market": 5}},
					Participants: []debate.Participant{{Name: "Advocate", Role: "advocate"}, {Name: "Challenger", Role: "challenger"}},
					Judges:       judges,
				},
			},
		},
		Models: []launch.Model{
			{Provider: "model", Title: "Demo model, with prewritten replies", Price: &price.Price{}},
			{Provider: "model", Name: "gpt-x", Price: &price.Price{Input: 2, Output: 8}},
		},
		Cost: 1, Currency: "USD",
		Note: "No key is set, so only the demo model is here: its replies are prewritten, and its answers mean nothing. For real answers, set OPENAI_API_KEY, and start debate inspect again.",
	}, nil
}

// opening starts a server with an inspector in which debates begin.
func opening(t testing.TB) *site {
	p := newPage(t)
	e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"model": offline.Model(false)}})
	h, err := inspector.Handler(e, inspector.Options{
		Authorize: debatehttp.AllowEveryone, Controls: true, Offer: offered,
		Command: func(c launch.Choice, cfg debate.Config) (string, string) {
			return "debate --for " + c.Purpose +
				" --max-cost 1 --option 'A very long option that does not fit into one line of a phone' '" + cfg.Topic + "'", ""
		},
	})
	require.NoError(t, err)
	s := &site{p, e, httptest.NewServer(h)}
	t.Cleanup(func() {
		debatetest.Kill(e)
		s.server.CloseClientConnections()
		s.server.Close()
	})
	return s
}

// sizes are the widths of a phone and of a desktop.
func sizes() []look {
	return []look{
		{"360-light", 360, 740, 1, false},
		{"360-dark", 360, 740, 1, true},
		{"1300-light", 1300, 900, 1, false},
		{"1300-dark", 1300, 900, 1, true},
	}
}

// withoutScripts switches the scripts of pages off.
func (s *site) withoutScripts() {
	s.t.Helper()
	_, err := chromedp.Call(s.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(s.t, err)
}

// waits waits until an expression is true, on pages without scripts too.
func (s *site) waits(expression string) {
	s.t.Helper()
	until := time.Now().Add(time.Minute)
	for time.Now().Before(until) {
		is, err := chromedp.Run(s.ctx, chromedp.Evaluate[bool](expression))
		if err == nil && is {
			return
		}
		s.do(chromedp.Sleep(50 * time.Millisecond))
	}
	s.picture("failed-" + strings.ReplaceAll(s.t.Name(), "/", "-"))
	require.Fail(s.t, "this never becomes true: "+expression, value[string](s.page, "location.href"))
}

// From an empty store to a read answer with the keyboard only, with and without scripts, on a phone and on a desktop.
func TestFromAnEmptyStoreToAnAnswer(t *testing.T) {
	for _, l := range []look{{"360", 360, 740, 1, false}, {"1300", 1300, 900, 1, false}} {
		for _, scripts := range []bool{true, false} {
			name := l.name + "-scripts"
			if !scripts {
				name = l.name + "-plain"
			}
			t.Run(name, func(t *testing.T) {
				s := opening(t)
				s.show(l)
				if !scripts {
					s.withoutScripts()
				}
				began := time.Now()
				s.visit("/")
				s.tabTo(`a[href="./new"].button`)
				s.do(chromedp.KeyEvent(kb.Enter))
				s.waits(`!!document.querySelector("#topic")`)
				s.tabTo("#topic")
				s.do(chromedp.KeyEvent("Should cities ban private cars?"))
				s.tabTo(`[name=purpose]`)
				s.tabTo(`[id="decision.options"]`)
				s.do(chromedp.KeyEvent("Ban\nTax\nNothing"))
				if scripts {
					s.shows("#costs", "4 calls")
				}
				s.tabTo("button.main")
				s.do(chromedp.KeyEvent(kb.Enter))
				s.waits(`location.pathname.startsWith("/debates/")`)
				if scripts {
					s.shows("#answer", "Answer")
				} else {
					for value[bool](s.page, `!document.querySelector("#answer h2")`) {
						s.do(chromedp.Reload(), chromedp.Sleep(100*time.Millisecond))
					}
				}
				took := time.Since(began)
				t.Logf("%s: from the empty list to the answer in %v", name, took.Round(time.Millisecond))
				require.Less(t, took, time.Minute)
				s.visit(value[string](s.page, "location.pathname"))
				s.picture("begin-answer-" + name)
			})
		}
	}
}

// The form can be read and used on a phone and on a desktop, in light and dark colours, whatever it shows.
func TestTheFormInAllItsStates(t *testing.T) {
	s := opening(t)
	check := func(name string) {
		for _, l := range sizes() {
			s.show(l)
			s.picture("begin-" + name + "-" + l.name)
			s.check()
		}
	}
	s.visit("/")
	check("empty")
	s.visit("/new")
	check("form")
	require.Equal(t, 1, value[int](s.page, `[...document.querySelectorAll(".details")].filter(e => e.offsetHeight > 0).length`),
		"only the chosen purpose is open")
	s.do(chromedp.Click(chromedp.CSS(`[name=purpose][value=sides]`)))
	require.True(t, value[bool](s.page, `document.getElementById("sides.position0").offsetHeight > 0`))
	s.do(chromedp.Click(chromedp.CSS("#more summary")))
	check("sides")

	s.do(chromedp.SetValue(chromedp.CSS("#topic"), "Should cities ban private cars?"),
		chromedp.SetValue(chromedp.CSS("#labels"), "no colon"), chromedp.SetValue(chromedp.CSS("#rounds"), "many"))
	s.noisy = true // the browser reports the status of the answer
	s.do(chromedp.Click(chromedp.CSS("button.main")))
	s.shows("#refused", "correct what is marked")
	require.Equal(t, "wrong-rounds", value[string](s.page, `document.querySelector("#rounds").getAttribute("aria-describedby")`))
	check("mistakes")

	s.do(chromedp.SetValue(chromedp.CSS("#labels"), "team: roads"), chromedp.SetValue(chromedp.CSS("#rounds"), "1"),
		chromedp.SetValue(chromedp.CSS("#model"), "model/gpt-x"))
	s.do(chromedp.Click(chromedp.CSS("button[value=show]")))
	s.shows("#shown-json", `"team": "roads"`)
	s.shows("#shown-command", "debate --for sides")
	check("shown")
	s.do(chromedp.Click(chromedp.CSS("#check")))
	s.shows("#costs", "USD")
	check("costs")
}

// The costs follow what is typed and chosen, and dropped files are documents.
func TestTheFormIsLive(t *testing.T) {
	s := opening(t)
	s.visit("/new")
	require.Empty(t, value[string](s.page, `document.querySelector("#costs").textContent.trim()`))
	s.do(chromedp.SendKeys(chromedp.CSS("#topic"), "Ban cars?"))
	s.shows("#costs", "4 calls, costs nothing.")
	s.do(chromedp.Evaluate[chromedp.Void](`(() => { const m = document.querySelector("#model"); m.value = "model/gpt-x"; m.dispatchEvent(new Event("change", {bubbles: true})); })()`))
	s.shows("#costs", "likely")
	before := value[string](s.page, `document.querySelector("#costs").textContent`)
	s.do(chromedp.Click(chromedp.CSS("#more summary")))
	s.do(chromedp.Evaluate[chromedp.Void](`(() => {
		const all = new DataTransfer();
		all.items.add(new File(["A long text. ".repeat(500)], "dropped.md", {type: "text/markdown"}));
		document.querySelector("#drop").dispatchEvent(new DragEvent("drop", {dataTransfer: all, bubbles: true, cancelable: true}));
	})()`))
	s.shows("#dropped", "Chosen: dropped.md")
	s.until(`document.querySelector("#costs").textContent.includes("likely") && document.querySelector("#costs").textContent !== ` +
		debatetest.Encode(t, before))

	file := filepath.Join(t.TempDir(), "chosen.txt")
	require.NoError(t, os.WriteFile(file, []byte("A chosen file."), 0o600))
	s.do(chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{file}))
	s.do(chromedp.Click(chromedp.CSS("button.main")))
	s.until(`location.pathname.startsWith("/debates/")`)
	s.shows("#answer", "Answer")
	require.Empty(t, value[string](s.page, `location.search`))
	require.Len(t, debatetest.List(t, s.engine, store.Query{}), 1)
	s.visit("/")
	s.shows("#debates .answer", "Ban cars?")
	s.visit("/new")
	s.shows("#remembered", "as you chose last time")
	require.Equal(t, "model/gpt-x", value[string](s.page, `document.querySelector("#model").value`))
}

// Two people take their seats in one debate, each in a browser's tab of their own, and reply in the page.
func TestTwoPeopleInOneDebate(t *testing.T) {
	s := opening(t)
	s.visit("/new")
	s.do(chromedp.SendKeys(chromedp.CSS("#topic"), "Ban cars?"))
	for _, seat := range []string{"decision.seat0", "decision.seat1"} {
		s.do(chromedp.SetValue(chromedp.CSS(`[id="`+seat+`"]`), "person"))
	}
	s.do(chromedp.Click(chromedp.CSS("button.main")))
	s.until(`location.pathname.startsWith("/debates/")`)
	s.shows("#advice", "The debate waits for")
	path := value[string](s.page, "location.pathname")
	for _, l := range sizes() {
		s.show(l)
		s.picture("begin-people-" + l.name)
		s.check()
	}
	s.visit("/")
	s.shows("#debates .waits", "waits for Ada")
	other := &site{newPage(t), s.engine, s.server}
	for _, person := range []struct {
		*site
		name, reply string
	}{{s, "Ada", "Trams first."}, {other, "Bo", "Buses first."}} {
		person.visit(path)
		person.do(chromedp.Click(chromedp.CSS(`[data-actor="` + person.name + `"] .take`)))
		person.shows("#seat", person.name)
		person.shows("#asked h2", person.name)
		person.do(chromedp.SendKeys(chromedp.CSS("#asked textarea"), person.reply),
			chromedp.Click(chromedp.CSS("#asked form[data-form=answers] button")))
	}
	s.shows("#turns", "Buses first.")
	other.shows("#turns", "Trams first.")
	other.shows("#answer", "Answer")
}

// A debate is a template, and is deleted from the list after a confirmation.
func TestTemplatesAndDeletion(t *testing.T) {
	s := opening(t)
	s.run(pair("cars"))
	s.visit("/debates/cars")
	s.do(chromedp.Click(chromedp.CSS("#template")))
	s.shows("#of-template", "Should cities ban private cars?")
	s.do(chromedp.SetValue(chromedp.CSS("#topic"), "Should cities ban trams?"), chromedp.Click(chromedp.CSS("button.main")))
	s.until(`location.pathname.startsWith("/debates/")`)
	s.shows("#topic", "Should cities ban trams?")
	s.visit("/")
	s.do(chromedp.Click(chromedp.CSS(`tr[data-debate=cars] a[href$=delete]`)))
	s.shows("#delete-title", "Delete this debate?")
	for _, l := range sizes() {
		s.show(l)
		s.picture("begin-delete-" + l.name)
		s.check()
	}
	s.do(chromedp.Click(chromedp.CSS("button.danger")))
	s.until(`location.pathname === "/"`)
	require.Zero(t, value[int](s.page, `document.querySelectorAll("tr[data-debate=cars]").length`))
	for _, l := range sizes() {
		s.show(l)
		s.picture("begin-list-" + l.name)
		s.check()
	}
}

// Long lines of code in a speech fit on a phone, so that nothing has to be scrolled with a mouse.
func TestCodeFitsOnAPhone(t *testing.T) {
	s := open(t, &speaker{words: []string{"Look:\n\n```go\n" + strings.Repeat("call(argument, ", 30) + ")\n```\n\nDone."}})
	s.run(pair("cars"))
	s.visit("/debates/cars")
	for _, l := range sizes() {
		s.show(l)
		s.check()
		require.Zero(t, value[int](s.page, `[...document.querySelectorAll(".text pre")].filter(e => e.scrollWidth > e.clientWidth).length`))
	}
}

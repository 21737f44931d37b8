package browser

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
)

// speaker is a model whose participants say the given words. If next is not nil, each word waits for a value of it.
type speaker struct {
	words []string
	next  chan struct{}
	sent  []time.Time // when each word was sent, for one speaker
}

func (s *speaker) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if r.Schema != nil {
		r.OnChunk = nil
		return offline.Model(false).Generate(ctx, r)
	}
	for _, word := range s.words {
		if s.next != nil {
			select {
			case <-s.next:
			case <-ctx.Done():
				return providers.Response{}, providers.ContextError(ctx, providers.Response{})
			}
		}
		s.sent = append(s.sent, time.Now())
		if r.OnChunk != nil {
			if err := r.OnChunk(word + " "); err != nil {
				return providers.Response{}, err
			}
		}
	}
	return providers.Response{Text: strings.Join(s.words, " "), FinishReason: providers.Stop}, nil
}

// A site is an inspector in the browser.
type site struct {
	*page
	engine *debate.Engine
	server *httptest.Server
}

// open starts a server with an inspector, and opens a tab.
func open(t testing.TB, model providers.Provider) *site {
	p := newPage(t)
	e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	h, err := inspector.Handler(e, inspector.Options{Authorize: debatehttp.AllowEveryone, Controls: true})
	require.NoError(t, err)
	s := &site{p, e, httptest.NewServer(h)}
	t.Cleanup(func() {
		debatetest.Kill(e)
		s.server.CloseClientConnections()
		s.server.Close()
	})
	return s
}

// visit opens a page of the inspector.
func (s *site) visit(path string) {
	s.t.Helper()
	s.do(chromedp.Navigate(s.server.URL + path))
}

// shows waits until an element has a text.
func (p *page) shows(selector, text string) {
	p.t.Helper()
	p.until(`((s, t) => document.querySelector(s)?.textContent.includes(t))(...` + debatetest.Encode(p.t, []string{selector, text}) + `)`)
}

// pair returns a configuration with two participants and a judge.
func pair(id string) debate.Config {
	return debate.Config{
		ID: id, Topic: "Should cities ban private cars?", Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges: []debate.Participant{{Name: "Jo"}}, Limits: debate.Limits{MaxRounds: 2},
	}
}

// create stores a debate.
func (s *site) create(c debate.Config) *debate.Debate {
	s.t.Helper()
	return debatetest.Create(s.t, s.engine, c)
}

// run runs a debate as far as it goes.
func (s *site) run(c debate.Config) *debate.Debate {
	s.t.Helper()
	d := s.create(c)
	debatetest.Finish(s.t, d)
	return d
}

// start starts a debate in the background.
func (s *site) start(c debate.Config) *debate.Debate {
	s.t.Helper()
	d := s.create(c)
	require.NoError(s.t, d.Start(s.t.Context()))
	return d
}

// state waits until the page shows a state.
func (s *site) state(want fsm.State) {
	s.t.Helper()
	s.until(`document.querySelector("#now")?.dataset.state === "` + string(want) + `"`)
}

const turns = `[...document.querySelectorAll("#turns article")]`

// seqs returns the turns that the page shows.
func (s *site) seqs() []string { return value[[]string](s.page, turns+`.map(a => a.dataset.seq)`) }

// A reply appears word by word, and becomes a turn. The page shows who speaks, the round and the end.
func TestADebateIsFollowed(t *testing.T) {
	m := &speaker{words: []string{"Streets", "belong", "to", "people."}, next: make(chan struct{})}
	s := open(t, m)
	d := s.create(pair("cars"))
	s.visit("/debates/cars")
	s.shows("#connection", "Live.")
	require.NoError(t, d.Start(t.Context()))
	for i := range m.words {
		m.next <- struct{}{}
		if i < len(m.words)-1 {
			s.shows("#live article", strings.Join(m.words[:i+1], " "))
			s.shows("#live article", "Ada")
		}
	}
	s.shows("#turns article", strings.Join(m.words, " "))
	s.shows("#round", "round 1 of 2")
	close(m.next)
	s.state(fsm.Completed)
	s.shows("#connection", "The debate has ended.")
	require.Empty(t, value[string](s.page, `document.querySelector("#live").textContent.trim()`))
	require.Len(t, slices.Compact(s.seqs()), len(s.seqs()))
	live := s.seqs()
	s.visit("/debates/cars")
	require.Equal(t, s.seqs(), live, "what was followed is what a visitor reads later")
}

// A viewer whose connection breaks catches up.
func TestAViewerReconnects(t *testing.T) {
	m := &speaker{words: []string{"One", "two", "three."}, next: make(chan struct{})}
	s := open(t, m)
	s.noisy = true // the browser reports the broken connection
	s.start(pair("cars"))
	s.visit("/debates/cars")
	m.next <- struct{}{}
	s.shows("#live article", "One")
	s.server.CloseClientConnections()
	s.shows("#connection", "Connection lost")
	m.next <- struct{}{}
	m.next <- struct{}{} // Ada's turn is committed meanwhile
	m.next <- struct{}{}
	s.shows("#connection", "Connected again.")
	s.shows("#turns article", "One two three.")
	s.shows("#live article", "One")
	close(m.next)
	s.state(fsm.Completed)
	require.Equal(t, 1, value[int](s.page, turns+`.filter(a => a.dataset.key.startsWith("1/1/") && a.dataset.key.includes("/Ada")).length`))
}

// A control that the lifecycle refuses is grey and tells why, and changes nothing.
func TestRefusedControls(t *testing.T) {
	s := open(t, &speaker{words: []string{"Yes."}})
	d := s.run(pair("cars"))
	before := debatetest.Status(t, d)
	s.visit("/debates/cars")
	for _, name := range []string{"pause", "resume", "stop", "cancel", "retry"} {
		require.Equal(t, "true", value[string](s.page, `document.querySelector("[data-control=`+name+`]").getAttribute("aria-disabled")`), name)
		require.NotEmpty(t, value[string](s.page, `document.querySelector("#why-`+name+`").textContent`))
		s.do(chromedp.Click(chromedp.CSS("[data-control=" + name + "]")))
		s.shows("#connection", value[string](s.page, `document.querySelector("#why-`+name+`").textContent`))
	}
	after := debatetest.Status(t, d)
	require.Equal(t, before.Seq, after.Seq)
}

// A person replies in the page, with the keyboard only, and the page goes on.
func TestAPersonReplies(t *testing.T) {
	s := open(t, &speaker{words: []string{"Yes."}})
	c := pair("cars")
	c.Participants[1].Human = true
	s.start(c)
	s.visit("/inbox?seat=Bo")
	s.shows("#inbox .asked", "Bo")
	s.tabTo(`.asked a`)
	s.do(chromedp.KeyEvent(kb.Enter))
	for round := range 2 {
		s.shows("#asked h2", "Bo")
		s.tabTo(`#asked textarea`)
		reply := []string{"Buses first.", "Still buses."}[round]
		s.do(chromedp.KeyEvent(reply))
		s.tabTo(`#asked form[data-form=answers] button`)
		s.do(chromedp.KeyEvent(kb.Enter))
		s.until(turns + `.some(a => a.textContent.includes("` + reply + `"))`)
	}
	s.state(fsm.Completed)
}

// A person decides in the page.
func TestAPersonDecides(t *testing.T) {
	s := open(t, &speaker{words: []string{"Yes."}})
	c := pair("cars")
	c.AskBeforeRounds, c.Limits.MaxRounds = true, 1
	s.start(c)
	s.visit("/debates/cars")
	s.shows("#question", "round 1 of 1 is next")
	s.do(chromedp.Click(chromedp.CSS(`#question [value=approve]`)), chromedp.Click(chromedp.CSS("#question button")))
	s.until(turns + `.some(a => a.dataset.kind === "speech")`)
}

// tabTo presses Tab until an element has the focus, which must be visible.
func (s *site) tabTo(selector string) {
	s.t.Helper()
	focused := `document.activeElement?.matches(` + debatetest.Encode(s.t, selector) + `) ?? false`
	for range 120 {
		if value[bool](s.page, focused) {
			require.NotEqual(s.t, "none", value[string](s.page, `getComputedStyle(document.activeElement).outlineStyle`), "%s: the focus is visible", selector)
			return
		}
		s.do(chromedp.KeyEvent(kb.Tab))
	}
	require.Fail(s.t, "Tab never reaches "+selector)
}

// Controls and pages work with the keyboard only.
func TestTheKeyboardSuffices(t *testing.T) {
	m := &speaker{words: []string{"One", "two."}, next: make(chan struct{})}
	s := open(t, m)
	s.start(pair("cars"))
	s.visit("/")
	s.tabTo(`.skip`)
	s.tabTo(`#debates tr[data-debate=cars] a`)
	s.do(chromedp.KeyEvent(kb.Enter))
	s.shows("#connection", "Live.")
	s.tabTo(`[data-control=pause]`)
	s.do(chromedp.KeyEvent(kb.Enter))
	m.next <- struct{}{}
	m.next <- struct{}{} // calls in flight end
	s.state(fsm.Paused)
	s.tabTo(`[data-control=resume]`)
	s.do(chromedp.KeyEvent(kb.Enter))
	close(m.next)
	s.state(fsm.Completed)
}

// The slider shows the debate as it was after each entry, and calls no model. Its address can be passed on.
func TestTheSlider(t *testing.T) {
	m := &speaker{words: []string{"Yes."}}
	s := open(t, m)
	d := s.run(pair("cars"))
	calls := len(m.sent)
	s.visit("/debates/cars/past")
	s.do(chromedp.Focus(chromedp.CSS("#at")), chromedp.KeyEvent(kb.Home))
	s.until(`document.querySelector("#moment").dataset.seq === "1"`)
	for past, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		seq := strconv.FormatInt(past.Event.Meta().Seq, 10)
		s.until(`document.querySelector("#moment").dataset.seq === "` + seq + `"`)
		require.Equal(t, string(past.Status().State), value[string](s.page, `document.querySelector("#moment").dataset.state`), seq)
		require.Equal(t, strconv.Itoa(len(past.Result().Turns)), value[string](s.page, `document.querySelector("#turns-until").dataset.turns`), seq)
		require.Equal(t, seq, value[string](s.page, `new URL(location.href).searchParams.get("at")`))
		s.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	s.visit("/debates/cars/past?at=8")
	require.Equal(t, "8", value[string](s.page, `document.querySelector("#moment").dataset.seq`))
	require.Equal(t, "8", value[string](s.page, `document.querySelector("#at").value`))
	require.Equal(t, "at", value[string](s.page, `(document.querySelector("#at").focus(), document.activeElement.id)`))
	require.Len(t, m.sent, calls)
}

// From an entry, a person makes a fork with another reply. The pages show the family, and both debates side by side.
func TestAFork(t *testing.T) {
	s := open(t, &speaker{words: []string{"Yes."}})
	s.run(pair("cars"))
	s.visit("/debates/cars/past?at=7")
	s.tabTo("#fork-here")
	s.do(chromedp.KeyEvent(kb.Enter))
	s.shows("#fork legend", "entry 7")
	s.do(chromedp.SetValue(chromedp.CSS("#fork [name=reply]"), "No, trams first."))
	if !value[bool](s.page, `document.querySelector("#fork [name=start]").checked`) {
		s.do(chromedp.Click(chromedp.CSS("#fork [name=start]")))
	}
	s.tabTo("#fork button")
	s.do(chromedp.KeyEvent(kb.Enter))
	s.state(fsm.Completed)
	require.Contains(t, value[string](s.page, `document.querySelector("#turn-7").textContent`), "No, trams first.")
	fork := value[string](s.page, `document.querySelector("#debate-id").textContent`)
	s.visit("/debates/" + fork + "/family")
	require.Equal(t, "cars", value[string](s.page, `document.querySelector("#family li[data-debate='`+fork+`']").dataset.parent`))
	s.visit("/debates/cars/compare?with=" + fork)
	require.Equal(t, "0", value[string](s.page, `document.querySelector("#common")?.dataset.turns ?? "0"`))
	s.shows("#round-1 [data-side=left]", "Yes.")
	s.shows("#round-1 [data-side=right]", "No, trams first.")
}

// A turn's page shows the prompt that the model got.
func TestATurn(t *testing.T) {
	s := open(t, &speaker{words: []string{"Yes."}})
	s.run(pair("cars"))
	s.visit("/debates/cars")
	s.do(chromedp.Click(chromedp.CSS("#turn-8 .meta a")))
	s.shows("#turn .text", "Yes.")
	s.shows("#prompt", "Should cities ban private cars?")
	s.shows("#prompt", "Ada")
	require.Equal(t, 1, value[int](s.page, `document.querySelectorAll("#attempts tbody tr").length`))
}

// What models and people write becomes text, and the page asks no other host.
func TestHostileTexts(t *testing.T) {
	hostile := "<script>window.bad=1</script><img src=x onerror='window.bad=1'> [a](javascript:window.bad=1) ![b](https://evil.example/b.png) \x1b[31m"
	s := open(t, &speaker{words: []string{hostile, "</textarea></article>"}})
	c := pair("cars")
	c.Topic = "Ban <b>cars</b>? <script>window.bad=1</script>"
	c.Participants[0].Name = `"><img src=x onerror=window.bad=1>`
	c.Labels = map[string]string{"<i>": "'\"><svg onload=window.bad=1>"}
	d := s.run(c)
	require.NoError(t, d.Annotate(t.Context(), "note", hostile))
	debatetest.Fork(t, s.engine, "cars", 9, debate.Edits{ID: "cars-2"})
	for _, path := range append([]string{"/", "/inbox"}, pagesOf("cars")...) {
		s.visit(path)
		require.False(t, value[bool](s.page, `"bad" in window`), path)
		require.Zero(t, value[int](s.page, `document.querySelectorAll("img, svg[onload], main script, [onerror]").length`), path)
		require.Empty(t, value[[]string](s.page, `performance.getEntriesByType("resource").map(r => r.name).filter(n => !n.startsWith(location.origin))`), path)
		require.Empty(t, value[[]string](s.page, `[...document.querySelectorAll("a")].map(a => a.protocol).filter(p => p !== "http:" && p !== "https:")`), path)
	}
}

// A person in a blind round does not see what the others say before the reply, also while it streams.
func TestABlindSeat(t *testing.T) {
	m := &speaker{words: []string{"Trams", "everywhere."}, next: make(chan struct{})}
	s := open(t, m)
	c := pair("cars")
	c.Protocol = panel.Protocol{Mode: panel.Simultaneous}
	c.Participants[1].Human = true
	s.start(c)
	s.visit("/debates/cars?seat=Bo")
	s.shows("#connection", "Live.")
	m.next <- struct{}{}
	m.next <- struct{}{}
	s.shows("#asked h2", "Bo")
	require.NotContains(t, value[string](s.page, `document.body.textContent`), "Trams")
	s.do(chromedp.SendKeys(chromedp.CSS("#asked textarea"), "Buses first."), chromedp.Click(chromedp.CSS("#asked form[data-form=answers] button")))
	s.until(turns + `.some(a => a.textContent.includes("Trams everywhere."))`)
	close(m.next)
}

// grader plays judges who give each score from 0 to 10, and explain themselves.
type grader struct{ speaker }

func (g *grader) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step, _ := debate.StepFrom(ctx)
	if r.SchemaName != judge.AssessmentContract.Name() {
		return g.speaker.Generate(ctx, r)
	}
	a := judge.Assessment{Reasoning: strings.Repeat("Ada had **figures**, and Bo had none. ", 4), Quality: 6, ShouldContinue: true}
	for i, name := range []string{"Ada", "Bo", "Cy"} {
		p := judge.ParticipantAssessment{Name: name, Criteria: judge.Rubric(nil).UniformScores(0)}
		for j := range p.Criteria {
			p.Criteria[j].Score = float64((3*i + 2*j + step.Key.Round + len(step.Key.Actor)/2) % 11)
		}
		a.Participants = append(a.Participants, p)
	}
	b, err := json.Marshal(a)
	return providers.Response{Text: string(b), FinishReason: providers.Stop}, err
}

// The scores of ten rounds and five judges can be read at a glance: a row of numbers for each participant in each round, all
// in the window of a desktop, with the judges' own scores behind a click.
func TestScoresOfManyRoundsAndJudges(t *testing.T) {
	s := open(t, &grader{speaker{words: []string{"Yes."}}})
	c := pair("cars")
	c.Participants = append(c.Participants, debate.Participant{Name: "Cy"})
	c.Protocol, c.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited}, 10
	c.Judges = nil
	for _, name := range []string{"Jo", "Kim", "Leander", "Maximilian", "A long name of a judge"} {
		c.Judges = append(c.Judges, debate.Participant{Name: name})
	}
	s.run(c)
	s.visit("/debates/cars/judges")
	require.GreaterOrEqual(t, value[int](s.page, `document.querySelectorAll(".round").length`), 6, "the others are a click away")
	for _, l := range looks() {
		s.show(l)
		s.picture("inspector-judges-ten-" + l.name)
		s.check()
		tall := value[int](s.page, `Math.max(...[...document.querySelectorAll(".round > .wide")].map(e => e.offsetHeight))`)
		require.Less(t, tall, 220, "a table of three participants")
		if l.width == 1200 && l.zoom == 1 {
			require.Zero(t, value[int](s.page, `[...document.querySelectorAll(".round > .wide")].filter(e => e.scrollWidth > e.clientWidth).length`))
		}
	}
	s.do(chromedp.Click(chromedp.CSS("#judged-10 .each summary")))
	s.shows("#judged-10 .each tr.of th", "Ada")
	require.Equal(t, 15, value[int](s.page, `document.querySelectorAll("#judged-10 .each tbody tr:not(.of)").length`))
	for _, l := range looks() {
		s.show(l)
		s.picture("inspector-judges-each-" + l.name)
		s.check()
	}
}

// pagesOf returns the paths of the pages of a debate.
func pagesOf(id string) []string {
	var list []string
	for _, page := range []string{"", "/past", "/past?at=9", "/judges", "/turn?seq=7", "/fork?at=9", "/family", "/compare?with=" + id + "-2"} {
		list = append(list, "/debates/"+id+page)
	}
	return list
}

// Each page can be read on a desktop and on a phone, with a zoom of 200 %, in light and dark colours.
func TestPages(t *testing.T) {
	s := open(t, &speaker{words: []string{"Streets belong to people. **Buses** carry more of them:\n\n1. They need less room.\n2. They cost less."}})
	s.run(pair("cars"))
	debatetest.Fork(t, s.engine, "cars", 9, debate.Edits{ID: "cars-2"})
	waiting := pair("waiting")
	waiting.Participants[1].Human, waiting.Judges[0].Human = true, true
	s.run(waiting)
	gate := pair("gate")
	gate.AskBeforeRounds = true
	s.run(gate)
	pages := map[string]string{"list": "/", "inbox": "/inbox", "asked": "/debates/waiting?seat=Bo", "gate": "/debates/gate"}
	for _, path := range pagesOf("cars") {
		pages["debate"+strings.NewReplacer("/", "-", "?", "-", "=", "").Replace(strings.TrimPrefix(path, "/debates/cars"))] = path
	}
	for name, path := range pages {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.visit(path)
			for _, l := range looks() {
				s.show(l)
				s.picture("inspector-" + name + "-" + l.name)
				s.check()
			}
		})
	}
}

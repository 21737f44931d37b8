package inspector

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// maxWeight limits a page with its scripts and style sheets, in bytes.
const maxWeight = 60_000

var (
	loads       = regexp.MustCompile(`(?:src|href)="([^"]*assets/[^"]*)"`)
	earlierPage = regexp.MustCompile(`<a id="earlier" href="\.\./([^"]*)"`)
	unstable    = regexp.MustCompile(`<time datetime="[^"]*">[^<]*</time>|<span class="meta">\d+m?s of 1h</span><meter id="budget-time"[^>]*>[^<]*`)
	elsewhere   = regexp.MustCompile(`(?:src|href|action)="(?:https?:)?//`)
)

// weigh returns the size of a page with everything that it loads.
func (w *web) weigh(path string) int {
	w.t.Helper()
	page := w.get(http.StatusOK, path)
	require.NotRegexp(w.t, elsewhere, page)
	size := len(page)
	for _, m := range loads.FindAllStringSubmatch(page, -1) {
		res, body := w.do(http.MethodGet, "/assets/"+m[1][strings.LastIndex(m[1], "/")+1:], nil)
		require.Equal(w.t, http.StatusOK, res.StatusCode, m[1])
		size += len(body)
	}
	return size
}

// requireLight requires that a page with everything that it loads is light.
func (w *web) requireLight(path string) {
	w.t.Helper()
	size := w.weigh(path)
	w.t.Logf("%s: %d bytes", path, size)
	assert.Less(w.t, size, maxWeight, path)
}

// longSpeech holds a speech of about 400 words.
var longSpeech = strings.Repeat("Cars take space that people need, and *most* of them stand still for most of the day. ", 25)

func TestPagesAreLight(t *testing.T) {
	w := open(t, Options{Controls: true}, speaker(longSpeech))
	cfg := pair("cars")
	cfg.Limits.MaxRounds = 5
	w.run(cfg)
	for i := range pageSize {
		filler := pair(fmt.Sprintf("one-of-many-debates-%d", i))
		filler.Labels = map[string]string{"team": "red", "owner": "somebody@example.com"}
		w.create(filler)
	}
	person := pair("person")
	person.Judges[0].Human = true
	w.run(person)
	person.ID = "persons"
	for _, name := range []string{"Cem", "Dee"} {
		person.Participants = append(person.Participants, debate.Participant{Name: name, Side: "for"})
	}
	w.run(person)
	for _, path := range []string{"/", "/inbox", "/debates/cars", "/debates/one-of-many-debates-3", "/debates/person?seat=Jo", "/debates/persons?seat=Jo"} {
		w.requireLight(path)
	}
}

// Each page of a debate with long speeches and long prompts is light, and so is that of a family with many forks.
func TestPagesOfADebateAreLight(t *testing.T) {
	w := open(t, Options{Controls: true}, speaker(longSpeech))
	cfg := pair("cars")
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited}, 100
	for _, actors := range [][]debate.Participant{cfg.Participants, cfg.Judges} {
		for i := range actors {
			actors[i].Window = 1 << 20 // so that each prompt has all that was said
		}
	}
	d := w.run(cfg)
	turns := debatetest.Result(t, d).Turns
	require.Len(t, turns, 301)
	for i := range 100 {
		debatetest.Fork(t, w.engine, "cars", 5, debate.Edits{ID: fmt.Sprintf("a-fork-of-the-debate-about-cars-%d", i)})
	}
	other := cfg
	other.ID, other.Topic = "trucks", strings.Repeat("Ban trucks? ", 100)
	w.run(other)
	paths := []string{"", "/judges", "/fork?at=9", "/family", "/compare?with=trucks", "/compare?with=trucks&from=round-3"}
	for _, turn := range append(turns[:3:3], turns[len(turns)-4:]...) {
		paths = append(paths, fmt.Sprint("/turn?seq=", turn.Seq), fmt.Sprint("/past?at=", turn.Seq))
	}
	for _, path := range paths {
		w.requireLight("/debates/cars" + path)
	}
}

// speaker returns a model with the same speech each time. Its structured replies are those of the offline model.
func speaker(speech string) providers.Provider {
	model := offline.Model(false)
	return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if r.SchemaName != "" {
			return model.Generate(ctx, r)
		}
		return providers.Response{Text: speech, Usage: transcript.Usage{Input: 100, Output: 400}}, nil
	})
}

// The page of a long debate shows its last turns, and links to the earlier ones.
func TestEarlierTurnsAreOnPagesOfTheirOwn(t *testing.T) {
	w := open(t, Options{}, speaker(longSpeech))
	cfg := pair("cars")
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited}, 30
	d := w.run(cfg)
	r := debatetest.Result(t, d)
	var want, got []string
	for _, turn := range r.Turns {
		want = append(want, fmt.Sprint(turn.Seq))
	}
	for path, first := "/debates/cars", true; path != ""; first = false {
		page := w.get(http.StatusOK, path)
		require.Less(t, len(page), 40_000)
		require.Equal(t, !first, strings.Contains(page, `id="latest"`))
		var here []string
		for _, m := range turnPattern.FindAllStringSubmatch(page, -1) {
			here = append(here, m[1])
		}
		require.NotEmpty(t, here)
		got = append(here, got...)
		path = ""
		if earlierPage.MatchString(page) {
			path = "/" + earlierPage.FindStringSubmatch(page)[1]
		}
	}
	require.Equal(t, want, got)
}

// The turns of a parallel phase are not in the order of their seqs. Each is on one page all the same.
func TestTurnsOfAParallelPhaseAreOnOnePageEach(t *testing.T) {
	h := &history{result: &debate.Result{}}
	want := []int64{8, 7, 9, 5, 12, 10, 11}
	for _, seq := range want {
		h.result.Turns = append(h.result.Turns, transcript.Turn{Seq: seq, Kind: transcript.Speech, Key: transcript.Key{Round: 1}})
	}
	for room := range 4 * frame {
		var got []int64
		for before, more := int64(0), true; more; more = before > 0 {
			list, earlier, later := turnsOf(h, nil, before, room)
			require.Equal(t, before > 0, later)
			var here []int64
			for _, s := range list {
				here = append(here, s.Seq)
			}
			got, before = append(here, got...), earlier
		}
		require.Equal(t, want, got)
	}
}

// The structure of the pages is in golden files.
func TestGoldenPages(t *testing.T) {
	w := open(t, Options{Controls: true})
	cfg := pair("cars")
	cfg.Prices = price.Prices{"m": {Input: 1, Output: 2}}
	cfg.Limits.Tokens = 100_000
	w.run(cfg)
	person := pair("person")
	person.Judges[0].Human = true
	w.run(person)
	gate := pair("gate")
	gate.AskBeforeRounds, gate.Participants[0].Human = true, true
	w.run(gate)
	for name, path := range map[string]string{
		"list": "/", "inbox": "/inbox", "completed": "/debates/cars", "person": "/debates/person?seat=Jo", "gate": "/debates/gate", "missing": "/debates/nosuch",
	} {
		golden.Require(t, "testdata/"+name+".html", unstable.ReplaceAllString(w.get(http.StatusOK+map[string]int{"missing": 204}[name], path), "TIME"))
	}
	readOnly := open(t, Options{})
	readOnly.run(cfg)
	golden.Require(t, "testdata/read-only.html", unstable.ReplaceAllString(readOnly.get(http.StatusOK, "/debates/cars"), "TIME"))
}

// Nothing that a model, a person or a configuration says becomes markup, also if it says so in Markdown.
func TestHostileTextsStayTexts(t *testing.T) {
	evil := `<script>alert(1)</script>"><img src=x onerror=alert(2)> [x](javascript:alert(3)) ![y](https://evil.example/z.png) <!-- ' onload='x`
	w := open(t, Options{Controls: true}, speaker(evil))
	cfg := pair("cars")
	cfg.Topic, cfg.Labels = evil+"\u202e", map[string]string{"la<b>bel": evil}
	cfg.Participants[0].Name = `A"><i>da`
	cfg.Participants[0].Side = `"for'<`
	cfg.Participants[1].Human = true
	d := w.run(cfg)
	require.NoError(t, d.Inject(t.Context(), debate.Remark{From: `Z<b>oe"`, Text: evil}))
	require.NoError(t, d.Annotate(t.Context(), evil[:min(len(evil), 128)], evil))
	for _, path := range []string{"/", "/inbox", "/inbox?seat=%22%3E%3Cscript%3E", "/debates/cars", "/debates/cars?seat=Bo", "/?text=%22%3E%3Cscript%3E&waiting=%3Cb%3E"} {
		page := w.get(http.StatusOK, path)
		for _, bad := range []string{"<script>", "<img", "<b>bel", "<i>da", "<b>oe", "javascript:alert(3)\"", "onerror=alert(2)>\"", "<!-- '", "\u202e"} {
			require.NotContains(t, page, bad, path)
		}
		require.NotRegexp(t, elsewhere, page, path)
	}
}

// A seat's page shows nothing of others in an open parallel phase, and no stream of it does.
func TestASeatsPageIsBlind(t *testing.T) {
	w := open(t, Options{Controls: true}, speaker("The secret of Ada. [1]"))
	cfg := pair("cars")
	cfg.Documents = []evidence.Document{evidence.Shared("law.md", "So it is.")}
	cfg.Protocol, cfg.Participants[1].Human = panel.Protocol{Mode: panel.Simultaneous}, true
	d := w.run(cfg)
	require.Contains(t, w.get(http.StatusOK, "/debates/cars"), "The secret of Ada.")
	page := w.get(http.StatusOK, "/debates/cars?seat=Bo")
	require.NotContains(t, page, "The secret of Ada.")
	require.NotContains(t, page, "cited by")
	require.Contains(t, page, "You speak for <b>Bo</b>")
	require.NotContains(t, page, "/report", "a report shows everything")
	stream := regexp.MustCompile(`data-events="\.\.([^"]*)"`).FindStringSubmatch(page)[1]
	require.Contains(t, stream, "seat=Bo")
	v := w.follow(strings.ReplaceAll(stream, "&amp;", "&"))
	w.post(http.StatusSeeOther, "/debates/cars/answers?seat=Bo", with(form(t, page, "answers"), "reply", "No."))
	require.Equal(t, "The secret of Ada. [1]", v.turn().Turn.Text, "what was withheld comes after the reply")
	require.Contains(t, w.get(http.StatusOK, "/debates/cars?seat=Bo"), "The secret of Ada.")
	require.Contains(t, w.get(http.StatusOK, "/debates/cars?seat=Bo"), "[1] law.md, cited by Ada; answered by nobody")
	require.Contains(t, w.get(http.StatusBadRequest, "/debates/cars?seat=Nobody"), "no participant or judge has the name")
	_ = d
}

// A judge who must not know who says what reads the pseudonyms only.
func TestABlindJudgeSeesNoNames(t *testing.T) {
	w := open(t, Options{Controls: true}, speaker("So it is [1]."))
	cfg := pair("cars")
	cfg.Judges[0].Human, cfg.Judges[0].Blind = true, true
	cfg.Documents = []evidence.Document{evidence.Shared("law.md", "So it is.")}
	d := w.run(cfg)
	require.Contains(t, w.get(http.StatusOK, "/debates/cars"), "cited by Ada")
	page := w.get(http.StatusOK, "/debates/cars?seat=Jo")
	require.Contains(t, page, `id="masked"`)
	require.Contains(t, page, `data-form="answers"`)
	require.NotContains(t, page, "Ada")
	require.NotContains(t, page, "data-events")
	for _, path := range []string{"/past?", "/judges?", "/turn?key=1/1/respond/Ada/&", "/compare?with=cars&", "/fork?at=7&", "?at=7&", "?at=&"} {
		require.NotContains(t, w.get(http.StatusForbidden, "/debates/cars"+path+"seat=Jo"), "Ada", path)
	}
	require.Contains(t, w.get(http.StatusOK, "/debates/cars"), "Ada")

	assessment := debatetest.Assessment(false, "Debater A", "Debater B")
	assessment.Reasoning = "Debater A and Debater B repeat themselves."
	asked := debatetest.Waiting(t, d)
	require.NoError(t, d.Answer(t.Context(), asked[0].Key, debatetest.Encode(t, assessment), ""))
	debatetest.Finish(t, d)
	require.NoError(t, d.Annotate(t.Context(), "rating", "Ada is better."))
	page = w.get(http.StatusOK, "/debates/cars")
	require.Contains(t, page, "Ada and Bo repeat themselves.", "why the debate ends")
	require.Contains(t, page, "Ada is better.")
	page = w.get(http.StatusOK, "/debates/cars?seat=Jo")
	require.Contains(t, page, "judge decided")
	require.Contains(t, page, `data-form="answers"`)
	require.NotContains(t, page, "Ada")
	require.NoError(t, d.Cancel(t.Context()))
	require.Contains(t, w.get(http.StatusOK, "/debates/cars?seat=Jo"), "Ada")
}

// A judge who knows who has failed could tell whose texts are missing.
func TestABlindJudgeSeesNoFailures(t *testing.T) {
	w := open(t, Options{Controls: true}, debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
		return providers.Response{}, &providers.Error{Kind: providers.Authentication}
	}))
	for id, policy := range map[string]debate.FailurePolicy{"question": debate.Ask, "failure": debate.Degrade} {
		cfg := pair(id)
		cfg.OnFailure = policy
		cfg.Judges[0].Human = true
		cfg.Judges[0].Blind = true
		_, _ = debatetest.Run(t, w.create(cfg))
		require.Contains(t, w.get(http.StatusOK, "/debates/"+id), "Ada", id)
		require.NotContains(t, w.get(http.StatusOK, "/debates/"+id+"?seat=Jo"), "Ada", id)
	}
}

// A judge who has not replied does not learn whether other judges have.
func TestABlindJudgeDoesNotSeeWhoHasReplied(t *testing.T) {
	w := open(t, Options{Controls: true})
	cfg := pair("cars")
	cfg.Judges = []debate.Participant{{Name: "Jo", Human: true, Blind: true}, {Name: "Kim", Human: true}}
	d := w.run(cfg)
	shown := regexp.MustCompile(`(?s)id="phases".*?</ol>|id="waiting".*?</p>`)
	before := shown.FindAllString(w.get(http.StatusOK, "/debates/cars?seat=Jo"), -1)
	asked := debatetest.Waiting(t, d)
	require.Len(t, asked, 2)
	require.Equal(t, "Kim", asked[1].Key.Actor)
	require.NoError(t, d.Answer(t.Context(), asked[1].Key, debatetest.Encode(t, debatetest.Assessment(false, "Ada", "Bo")), ""))
	require.Equal(t, before, shown.FindAllString(w.get(http.StatusOK, "/debates/cars?seat=Jo"), -1))
}

// follower reads a stream of events.
type follower struct {
	t     testing.TB
	lines *bufio.Scanner
}

// follow opens a stream of events.
func (w *web) follow(path string, header ...string) *follower {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.server.URL+prefix+path, nil)
	require.NoError(w.t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { res.Body.Close() })
	require.Equal(w.t, http.StatusOK, res.StatusCode)
	require.Equal(w.t, "text/event-stream", res.Header.Get("Content-Type"))
	return &follower{w.t, bufio.NewScanner(res.Body)}
}

// next returns the next event, or nil at the end.
func (f *follower) next() debate.Event {
	for f.lines.Scan() {
		if data, ok := strings.CutPrefix(f.lines.Text(), "data: "); ok {
			ev, err := debate.ParseEvent([]byte(data))
			require.NoError(f.t, err)
			return ev
		}
	}
	return nil
}

// turn returns the next turn.
func (f *follower) turn() debate.TurnDone {
	f.t.Helper()
	for ev := f.next(); ev != nil; ev = f.next() {
		if turn, ok := ev.(debate.TurnDone); ok {
			return turn
		}
	}
	require.Fail(f.t, "the stream ended")
	return debate.TurnDone{}
}

// The page's stream begins after what the page shows, and a reconnecting browser's after what it has received.
func TestTheStreamContinuesThePage(t *testing.T) {
	w := open(t, Options{})
	cfg := pair("cars")
	cfg.AskBeforeRounds = true
	d := w.run(cfg)
	s := debatetest.Status(t, d)
	page := w.get(http.StatusOK, "/debates/cars")
	require.Contains(t, page, fmt.Sprintf(`data-events="../debates/cars/events?after=%d"`, s.Seq))
	fresh := w.follow(fmt.Sprintf("/debates/cars/events?after=%d", s.Seq))
	again := w.follow("/debates/cars/events?after=1", "Last-Event-ID", fmt.Sprint(s.Seq))
	require.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Zoe", Text: "Hello."}))
	for _, f := range []*follower{fresh, again} {
		first := f.next()
		require.Equal(t, s.Seq+1, first.Meta().Seq)
		require.Equal(t, "Hello.", first.(debate.TurnDone).Turn.Text)
	}
	require.NoError(t, d.Cancel(t.Context()))
	require.NotContains(t, w.get(http.StatusOK, "/debates/cars"), "data-events", "nothing follows")
	w.get(http.StatusBadRequest, "/debates/cars/events?after=x")
	w.get(http.StatusBadRequest, "/debates/cars/events?from=1")
}

// A page whose journal is newer than the status that it was opened with has the form that the journal asks for.
func TestAPageHasTheFormOfANewerJournal(t *testing.T) {
	w := open(t, Options{})
	cfg := pair("cars")
	cfg.Participants[1].Human = true
	d := w.run(cfg)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/cars?seat=Bo", nil)
	require.NoError(t, err)
	v := &visit{site: &site{Options: Options{}.withDefaults(), engine: w.engine}, r: r, seat: "Bo", debate: d}
	h, err := v.read()
	require.NoError(t, err)
	shown, err := v.live(h)
	require.NoError(t, err)
	require.Len(t, shown.Asked, 1)
}

// Visitors who follow a debate share its page. Pages of earlier turns cannot push it out of the cache.
func TestPagesOfEarlierTurnsAreNotKept(t *testing.T) {
	w := open(t, Options{})
	w.create(pair("cars"))
	s := &site{Options: Options{Authorize: debatehttp.AllowEveryone}.withDefaults(), engine: w.engine}
	for _, query := range []string{"", "?before=1", "?before=2", ""} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/cars"+query, nil)
		r.SetPathValue("id", "cars")
		require.NoError(t, (&visit{site: s, w: httptest.NewRecorder(), r: r}).now())
		require.Len(t, s.pages.pages, 1, query)
	}
}

// A page repeats its seat in each link.
func TestParametersAreLimited(t *testing.T) {
	w := open(t, Options{})
	w.create(pair("cars"))
	require.Contains(t, w.get(http.StatusBadRequest, "/?seat="+strings.Repeat("x", maxSeat+1)), "use the name of a participant or judge")
	w.get(http.StatusOK, "/?seat="+strings.Repeat("x", maxSeat))
	require.Contains(t, w.get(http.StatusBadRequest, "/debates/cars?before=x"), "want the number of an entry")
}

// Each turn says what an analysis has found about the debate without it.
func TestWhatDecidedIsBesideTheTurns(t *testing.T) {
	w := open(t, Options{}, speaker("Ban them."))
	d := w.run(pair("cars"))
	turn := debatetest.Result(t, d).Turns[0]
	require.NotContains(t, w.get(http.StatusOK, "/debates/cars"), "without it")
	require.NoError(t, d.Annotate(t.Context(), "influence", []map[string]string{{"key": turn.Key.String(), "text": "−████ without it, the lead <i> changes by -1.98 [-2.16, -1.80]" + strings.Repeat(" very", 100)}}))
	page := w.get(http.StatusOK, "/debates/cars")
	require.Equal(t, 1, strings.Count(page, "· −████ without it, the lead &lt;i&gt; changes by -1.98 [-2.16, -1.80]"))
	require.Contains(t, page, " … · <a href")
	require.NoError(t, d.Annotate(t.Context(), "influence", "anything"))
	require.NotContains(t, w.get(http.StatusOK, "/debates/cars"), "· −████")
}

// A member of a council who is to rank answers under pseudonyms sees no names before, on no page.
func TestAMemberOfACouncilSeesNoNames(t *testing.T) {
	w := open(t, Options{Controls: true}, speaker("The secret of Bo."))
	cfg := pair("cars")
	cfg.Protocol, cfg.Limits = council.Protocol{}, debate.Limits{}
	cfg.Participants = []debate.Participant{{Name: "Ada", Human: true}, {Name: "Bo"}, {Name: "Cyn"}}
	d := w.run(cfg)
	blind := func() string {
		t.Helper()
		page := w.get(http.StatusOK, "/debates/cars?seat=Ada")
		require.Contains(t, page, `id="masked"`)
		for _, path := range []string{"/past?", "/turn?key=1/1/answer/Bo/&"} {
			require.NotRegexp(t, `\bCyn\b`, w.get(http.StatusForbidden, "/debates/cars"+path+"seat=Ada"), path)
		}
		return page
	}
	require.NotContains(t, blind(), "The secret of")
	require.NoError(t, d.Answer(t.Context(), debatetest.Waiting(t, d)[0].Key, "Mine.", ""))
	debatetest.Finish(t, d)
	page := blind()
	require.Contains(t, page, "The secret of", "it reads the answers")
	require.NotRegexp(t, `\bBo\b[^.]|\bCyn\b`, page)

	asked := debatetest.Waiting(t, d)[0]
	var r council.Ranking
	for i, s := range asked.Said {
		r.Ranking = append(r.Ranking, council.Ranked{Name: s.Actor, Reason: "It is clear.", Place: i + 1})
	}
	r.Comparison = "Both are clear."
	require.NoError(t, d.Answer(t.Context(), asked.Key, debatetest.Encode(t, r), ""))
	page = w.get(http.StatusOK, "/debates/cars?seat=Ada")
	require.NotContains(t, page, `id="masked"`)
	require.Contains(t, page, "Cyn")
}

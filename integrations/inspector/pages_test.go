package inspector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/protocol/panel"
)

// unstablePast matches what differs between two runs of a debate.
var unstablePast = regexp.MustCompile(`<time datetime="[^"]*">[^<]*</time>|<dt>Running time</dt><dd>[^<]*</dd>|<td>[0-9.]+[mµn]?s</td>|<span class="meta">\d+m?s of 1h</span><meter id="budget-time"[^>]*>[^<]*`)

var idPattern = regexp.MustCompile(` id="([^"]*)"`)

// pastPages lists the pages about the past, for a debate "cars" with the fork "fork".
func pastPages(t *testing.T, d *debate.Debate) map[string]string {
	t.Helper()
	bo, jo := speechOf(t, d, "Bo").Seq, speechOf(t, d, "Jo").Seq
	return map[string]string{
		"past": fmt.Sprintf("/debates/cars/past?at=%d", jo), "past-first": "/debates/cars/past?at=1", "turn": fmt.Sprintf("/debates/cars/turn?seq=%d", jo),
		"judges": "/debates/cars/judges", "fork": fmt.Sprintf("/debates/cars/fork?at=%d", bo), "family": "/debates/cars/family", "compare": "/debates/cars/compare?with=fork",
	}
}

func TestGoldenPagesOfThePast(t *testing.T) {
	w := keeping(t, Options{Controls: true}, swapped(t))
	cfg := pair("cars")
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited}, 1
	d := w.run(cfg)
	bo := speechOf(t, d, "Bo")
	changed := configOf(t, w.engine, d)
	changed.Topic = "Ban trucks?"
	fork := debatetest.Fork(t, w.engine, "cars", bo.Seq, debate.Edits{ID: "fork", Config: &changed, Turn: bo.Key, Reply: "No."})
	debatetest.Finish(t, fork)
	for name, path := range pastPages(t, d) {
		page := unstablePast.ReplaceAllString(w.get(http.StatusOK, path), "TIME")
		require.NotContains(t, page, "style=", "the policy forbids styles in elements")
		require.NotRegexp(t, ` on[a-z]+="`, page)
		ids := map[string]bool{}
		for _, id := range idPattern.FindAllStringSubmatch(page, -1) {
			require.False(t, ids[id[1]], "id %s is not unique", id[1])
			ids[id[1]] = true
		}
		golden.Require(t, "testdata/past/"+name+".html", page)
	}
}

// Nothing that a model or a configuration says becomes markup on the pages about the past.
func TestHostileTextsStayTextsInThePast(t *testing.T) {
	evil := `<script>alert(1)</script>"><img src=x onerror=alert(2)> [x](javascript:alert(3)) ![y](https://evil.example/z.png) <!-- ' onload='x`
	w := keeping(t, Options{Controls: true}, speaker(evil))
	cfg := pair("cars")
	cfg.Topic, cfg.Background = evil+"\u202e", evil
	cfg.Participants[0].Instructions = evil
	cfg.Judges[0].Name = `Jo"><i>`
	cfg.Participants[0].Side = `"for'<`
	d := w.run(cfg)
	changed := configOf(t, w.engine, d)
	changed.Background = evil + evil
	debatetest.Fork(t, w.engine, "cars", 3, debate.Edits{ID: "fork", Config: &changed})
	paths := []string{
		"/debates/cars/judges", "/debates/cars/family", "/debates/cars/compare?with=fork", "/debates/cars/fork", "/debates/cars/past?seat=%22%3E%3Cscript%3E",
		"/debates/cars/compare?with=%22%3E%3Cscript%3E", "/debates/cars/past?at=%22%3E%3Cscript%3E", "/debates/cars/compare?with=fork&from=%22%3E%3Cscript%3E",
	}
	for s, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		seq := s.Event.Meta().Seq
		paths = append(paths, fmt.Sprintf("/debates/cars/past?at=%d", seq), fmt.Sprintf("/debates/cars/fork?at=%d", seq))
		if _, ok := s.Event.(debate.TurnDone); ok {
			paths = append(paths, fmt.Sprintf("/debates/cars/turn?seq=%d", seq))
		}
	}
	for _, path := range paths {
		_, page := w.do(http.MethodGet, path, nil)
		for _, bad := range []string{"<script>", "<img", "<i>", "javascript:alert(3)\"", "onerror=alert(2)>\"", "<!--", "\u202e"} {
			require.NotContains(t, page, bad, path)
		}
		require.NotRegexp(t, elsewhere, page, path)
	}
}

// A judge who must not know who says what does not learn it from a fork's form, or from another debate's page.
func TestABlindJudgeSeesNoNamesInThePast(t *testing.T) {
	w := open(t, Options{Controls: true})
	w.run(pair("other"))
	cfg := pair("cars")
	cfg.Judges[0].Human, cfg.Judges[0].Blind = true, true
	d := w.run(cfg)
	seq := speechOf(t, d, "Bo").Seq
	for _, path := range []string{
		"/debates/other/compare?with=cars", "/debates/cars/compare?with=other", fmt.Sprintf("/debates/cars/turn?seq=%d", seq), fmt.Sprintf("/debates/cars/fork?at=%d", seq), "/debates/cars/past?at=1",
	} {
		page := w.get(http.StatusForbidden, path+"&seat=Jo")
		require.NotContains(t, page, "Ada", path)
		require.Contains(t, page, "Jo judges or ranks the participants under pseudonyms")
	}
	require.NotContains(t, w.post(http.StatusForbidden, "/debates/cars/forks?seat=Jo", url.Values{"at": {fmt.Sprint(seq)}, "max_rounds": {"many"}}), "Ada")
}

// Each page asks for permission to do what it does, for each debate that it shows.
func TestPagesOfThePastAskForPermission(t *testing.T) {
	var asked []string
	var refuse debatehttp.Action
	w := open(t, Options{Controls: true, Authorize: func(_ context.Context, a *debatehttp.Access) error {
		asked = append(asked, strings.TrimSpace(string(a.Action)+" "+a.Debate.ID+" "+a.Seat))
		if a.Action == refuse {
			return errors.New("no")
		}
		return nil
	}})
	d := w.run(pair("cars"))
	debatetest.Fork(t, w.engine, "cars", 3, debate.Edits{ID: "fork"})
	for path, want := range map[string][]string{
		"/debates/cars/past?seat=Bo": {"watch cars Bo"}, "/debates/cars?at=3": {"watch cars"}, "/debates/cars/judges": {"watch cars"}, "/debates/cars/fork": {"watch cars"},
		"/debates/fork/family": {"status fork", "status cars", "list", "list"}, "/debates/cars/compare?with=fork": {"watch cars", "watch fork"},
		fmt.Sprintf("/debates/cars/turn?seat=Bo&seq=%d", speechOf(t, d, "Bo").Seq): {"watch cars Bo", "prompt cars Bo"},
	} {
		asked, refuse = nil, ""
		w.get(http.StatusOK, path)
		require.Equal(t, want, asked, path)
		refuse = debatehttp.Action(strings.Fields(want[0])[0])
		w.get(http.StatusForbidden, path)
	}
	asked, refuse = nil, debatehttp.Fork
	require.Contains(t, w.post(http.StatusForbidden, "/debates/cars/forks", url.Values{"at": {"3"}}), "the action fork is not allowed")
	require.Equal(t, []string{"watch cars", "fork cars"}, asked)
}

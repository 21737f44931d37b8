package inspector

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/internal/golden"
	"github.com/elenchus-go/debate/protocol/panel"
)

// unstablePast matches what differs between two runs of a debate.
var unstablePast = regexp.MustCompile(`<time datetime="[^"]*">[^<]*</time>|<dt>Running time</dt><dd>[^<]*</dd>|<td>[0-9.]+[mµn]?s</td>|<span class="meta">\d+m?s of 1h</span><meter id="budget-time"[^>]*>[^<]*`)

var idPattern = regexp.MustCompile(` id="([^"]*)"`)

// pastPages are the pages about the past, for a debate "cars" with the fork "fork".
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
	fork, err := w.engine.Fork(t.Context(), "cars", bo.Seq, debate.Edits{ID: "fork", Config: &changed, Turn: bo.Key, Reply: "No."})
	require.NoError(t, err)
	_, err = debatetest.Run(t, fork)
	require.NoError(t, err)
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
	cfg.Participants[0].Instructions, cfg.Judges[0].Name, cfg.Participants[0].Side = evil, `Jo"><i>`, `"for'<`
	d := w.run(cfg)
	changed := configOf(t, w.engine, d)
	changed.Background = evil + evil
	_, err := w.engine.Fork(t.Context(), "cars", 3, debate.Edits{ID: "fork", Config: &changed})
	require.NoError(t, err)
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

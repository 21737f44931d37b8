package inspector

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// fork sends a form that makes a fork, and returns it.
func (w *web) fork(id string, form url.Values) *debate.Debate {
	w.t.Helper()
	res, body := w.do(http.MethodPost, "/debates/"+id+"/forks", form)
	require.Equal(w.t, http.StatusSeeOther, res.StatusCode, body)
	to := res.Header.Get("Location")
	require.True(w.t, strings.HasPrefix(to, "../"), to)
	return debatetest.Open(w.t, w.engine, path.Base(to))
}

// speechOf returns the first turn of an actor.
func speechOf(t *testing.T, d *debate.Debate, name string) transcript.Turn {
	t.Helper()
	turns := debatetest.Result(t, d).Turns
	i := slices.IndexFunc(turns, func(t transcript.Turn) bool { return t.Actor == name })
	require.GreaterOrEqual(t, i, 0)
	return turns[i]
}

// configOf returns the current configuration of a debate.
func configOf(t *testing.T, e *debate.Engine, d *debate.Debate) (cfg debate.Config) {
	t.Helper()
	for s, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if c, ok := s.Event.(debate.ConfigChanged); ok {
			cfg, err = e.ParseConfig(c.Config)
			require.NoError(t, err)
		}
	}
	return cfg
}

func TestAForkHasWhatTheFormChanges(t *testing.T) {
	w := open(t, Options{Controls: true})
	d := w.run(pair("d"))
	bo := speechOf(t, d, "Bo")
	at := fmt.Sprint(bo.Seq)
	page := w.get(http.StatusOK, "/debates/d/fork?at="+at)
	require.Contains(t, page, `<textarea name="topic" rows="2" dir="auto">Ban &lt;b&gt;cars&lt;/b&gt;?</textarea>`)
	require.Contains(t, page, `data-actor="Jo"`)

	same := w.fork("d", url.Values{"at": {at}})
	require.Equal(t, transcript.Parent{ID: "d", Seq: bo.Seq}, debatetest.Result(t, same).Parent)
	require.Equal(t, configOf(t, w.engine, d).Topic, configOf(t, w.engine, same).Topic)

	changed := w.fork("d", url.Values{
		"at": {at}, "topic": {"Ban trucks?"}, "max_rounds": {"1"}, "instructions-0": {"Be kind.\r\nBe brief."}, "instructions-2": {"Be strict."}, "prompts": {"blunt"},
	})
	cfg := configOf(t, w.engine, changed)
	require.Equal(t, "Ban trucks?", cfg.Topic)
	require.Equal(t, 1, cfg.Limits.MaxRounds)
	require.Equal(t, "Be kind.\nBe brief.", cfg.Participants[0].Instructions)
	require.Equal(t, "Be strict.", cfg.Judges[0].Instructions)
	require.Equal(t, "blunt", cfg.Prompts)
	require.Equal(t, bo.Text, speechOf(t, changed, "Bo").Text)

	edited := w.fork("d", url.Values{"at": {at}, "reply": {"No & never."}, "start": {"yes"}})
	require.Equal(t, "No & never.", speechOf(t, edited, "Bo").Text)
	require.Contains(t, speechOf(t, edited, "Bo").Flags, transcript.Edited)
	for ev, err := range edited.Watch(t.Context(), 0) { // the form has started it
		require.NoError(t, err)
		if _, ok := ev.(debate.Ended); ok {
			break
		}
	}
	require.Contains(t, w.get(http.StatusOK, fmt.Sprintf("/debates/%s/turn?seq=%d", edited.ID(), speechOf(t, edited, "Bo").Seq)),
		"given by a person in this fork")
}

// The form of a turn that nobody changes makes a fork without an edited turn, also of a structured reply.
func TestAFormWithoutChangesEditsNothing(t *testing.T) {
	w := open(t, Options{Controls: true})
	d := w.run(pair("d"))
	for _, turn := range debatetest.Result(t, d).Turns {
		cfg := configOf(t, w.engine, d)
		form := url.Values{"at": {fmt.Sprint(turn.Seq)}, "reply": {strings.ReplaceAll(replyText(&turn), "\n", "\r\n")}, "topic": {cfg.Topic}, "background": {cfg.Background}, "max_rounds": {fmt.Sprint(cfg.Limits.MaxRounds)}}
		for i, p := range actorsIn(&cfg) {
			form[fmt.Sprint("model-", i)] = []string{p.Model}
			form[fmt.Sprint("provider-", i)] = []string{p.Provider}
			form[fmt.Sprint("instructions-", i)] = []string{p.Instructions}
		}
		fork := w.fork("d", form)
		for s, err := range fork.Replay(t.Context()) {
			require.NoError(t, err)
			if done, ok := s.Event.(debate.TurnDone); ok {
				require.NotContains(t, done.Turn.Flags, transcript.Edited)
			}
		}
		require.Equal(t, cfg.Topic, configOf(t, w.engine, fork).Topic)
	}
}

func TestARefusedForkKeepsTheForm(t *testing.T) {
	w := open(t, Options{Controls: true})
	d := w.run(pair("d"))
	at := fmt.Sprint(speechOf(t, d, "Jo").Seq)
	for _, c := range []struct {
		form  url.Values
		wrong string
	}{
		{url.Values{"max_rounds": {"many"}}, "max_rounds: &#34;many&#34; is not a number"},
		{url.Values{"max_rounds": {"-1"}}, "limits.max_rounds"},
		{url.Values{"reply": {`{"quality": 11}`}}, "quality"},
		{url.Values{"reply": {""}}, "reply: it is blank"},
	} {
		c.form.Set("at", at)
		c.form.Set("topic", "My <own> topic")
		res, page := w.do(http.MethodPost, "/debates/d/forks", c.form)
		require.GreaterOrEqual(t, res.StatusCode, 400)
		require.Contains(t, page, `id="refused"`)
		require.Contains(t, page, c.wrong)
		require.Contains(t, page, "My &lt;own&gt; topic</textarea>")
		if c.form.Has("reply") {
			require.Contains(t, page, `rows="8" dir="auto">`+html.EscapeString(c.form.Get("reply"))+"</textarea>")
		}
	}
	require.Contains(t, w.post(http.StatusBadRequest, "/debates/d/forks", url.Values{"at": {"x"}}), "is not the number of an entry")
	require.Len(t, debatetest.List(t, w.engine, store.Query{}), 1, "nothing was made")
}

func TestForksNeedControlsAndPermission(t *testing.T) {
	w := open(t, Options{})
	w.create(pair("d"))
	require.NotContains(t, w.get(http.StatusOK, "/debates/d/past"), "fork-here")
	w.get(http.StatusForbidden, "/debates/d/fork")
	w.post(http.StatusForbidden, "/debates/d/forks", url.Values{"at": {"1"}})

	w = open(t, Options{Controls: true, Authorize: func(_ context.Context, a *debatehttp.Access) error {
		if a.Action == debatehttp.Fork {
			return store.ErrNotFound
		}
		return nil
	}})
	w.create(pair("d"))
	w.post(http.StatusNotFound, "/debates/d/forks", url.Values{"at": {"1"}})
	res, _ := w.do(http.MethodPost, "/debates/d/forks", url.Values{"at": {"1"}}, "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, res.StatusCode)
}

func TestTheFamilyIsATree(t *testing.T) {
	w := open(t, Options{Controls: true})
	d := w.run(pair("d"))
	at := fmt.Sprint(speechOf(t, d, "Ada").Seq)
	child := w.fork("d", url.Values{"at": {at}, "topic": {"Ban trucks?"}}).ID()
	grandchild := w.fork(child, url.Values{"at": {"3"}}).ID()
	other := w.fork("d", url.Values{"at": {"2"}}).ID()
	for _, from := range []string{"d", child, grandchild, other} {
		page := w.get(http.StatusOK, "/debates/"+from+"/family")
		tree := treeOf(page)
		require.Equal(t, "d("+child+"("+grandchild+")"+other+")", tree, "from %s", from)
		require.Equal(t, 1, strings.Count(page, `<b aria-current="true"`))
		require.Contains(t, page, "4 debates.")
	}
	require.NoError(t, w.engine.Delete(t.Context(), "d"))
	page := w.get(http.StatusOK, "/debates/"+grandchild+"/family")
	require.Equal(t, child+"("+grandchild+")", treeOf(page))
	require.Contains(t, page, "was deleted, or you may not see it")
}

// treeOf returns the ids of a tree with those in it in parentheses.
func treeOf(page string) string {
	var b strings.Builder
	_, tree, _ := strings.Cut(page, `id="family">`)
	tree, _, _ = strings.Cut(tree, "<form")
	for part := range strings.SplitSeq(tree, "<") {
		switch {
		case strings.HasPrefix(part, "ul"):
			b.WriteString("(")
		case strings.HasPrefix(part, "/ul"):
			b.WriteString(")")
		case strings.HasPrefix(part, `li data-debate="`):
			id, _, _ := strings.Cut(strings.TrimPrefix(part, `li data-debate="`), `"`)
			b.WriteString(id)
		}
	}
	return strings.TrimSuffix(b.String(), ")")
}

// Visitors see only those of a family that they may see.
func TestAFamilyHidesWhatIsNotTheirs(t *testing.T) {
	w := open(t, Options{Controls: true, Authorize: debatehttp.OwnersOnly("owner"), Principal: func(r *http.Request) (string, error) { return r.Header.Get("User"), nil }})
	mine, theirs := pair("mine"), pair("theirs")
	mine.Labels, theirs.Labels = map[string]string{"owner": "ada"}, map[string]string{"owner": "bo"}
	w.create(mine)
	w.create(theirs)
	for id, owner := range map[string]string{"fork": "bo", "own": "ada"} {
		debatetest.Fork(t, w.engine, "mine", 1, debate.Edits{ID: id, Labels: map[string]string{"owner": owner}})
	}
	require.Equal(t, "mine(own)", treeOf(w.get(http.StatusOK, "/debates/mine/family", "User", "ada")))
	page := w.get(http.StatusOK, "/debates/fork/family", "User", "bo")
	require.Equal(t, "fork", treeOf(page))
	require.NotContains(t, page, `data-debate="mine"`)
	w.get(http.StatusNotFound, "/debates/mine/compare?with=theirs", "User", "ada")
	w.get(http.StatusNotFound, "/debates/mine/compare?with=theirs", "User", "bo")
}

func TestTwoDebatesSideBySide(t *testing.T) {
	w := open(t, Options{Controls: true})
	cfg := pair("d")
	cfg.Judges[0].Instructions = "Be <strict>."
	d := w.run(cfg)
	bo := speechOf(t, d, "Bo")
	fork := w.fork("d", url.Values{"at": {fmt.Sprint(bo.Seq)}, "reply": {"No & never."}, "instructions-2": {"Be lenient."}})
	debatetest.Finish(t, fork)
	page := w.get(http.StatusOK, "/debates/d/compare?with="+fork.ID())
	require.Contains(t, page, `id="common" data-turns="1"`)
	require.Contains(t, page, `<tr data-field="judges[0].instructions"><th scope="row">judges[0].instructions</th><td dir="auto">Be &lt;strict&gt;.</td><td dir="auto">Be lenient.</td></tr>`)
	require.NotContains(t, page, `data-field="topic"`)
	_, first, _ := strings.Cut(page, `id="round-1"`)
	left, right, _ := strings.Cut(first, `data-side="right"`)
	right, _, _ = strings.Cut(right, "</section>")
	require.NotContains(t, left, "No &amp; never.")
	require.Contains(t, right, "No &amp; never.")
	require.Contains(t, left, fmt.Sprintf(`data-debate="d" data-seq="%d"`, bo.Seq))
	a, b := debatetest.Result(t, d), debatetest.Result(t, fork)
	require.Contains(t, page, fmt.Sprintf(`<tr data-figure="Tokens of replies" class="differ"><th scope="row">Tokens of replies</th><td dir="auto">%s</td><td dir="auto">%s</td>`,
		outcome.Thousands(a.Total.Usage.Output), outcome.Thousands(b.Total.Usage.Output)))
	require.Contains(t, page, `id="round-2"`)
	require.Contains(t, page, `id="conclusion"`)

	copied := w.fork("d", url.Values{"at": {"0"}})
	page = w.get(http.StatusOK, "/debates/d/compare?with="+copied.ID())
	require.Contains(t, page, `id="same"`)
	require.Contains(t, page, `id="same-config"`)
	require.NotContains(t, page, "differ")
	w.get(http.StatusNotFound, "/debates/d/compare?with=none")
	page = w.get(http.StatusOK, "/debates/d/compare?from=round-99&with="+fork.ID())
	require.Contains(t, page, `id="round-1"`, "there is no round 99")
	require.NotContains(t, page, `id="same"`)
	w.get(http.StatusBadRequest, "/debates/d/compare")
}

// Every turn of both debates is on one of the pages, once, and every page is small.
func TestLongDebatesSideBySideArePaged(t *testing.T) {
	w := open(t, Options{})
	a := pair("a")
	a.Limits = debate.Limits{MinRounds: 25, MaxRounds: 25}
	b := a
	b.ID, b.Topic = "b", "Ban trucks?"
	turns := len(debatetest.Result(t, w.run(a)).Turns) + len(debatetest.Result(t, w.run(b)).Turns)
	seen, pages := map[string]bool{}, 0
	for from := ""; ; pages++ {
		page := w.get(http.StatusOK, "/debates/a/compare?with=b&from="+from)
		require.Less(t, len(page), 60_000)
		for _, part := range strings.Split(page, `<article class="turn `)[1:] {
			_, key, _ := strings.Cut(part, "data-debate=")
			key, _, _ = strings.Cut(key, ">")
			require.False(t, seen[key], key)
			seen[key] = true
		}
		_, next, more := strings.Cut(page, `id="more"`)
		if !more {
			break
		}
		_, next, _ = strings.Cut(next, "from=")
		from, _, _ = strings.Cut(next, "&")
	}
	require.Len(t, seen, turns)
	require.Greater(t, pages, 1)
}

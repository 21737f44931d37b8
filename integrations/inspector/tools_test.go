package inspector

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/toolviewtest"
)

// The page shows a call that waits for a person with its whole arguments. The person can refuse it with a reason. Later pages show
// what each call found, and none has anything of a private document.
func TestPagesShowCallsOfTools(t *testing.T) {
	engine, _ := toolviewtest.Engine(t)
	w := serve(t, engine, Options{Controls: true})
	d, q := toolviewtest.Waiting(t, engine)
	page := w.get(http.StatusOK, "/debates/d")
	toolviewtest.RequireSafe(t, page, maxWeight, "Ada wants to call the tool order with these arguments:\n{\n", toolviewtest.Ordered, "Refuse</b>")
	require.NotContains(t, page, "<script>alert")
	w.requireLight("/debates/d")
	toolviewtest.RequireSafe(t, w.get(http.StatusOK, "/inbox"), maxWeight, "Ada wants to call the tool order")
	w.post(http.StatusSeeOther, "/debates/d/decisions", url.Values{"question": {q.ID}, "action": {"refuse"}, "text": {toolviewtest.Reason}, "from": {"Pat"}})
	toolviewtest.Run(t, d)

	var everything strings.Builder
	r := debatetest.Result(t, d)
	status := debatetest.Status(t, d)
	for seq := int64(1); seq <= status.Seq; seq++ {
		page := w.get(http.StatusOK, fmt.Sprintf("/debates/d/past?at=%d", seq))
		require.Contains(t, page, fmt.Sprintf("%d of %d", seq, status.Seq))
		everything.WriteString(page)
	}
	calls := map[string]int{}
	for _, turn := range r.Turns {
		page := w.get(http.StatusOK, fmt.Sprintf("/debates/d/turn?seq=%d", turn.Seq))
		w.requireLight(fmt.Sprintf("/debates/d/turn?seq=%d", turn.Seq))
		_, list, _ := strings.Cut(page, `<ul id="calls">`)
		list, _, _ = strings.Cut(list, "</ul>")
		calls[turn.Actor] += strings.Count(list, "<li")
		if turn.Actor == "Ada" {
			for _, text := range []string{toolviewtest.Asked, toolviewtest.Found, "failed (unknown_tool)", "failed (disapproved): A person refused this call: " + toolviewtest.Reason, "Source: Title"} {
				require.Contains(t, list, text)
			}
			_, cited, _ := strings.Cut(page, `<ul id="citations">`)
			cited, _, _ = strings.Cut(cited, "</ul>")
			for _, text := range append(toolviewtest.Checked, "Not found: “the &lt;b&gt;tenant&lt;/b&gt; never [31mpays”, because there is no source [9].", "Cites [3] Title") {
				require.Contains(t, cited, text)
			}
			_, prompt, _ := strings.Cut(page, `<ol id="prompt"`)
			require.Contains(t, prompt, "no[31m &lt;b&gt;such&lt;/b&gt; tool", "the prompt has the calls")
		}
		everything.WriteString(page)
	}
	require.Equal(t, map[string]int{"Ada": 3, "Bo": 0, "J": 4}, calls)
	page = w.get(http.StatusOK, "/debates/d")
	for _, text := range []string{`<li dir="auto">[2] rules, cited by Ada; rightly quoted by Ada; wrongly quoted by Ada; answered by nobody</li>`, "[3] Title", " · 1 quote verified, 1 altered, 1 not found · ", "“the quoted-58b1 is paid” [2]"} {
		require.Contains(t, page, text)
	}
	w.requireLight("/debates/d")
	everything.WriteString(page)
	toolviewtest.RequireSafe(t, everything.String(), 4<<20, "Ada calls tools, round 1 of the step", toolviewtest.Found, toolviewtest.Reason)
	require.NotContains(t, everything.String(), "<script>alert")
	require.NotContains(t, everything.String(), "<b>such")
}

// A blind judge cannot tell from a question who calls a tool.
func TestABlindJudgeSeesNoCalls(t *testing.T) {
	r := withoutNames(&debate.Result{Question: &debate.Question{Cause: "Ada wants to call the tool order", Call: nil}})
	require.NotNil(t, r.Question)
	engine, _ := toolviewtest.Engine(t)
	_, q := toolviewtest.Waiting(t, engine)
	require.Nil(t, withoutNames(&debate.Result{Question: q}).Question)
}

// A page has room for some sources only.
func TestManySources(t *testing.T) {
	var list []evidence.Source
	for n := range 2000 {
		list = append(list, evidence.Source{Number: n + 1, Name: strings.Repeat("<", 300), CitedBy: []string{"Ada"}[:n%2]})
		if n%2 == 0 {
			list[n].CitedBy = nil
		}
	}
	lines, more, size := sourceLines(list)
	require.Equal(t, 2000, len(lines)+more)
	require.LessOrEqual(t, size, maxSources)
	require.GreaterOrEqual(t, len(lines), 4)
	require.True(t, strings.HasPrefix(lines[0], "[2] <<<"))
	require.True(t, strings.HasSuffix(lines[0], "<…, cited by Ada"))
}

package debatehttp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/toolviewtest"
)

// A client follows calls of tools, sees the whole arguments of one that waits for a person, and refuses it with a reason. Each
// response follows the OpenAPI document, and none has anything of a private document.
func TestCallsOfToolsOverHTTP(t *testing.T) {
	engine, _ := toolviewtest.Engine(t)
	h, err := New(engine, allowing())
	require.NoError(t, err)
	s := &site{t: t, engine: engine, Server: httptest.NewServer(h)}
	t.Cleanup(s.shut)
	d, q := toolviewtest.Waiting(t, engine)

	r := parsed[struct{ Question debate.Question }](t, s.wants(http.StatusOK, http.MethodGet, "/debates/d/result", "")).Question
	require.Equal(t, q.ID, r.ID)
	require.Contains(t, string(r.Call.Arguments), toolviewtest.Ordered)
	require.Equal(t, q.String(), r.String(), "a client in Go shows the same")
	s.refuses("invalid", http.MethodPost, "/debates/d/decisions", fmt.Sprintf(`{"question": %q, "action": "approve", "remark": {"from": "Pat", "text": "Yes."}}`, q.ID))
	s.posts(http.StatusNoContent, "/debates/d/decisions", fmt.Sprintf(`{"question": %q, "action": "refuse", "remark": {"from": "Pat", "text": %q}}`, q.ID, toolviewtest.Reason))
	toolviewtest.Run(t, d)

	var everything strings.Builder
	for path, wanted := range map[string][]string{
		"/debates/d/events":                 {"event: tools\n", toolviewtest.Asked, toolviewtest.Found, toolviewtest.Ordered, toolviewtest.Reason},
		"/debates/d/events?seat=Bo":         {"event: tools\n", toolviewtest.Asked, toolviewtest.Found},
		"/debates/d/report":                 {toolviewtest.Asked, toolviewtest.Found},
		"/debates/d/report?format=html":     {"Calls of tools", toolviewtest.Asked, toolviewtest.Found},
		"/debates/d/report?format=markdown": {"Calls of tools", toolviewtest.Asked, toolviewtest.Found},
		"/debates/d/report?full=true":       {toolviewtest.Asked, toolviewtest.Found},
		"/debates/d/result":                 {"Ada says that it is so."},
		"/debates/d":                        {`"completed"`},
		"/debates/d/prompts?run=1&round=1&phase=respond&actor=Ada": {toolviewtest.Asked, toolviewtest.Found, toolviewtest.Reason},
		"/debates/d/prompts?run=1&round=1&phase=respond&actor=Bo":  {"[document contract (24 bytes)]"},
	} {
		_, _, text := s.do(http.MethodGet, path, "")
		for _, want := range wanted {
			require.Contains(t, text, want, path)
		}
		everything.WriteString(text)
	}
	require.NotContains(t, everything.String(), toolviewtest.Secret)
	require.NotContains(t, everything.String(), "\x1b")

	var rounds []string
	for ev, err := range clientOf(s).Watch(t.Context(), "d", "", 0) {
		require.NoError(t, err)
		if round, ok := ev.(debate.ToolsCalled); ok {
			rounds = append(rounds, round.Key.Actor)
		}
	}
	require.Equal(t, []string{"Ada", "Ada", "Ada", "J", "J"}, rounds)
}

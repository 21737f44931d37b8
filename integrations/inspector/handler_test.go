package inspector

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
)

func TestPagesAreSafe(t *testing.T) {
	w := open(t, Options{Controls: true})
	w.run(pair("cars"))
	for _, path := range []string{"/", "/inbox", "/debates/cars", "/debates/nosuch", "/assets/app.js", "/assets/style.css", "/assets/icon.svg", "/elsewhere"} {
		res, body := w.do(http.MethodGet, path, nil)
		require.Equal(t, policy, res.Header.Get("Content-Security-Policy"), path)
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"), path)
		if !strings.HasPrefix(path, "/assets/") {
			require.NotContains(t, body, "<b>cars", path)
			require.NotContains(t, body, "style=", path)
			require.NotContains(t, body, "<script>", path)
			require.Regexp(t, `<!DOCTYPE html>`, body, path)
		}
	}
	require.Contains(t, w.get(http.StatusOK, "/debates/cars"), "Ban &lt;b&gt;cars&lt;/b&gt;?")
}

func TestTheInspectorIsReadOnly(t *testing.T) {
	w := open(t, Options{})
	d := w.create(pair("cars"))
	for name := range forms {
		require.Contains(t, w.post(http.StatusForbidden, "/debates/cars/"+name, url.Values{"key": {"{}"}, "reply": {""}, "name": {"n"}}, "Accept", "application/json"), "read-only", name)
	}
	for _, path := range []string{"/api/debates", "/api/debates/cars/start", "/api/debates/cars/remarks", "/api/v1/chat/completions"} {
		req := `{"topic": "t", "participants": [{"name": "A"}, {"name": "B"}], "judges": [{"name": "J"}], "from": "me", "text": "hm"}`
		res, err := http.Post(w.server.URL+prefix+path, "application/json", strings.NewReader(req)) //nolint:noctx // the server is local
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.GreaterOrEqual(t, res.StatusCode, http.StatusBadRequest, path)
	}
	s := debatetest.Status(t, d)
	require.EqualValues(t, 1, s.Seq, "nothing has changed")
	page := w.get(http.StatusOK, "/debates/cars")
	require.Contains(t, page, "read-only")
	require.NotContains(t, page, `method="post"`)
}

func TestAControlReturnsToThePage(t *testing.T) {
	w := open(t, Options{Controls: true})
	d := w.create(pair("cars"))
	res, _ := w.do(http.MethodPost, "/debates/cars/cancel", url.Values{})
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	require.Equal(t, "../cars", res.Header.Get("Location"))
	s := debatetest.Status(t, d)
	require.Equal(t, fsm.Canceled, s.State)
	require.Contains(t, w.post(http.StatusConflict, "/debates/cars/pause", nil), "already canceled")
	require.Contains(t, w.post(http.StatusForbidden, "/debates/cars/pause", nil, "Sec-Fetch-Site", "cross-site"), "Another site sent this request")
}

package clienttest

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatehttp"
)

// newHTTPSite starts package debatehttp.
func newHTTPSite(t *testing.T) *site {
	return newSite(t, func(e *debate.Engine, presets map[string]debate.Config) http.Handler {
		h, err := debatehttp.New(e, debatehttp.Options{Authorize: debatehttp.AllowEveryone, Presets: presets, Heartbeat: 3 * time.Second})
		require.NoError(t, err)
		return h
	})
}

func TestHTTP(t *testing.T) {
	for _, script := range []string{"openai.mjs", "eventsource.mjs", "openapi.mjs"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			runScript(t, script, "DEBATE_URL="+newHTTPSite(t).URL)
		})
	}
}

// The clients in Go are a module of its own. It is copied, because the generator writes into it.
func TestClientsInGo(t *testing.T) {
	s := newHTTPSite(t)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/goclients")))
	document, err := http.Get(s.URL + "/openapi.json") //nolint:noctx // the server is local
	require.NoError(t, err)
	defer document.Body.Close()
	text, err := io.ReadAll(document.Body)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "api", "openapi.json"), text, 0o600))
	environment := []string{"GOWORK=off", "DEBATE_URL=" + s.URL}
	runProgram(t, dir, environment, "go", "generate", "./api")
	runProgram(t, dir, environment, "go", "run", ".")
}

// The example in JavaScript prints the speeches and the answer.
func TestExampleInJavaScript(t *testing.T) {
	address := startExample(t, "http")
	output := runProgram(t, "../../examples/http", []string{"SERVICE=" + address}, "node", "client.mjs", "Ban cars?")
	for _, said := range []string{"Ada: My answer is yes. ", "Bo: ", "On the topic “Ban cars?”"} {
		require.Contains(t, output, said)
	}
	require.Equal(t, 1, strings.Count(output, "Ada: My answer is yes. "), output)
}

package clients

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
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

// OpenAI's client, and the client that a generator makes of the API's document, in Go. The program is built with the generated
// file as an overlay, so that nothing is written here.
func TestClientsInGo(t *testing.T) {
	s := newHTTPSite(t)
	dir := t.TempDir()
	document, err := http.Get(s.URL + "/openapi.json") //nolint:noctx // the server is local
	require.NoError(t, err)
	defer document.Body.Close()
	text, err := io.ReadAll(document.Body)
	require.NoError(t, err)
	described := filepath.Join(dir, "openapi.json")
	generated := filepath.Join(dir, "client.go")
	overlay := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(described, text, 0o600))
	runProgram(t, ".", nil, "go", "tool", "oapi-codegen", "-package", "api", "-generate", "types,client", "-o", generated, described)
	place, err := filepath.Abs("testdata/goclient/api/client.go")
	require.NoError(t, err)
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{place: generated}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, replaced, 0o600))
	runProgram(t, ".", []string{"DEBATE_URL=" + s.URL}, "go", "run", "-overlay", overlay, "./testdata/goclient")
}

// The example in JavaScript prints the speeches and the answer.
func TestExampleInJavaScript(t *testing.T) {
	address := startExample(t, "http")
	output := runProgram(t, "../../../examples/http", []string{"SERVICE=" + address}, "node", "client.mjs", "Ban cars?")
	for _, said := range []string{"Ada: My answer is yes, ", "Bo: ", "On the topic “Ban cars?”"} {
		require.Contains(t, output, said)
	}
	require.Equal(t, 1, strings.Count(output, "Ada: My answer is yes, "), output)
}

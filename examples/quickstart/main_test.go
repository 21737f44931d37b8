package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/report/printer"
)

const topic = "Should cities ban private cars?"

// environment returns an environment with only these variables.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// start runs the program without a terminal.
func start(t *testing.T, env func(string) string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress bytes.Buffer
	code = run(t.Context(), args, &out, &progress, env)
	return code, out.String(), progress.String()
}

// screen is a terminal.
type screen struct {
	bytes.Buffer
	wrote func(string)
}

func (s *screen) Write(b []byte) (int, error) {
	if s.wrote != nil {
		s.wrote(string(b))
	}
	return s.Buffer.Write(b)
}

func (*screen) Stat() (fs.FileInfo, error) { return device{}, nil }

type device struct{ fs.FileInfo }

func (device) Mode() fs.FileMode { return fs.ModeDevice | fs.ModeCharDevice }

// With the offline demo model, a debate has three rounds. Its progress goes to stderr, and only its verdict to stdout.
func TestOffline(t *testing.T) {
	code, stdout, stderr := start(t, environment(), topic)

	require.Equal(t, 0, code, stderr)
	require.True(t, strings.HasPrefix(stdout, topic+"\nended in round 3: judge_decided\nwinner: Ada\n"), stdout)
	for _, want := range []string{"offline demo model", "\nAda:\n- ", "\nBo:\n- "} {
		require.Contains(t, stdout, want)
	}
	require.NotContains(t, stdout, "round 1 of 3")

	require.True(t, strings.HasPrefix(stderr, "No API key found; using the offline demo model (set "), stderr)
	for _, want := range []string{
		"\n\nAda · respond · ", "  My answer is yes,", "== round 1 of 3 ==", "== round 2 of 3 ==", "== round 3 of 3 ==",
		"\nBo · respond · ", "  Ada says “", "\nJudge · assess · ", "  In round 2, ", "\nJudge · verdict · ",
	} {
		require.Contains(t, stderr, want)
	}
	require.Equal(t, 1, strings.Count(stderr, "warning"))
	require.Contains(t, stderr, "warning: judge Judge uses the same model as Ada and Bo")
	for _, never := range []string{"winner", "failed", "{"} {
		require.NotContains(t, stderr, never)
	}
}

// The demo model's speeches depend on the topic and on earlier speeches.
func TestOfflineReadsTheTopicAndTheTurns(t *testing.T) {
	_, _, cars := start(t, environment(), topic)
	_, _, tea := start(t, environment(), "Tea", "or", "coffee?") // quotes around a topic are easily forgotten

	for _, word := range []string{"cities", "private", "cars"} {
		require.Contains(t, cars, "“"+word+"”")
		require.NotContains(t, tea, word)
	}
	require.Contains(t, tea, "“coffee”")
	require.Contains(t, cars, "Ada argues “Few who have gained in health want to go back”")

	_, stdout, short := start(t, environment(), "人?")
	require.Contains(t, short, "“the topic”")
	require.Contains(t, stdout, "人?")
}

// On a terminal, speeches appear word by word. The judge's JSON never appears.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stdout bytes.Buffer
		var writes []string
		stderr := &screen{wrote: func(s string) { writes = append(writes, s) }}
		began := time.Now()
		require.Equal(t, 0, run(t.Context(), []string{topic}, &stdout, stderr, environment()))

		require.Contains(t, stdout.String(), "winner: Ada")
		require.Equal(t, 10*time.Second, time.Since(began), "a second for each of 6 speeches, 3 assessments and the verdict")
		require.Greater(t, len(writes), 6*40)
		require.NotContains(t, stderr.String(), "{")

		_, _, plain := start(t, environment(), topic)
		details := regexp.MustCompile(` · \d+ tokens, [\d.]+s\n`) // nobody knows them while a reply streams
		require.Equal(t, details.ReplaceAllString(plain, "\n"), details.ReplaceAllString(stderr.String(), "\n"), "the final output is the same")
	})
}

// The first Ctrl-C ends the context. The call in flight is canceled, and the message counts the completed turns.
func TestCtrlCCancelsTheDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		var stdout bytes.Buffer
		stderr := &screen{wrote: func(s string) {
			if strings.Contains(s, "Bo · respond") {
				interrupt()
			}
		}}
		began := time.Now()
		require.Equal(t, 130, run(ctx, []string{topic}, &stdout, stderr, environment()))

		require.Empty(t, stdout.String())
		require.Regexp(t, `Ada · respond\n  My answer is yes,`, stderr.String())
		require.True(t, strings.HasSuffix(stderr.String(), "\ncanceled; completed turns: 1\n"), stderr.String())
		require.Less(t, time.Since(began), 2*time.Second, "Bo's reply is not awaited")
	})
}

func TestCtrlCBeforeTheFirstTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		var stdout bytes.Buffer
		var stderr screen
		require.Equal(t, 130, run(ctx, []string{topic}, &stdout, &stderr, environment()))

		require.Empty(t, stdout.String())
		require.Contains(t, stderr.String(), "canceled; completed turns: 0\n")
	})
}

func TestWithoutATopic(t *testing.T) {
	for _, args := range [][]string{nil, {""}, {" ", "\n"}} {
		code, stdout, stderr := start(t, environment(), args...)
		require.Equal(t, 0, code, stderr)
		require.Contains(t, stdout, "Should cities ban private cars?\nended in round 3: ")
	}
	code, stdout, stderr := start(t, environment(), "-help")
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	require.Equal(t, "usage: quickstart [\"topic\"]\n", stderr)
}

const hostile = "Cars\x1b[2J\x1b]0;owned\x07 or\r\n\tbikes\u009b31m\u202e\xff?"

func requirePrintable(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		require.False(t, unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r), "%U in %q", r, text)
	}
}

func TestNoTopicCommandsTheTerminal(t *testing.T) {
	code, stdout, stderr := start(t, environment(), hostile)
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "Cars[2J]0;owned or\n\tbikes31m\ufffd?\n")
	requirePrintable(t, stdout)
	requirePrintable(t, stderr)
}

// service is a server with OpenAI's protocol. Its replies are what say returns for the last message of a prompt.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	asks []ask
}

// ask is a request to it.
type ask struct {
	key         string
	Model       string
	Stream      bool
	Temperature float64
	Messages    []struct{ Role, Content string }
}

func serve(t *testing.T, say func(task string) string) *service {
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := ask{key: r.Header.Get("Authorization")}
		if r.URL.Path != "/v1/chat/completions" || json.NewDecoder(r.Body).Decode(&a) != nil {
			http.Error(w, "no such thing", http.StatusNotFound)
			return
		}
		s.mu.Lock()
		s.asks = append(s.asks, a)
		s.mu.Unlock()
		stream(w, say(a.Messages[len(a.Messages)-1].Content))
	}))
	t.Cleanup(s.Close)
	return s
}

// stream sends a text word by word.
func stream(w io.Writer, text string) {
	for word := range strings.SplitAfterSeq(text, " ") {
		content, _ := json.Marshal(word)
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", content)
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

const marks = `[{"criterion": "logical_consistency", "score": 5}, {"criterion": "evidence", "score": 5},
	{"criterion": "engagement", "score": 5}, {"criterion": "novelty", "score": 5}, {"criterion": "persuasiveness", "score": 5},
	{"criterion": "relevance", "score": 5}]`

// say returns a fixed reply for each kind of task.
func say(task string) string {
	switch {
	case strings.Contains(task, "Give your verdict"):
		return `{"summary": "It was close.\u001b[2J", "winner": "Bo", "quality": 70, "participants": [{"name": "Bo", "points": ["Buses\u0007 are late."]}]}`
	case strings.Contains(task, "Assess Debater A and Debater B"):
		return `{"participants": [{"name": "Ada", "criteria": ` + marks + `}, {"name": "Bo", "criteria": ` + marks + `}], "quality": 5, "converged": true, "should_continue": true}`
	}
	return "Buses are late.\x1b[31m"
}

func (s *service) environment() func(string) string {
	return environment("OPENAI_API_KEY", "sk-secret-0123456789", "OPENAI_BASE_URL", s.URL+"/v1", "OPENAI_MODEL", "tiny")
}

func TestAnOpenAICompatibleServer(t *testing.T) {
	s := serve(t, say)
	var stdout bytes.Buffer
	var stderr screen
	require.Equal(t, 0, run(t.Context(), []string{topic}, &stdout, &stderr, s.environment()), stderr.String())

	require.Equal(t, topic+"\nended in round 1: converged\nwinner: Bo\n\nIt was close.[2J\n\nBo:\n- Buses are late.\n", stdout.String())
	require.True(t, strings.HasPrefix(stderr.String(), "model: tiny\n"))
	require.Regexp(t, `Bo · respond\n  Buses are late\.\[31m\n`, stderr.String())
	requirePrintable(t, stderr.String())
	require.Len(t, s.asks, 4)
	for _, a := range s.asks {
		require.Equal(t, "tiny", a.Model)
		require.Equal(t, "Bearer sk-secret-0123456789", a.key)
		require.True(t, a.Stream)
		require.Contains(t, a.Messages[0].Content, topic)
	}
	require.InDelta(t, 0.7, s.asks[0].Temperature, 1e-9)
	require.InDelta(t, 0.2, s.asks[3].Temperature, 1e-9)
}

// A call to a server that hangs is canceled, too.
func TestCtrlCWhileAServerHangs(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	left := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		interrupt()
		<-r.Context().Done()
		close(left)
	}))
	defer server.Close()
	var stdout, stderr bytes.Buffer
	require.Equal(t, 130, run(ctx, []string{topic}, &stdout, &stderr, (&service{Server: server}).environment()))

	require.Contains(t, stderr.String(), "canceled; completed turns: 0\n")
	<-left
}

func TestARefusedKey(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided: sk-secret-0123456789\u001b[2J"}}`)
	}))
	defer server.Close()
	code, stdout, stderr := start(t, (&service{Server: server}).environment(), topic)

	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "\nquickstart: check configuration: participants[0].provider: provider model: authentication: ", "before the first turn")
	require.NotContains(t, stderr, "secret")
	requirePrintable(t, stderr)
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/progress")
	require.NoError(t, err)
	defer f.Close()
	require.False(t, printer.IsTerminal(f))
	require.True(t, printer.IsTerminal(&screen{}))
	require.False(t, printer.IsTerminal(&bytes.Buffer{}))
}

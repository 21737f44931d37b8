//go:build unix

package acp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/acp"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/report/printer"
	"github.com/elenchus-go/debate/transcript"
)

// generate returns the response of an agent that behaves in some way.
func generate(t *testing.T, behavior string) providers.Response {
	t.Helper()
	return calltest.Generate(t, open(t, behaving(t, behavior)), calltest.Ask())
}

// Each call has a session of its own, in one process, and the agent gets the whole prompt.
func TestEachCallIsASessionOfOneProcess(t *testing.T) {
	p := open(t, behaving(t, "prompt"))
	r := providers.Request{Messages: []providers.Message{
		{Role: providers.System, Text: "You argue."},
		{Role: providers.User, Text: "Why?"},
		{Role: providers.Assistant, Text: "So."},
		{Role: providers.User, Text: "Why so?"},
	}}
	pid, said, _ := strings.Cut(calltest.Generate(t, p, r).Text, " ")
	require.Equal(t, "s1: You argue.\n\nWhy?\n\n[Your earlier reply]\nSo.\n[End of your earlier reply]\n\nWhy so?", said)
	require.Equal(t, pid+" s2: Why?", calltest.Generate(t, p, calltest.Ask()).Text)
}

// What an agent has looked at, thought and cost is in the response. What it says before it uses a tool is no part of the reply.
func TestWhatAnAgentReads(t *testing.T) {
	res := generate(t, "reads")
	require.Equal(t, "The limit is 40.", res.Text)
	require.Equal(t, "Where is it?", res.Parts[0].Reasoning.Text)
	require.Equal(t, []transcript.Access{
		{Kind: "read", Title: "Read limits.go", Places: []transcript.Place{{Path: "pkg/limits.go", Line: 12}}},
		{Kind: "edit", Title: "Write notes", Places: []transcript.Place{{Path: "/etc/notes"}}, Failed: true},
	}, res.Read)
	require.Equal(t, 0.25, res.Usage.Cost)
	require.Equal(t, "small", res.Model)
}

// Messages stream after their first bytes. An error of the caller ends the call, and the agent goes on with the next one.
func TestLongMessagesStream(t *testing.T) {
	p := open(t, behaving(t, "many pieces"))
	var heard []string
	res := calltest.Generate(t, p, calltest.Listen(&heard))
	require.Greater(t, len(heard), 1000)
	require.Equal(t, res.Text, strings.Join(heard, ""))
	stop := errors.New("enough")
	r := calltest.Ask()
	r.OnChunk = func(string) error { return stop }
	_, err := p.Generate(t.Context(), r)
	require.ErrorIs(t, err, stop)
	require.Equal(t, res.Text, calltest.Generate(t, p, calltest.Ask()).Text)
}

// All that an agent has said before it exits is part of the reply.
func TestTheLastWordsOfAnAgentAreKept(t *testing.T) {
	p := open(t, behaving(t, "exits after many pieces"))
	for range 5 {
		_, err := p.Generate(t.Context(), calltest.Ask())
		failed := calltest.RequireKind(t, providers.Network, err)
		require.Len(t, strings.Fields(failed.Partial.Text), 400)
	}
}

func TestNoticesAreWarnings(t *testing.T) {
	res := generate(t, "warns")
	require.Equal(t, "So.", res.Text)
	require.Equal(t, []string{"Warning: the model is unknown."}, res.Warnings)
	require.Equal(t, "Warning: do not do this.", generate(t, "begins with a warning").Text)
}

// Mode, model and effort are set before the prompt. The efforts are those of the model, and the nearest one is chosen.
func TestSettingsReachTheAgent(t *testing.T) {
	for name, test := range map[string]struct {
		mode, model, reasoning, want, warning string
	}{
		"none":              {want: ""},
		"mode":              {mode: "plan", want: "plan"},
		"the same":          {mode: "default", model: "small", want: ""},
		"model":             {model: "large", want: "m=large"},
		"effort":            {reasoning: "high", want: "e=low"},
		"effort of a model": {mode: "plan", model: "large", reasoning: "high", want: "plan m=large e=xhigh"},
		"budget":            {reasoning: "1024", want: "e=low"},
	} {
		t.Run(name, func(t *testing.T) {
			c := behaving(t, "settings")
			c.Mode = test.mode
			r := calltest.Ask()
			r.Model, r.Reasoning = test.model, test.reasoning
			res, err := open(t, c).Generate(t.Context(), r)
			if test.want == "" {
				_ = calltest.RequireKind(t, providers.InvalidResponse, err) // the agent says nothing
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, res.Text)
		})
	}
}

func TestUnknownSettingsAreRefused(t *testing.T) {
	c := behaving(t, "settings")
	c.Mode = "read-only"
	_, err := open(t, c).Generate(t.Context(), calltest.Ask())
	require.ErrorContains(t, calltest.RequireKind(t, providers.InvalidRequest, err), `has no mode "read-only", use one of default, plan`)
	err = open(t, behaving(t, "settings")).Check(t.Context(), "unknown")
	require.ErrorContains(t, calltest.RequireKind(t, providers.InvalidRequest, err), `has no model "unknown", use one of small, large`)
}

func TestCheck(t *testing.T) {
	p := open(t, behaving(t, "well"))
	require.NoError(t, p.Check(t.Context(), ""))
	require.NoError(t, p.Check(t.Context(), "large"))
	require.Equal(t, "So.", calltest.Generate(t, p, calltest.Ask()).Text)
}

// Every failure has a kind and a reason, and says what can be done.
func TestFailuresAreTyped(t *testing.T) {
	for behavior, want := range map[string]struct {
		kind   providers.ErrorKind
		reason acp.Reason
		text   string
	}{
		"signed out":            {providers.Authentication, acp.NotSignedIn, "Authentication required: run sign in"},
		"version 7":             {providers.InvalidRequest, acp.OtherVersion, "it speaks version 7 of the Agent Client Protocol, want 1"},
		"exits":                 {providers.Network, acp.Exited, "the process ended with exit status 3: the disk is full"},
		"exits later":           {providers.Network, acp.Exited, "the process ended with exit status 1: out of memory"},
		"exits in a turn":       {providers.Network, acp.Exited, "the process ended with exit status 9"},
		"no JSON":               {providers.WrongAddress, acp.NotProtocol, `it writes something else than JSON: "file-0.txt"`},
		"no JSON at all":        {providers.WrongAddress, acp.NotProtocol, `it writes something else than JSON: "usage: agent [options]"`},
		"no answer":             {providers.WrongAddress, acp.NotProtocol, "its answer to session/prompt is not valid"},
		"asks for ever":         {providers.InvalidResponse, acp.Insisting, "it has asked for permission 101 times"},
		"100 MB":                {providers.InvalidResponse, acp.Flooding, "its reply has more than 8388608 bytes"},
		"100 MB in a line":      {providers.InvalidResponse, acp.Flooding, "a message has more than 8388608 bytes"},
		"100 MB of tools":       {providers.InvalidResponse, acp.Flooding, "it has sent more than 67108864 bytes"},
		"limited":               {providers.RateLimit, "", "You have hit your limit"},
		"overloaded":            {providers.ServerError, "", "529 Overloaded"},
		"refuses":               {providers.ContentFiltered, "", ""},
		"an error as a message": {providers.RateLimit, "", "429 Too Many Requests"},
	} {
		t.Run(behavior, func(t *testing.T) {
			_, err := open(t, behaving(t, behavior)).Generate(t.Context(), calltest.Ask())
			failed := calltest.RequireKind(t, want.kind, err)
			assert.ErrorContains(t, err, want.text)
			assert.NotEqual(t, failed.Err.Error(), failed.Partial.Text)
			if want.reason == "" {
				assert.Empty(t, failed.Partial.Text, "the text of an error is no reply")
			}
			found, typed := errors.AsType[*acp.Error](err)
			require.Equal(t, want.reason != "", typed)
			if typed {
				assert.Equal(t, want.reason, found.Reason)
			}
		})
	}
}

func TestWhatIsNotInstalledHasACommand(t *testing.T) {
	c := acp.OpenCode()
	c.Command = []string{"no-such-agent"}
	_, err := open(t, c).Generate(t.Context(), calltest.Ask())
	require.True(t, calltest.RequireKind(t, providers.InvalidRequest, err).Final)
	found, typed := errors.AsType[*acp.Error](err)
	require.True(t, typed)
	require.Equal(t, acp.NotInstalled, found.Reason)
	require.ErrorContains(t, err, "run agent no-such-agent: it is not installed: run npm install -g opencode-ai")
}

// A rate limit says how long to wait.
func TestARateLimitHasItsDelay(t *testing.T) {
	_, err := open(t, behaving(t, "limited")).Generate(t.Context(), calltest.Ask())
	require.Equal(t, 90*time.Second, calltest.RequireKind(t, providers.RateLimit, err).RetryAfter)
}

// An agent that sends nothing fails the call in time, at any moment. The next call has another process.
func TestASilentAgent(t *testing.T) {
	for behavior, asked := range map[string]int{"waits": 1, "deaf": 1} {
		c := behaving(t, behavior)
		c.Timeout = time.Second
		p := open(t, c)
		for range asked {
			_, err := p.Generate(t.Context(), calltest.Ask())
			failed := calltest.RequireKind(t, providers.Timeout, err)
			require.Contains(t, failed.Partial.Text, "I am thinking")
			found, _ := errors.AsType[*acp.Error](err)
			require.Equal(t, acp.Silent, found.Reason)
		}
	}
}

// A context that ends cancels the session. The process stays, unless the agent does not hear.
func TestTheEndOfAContextCancelsTheSession(t *testing.T) {
	p := open(t, behaving(t, "waits"))
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		r := calltest.Ask()
		r.OnChunk = func(string) error {
			cancel()
			return nil
		}
		began := time.Now()
		_, err := p.Generate(ctx, r)
		require.ErrorIs(t, err, context.Canceled)
		require.Less(t, time.Since(began), 10*time.Second)
	}
}

// Requests for permission are refused, unless the configuration permits them.
func TestPermission(t *testing.T) {
	require.Contains(t, generate(t, "asks once").Text, `"optionId":"no"`)
	c := behaving(t, "asks once")
	var asked transcript.Access
	c.Permission = func(a transcript.Access) bool {
		asked = a
		return true
	}
	require.Contains(t, calltest.Generate(t, open(t, c), calltest.Ask()).Text, `"optionId":"yes"`)
	require.Equal(t, transcript.Access{Kind: "edit", Title: "Write limits.go"}, asked)
}

// Keys of services do not reach the agent, unless the configuration names them.
func TestKeysAreWithheld(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	t.Setenv("OTHER_AUTH_TOKEN", "t-secret")
	t.Setenv("CLAUDECODE", "1")
	t.Setenv("KEPT", "yes")
	require.Subset(t, acp.Withheld(os.Environ()), []string{"ANTHROPIC_API_KEY", "OTHER_AUTH_TOKEN"})
	c := behaving(t, "environment")
	c.Env = []string{"CLAUDECODE=", "NEW=1"}
	got := strings.Split(calltest.Generate(t, open(t, c), calltest.Ask()).Text, "\n")
	require.Subset(t, got, []string{"KEPT=yes", "NEW=1"})
	for _, variable := range got {
		require.NotRegexp(t, "secret|CLAUDECODE", variable)
	}
	c.Env = []string{"ANTHROPIC_API_KEY=sk-given"}
	require.Contains(t, calltest.Generate(t, open(t, c), calltest.Ask()).Text, "ANTHROPIC_API_KEY=")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", c, c, c), "sk-given")
}

// alive reports whether a process runs. One that has ended and that nobody has waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(state), ") Z ")
}

// pidOf returns the process that an agent names.
func pidOf(t *testing.T, res providers.Response) int {
	pid, err := strconv.Atoi(res.Text)
	require.NoError(t, err)
	return pid
}

// The process and its children end with the provider.
func TestProcessesEndWithTheProvider(t *testing.T) {
	for _, behavior := range []string{"process", "leaves a child"} {
		p, err := acp.New(behaving(t, behavior))
		require.NoError(t, err)
		pid := pidOf(t, calltest.Generate(t, p, calltest.Ask()))
		require.True(t, alive(pid))
		require.NoError(t, p.Close())
		require.Eventually(t, func() bool { return !alive(pid) }, 10*time.Second, 10*time.Millisecond)
		_, err = p.Generate(t.Context(), calltest.Ask())
		require.ErrorContains(t, err, "the agent is closed")
	}
}

// The process and its children end with the program, also if it is killed.
func TestProcessesEndWithTheProgram(t *testing.T) {
	program := exec.Command(os.Args[0], asProgram) //nolint:noctx // it is killed
	out, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid := pidOf(t, providers.Response{Text: strings.TrimSpace(line)})
	require.True(t, alive(pid))
	require.NoError(t, program.Process.Kill())
	_ = program.Wait() // it was killed
	require.Eventually(t, func() bool { return !alive(pid) }, 10*time.Second, 10*time.Millisecond)
}

// A process that has ended is replaced.
func TestAProcessThatHasEndedIsReplaced(t *testing.T) {
	p := open(t, behaving(t, "process"))
	pid := pidOf(t, calltest.Generate(t, p, calltest.Ask()))
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Eventually(t, func() bool {
		res, err := p.Generate(t.Context(), calltest.Ask())
		return err == nil && res.Text != strconv.Itoa(pid)
	}, 10*time.Second, 10*time.Millisecond)
}

// A program may greet, many pieces are no flood, and calls may run at the same time.
func TestWhatIsNoFailure(t *testing.T) {
	require.Equal(t, "So.", generate(t, "a greeting").Text)
	require.Len(t, strings.Fields(generate(t, "many pieces").Text), 20_000)
}

func TestConfigurationsAreChecked(t *testing.T) {
	_, err := acp.New(acp.Config{})
	require.EqualError(t, err, "create agent: Config.Command is empty, want a program and its arguments")
	_, err = acp.New(acp.Config{Command: []string{"x"}, Env: []string{"sk-secret"}})
	require.EqualError(t, err, "create agent: Config.Env has an element without a name and a value, want NAME=VALUE")
	for _, c := range []acp.Config{acp.Claude(), acp.Codex(), acp.Gemini(), acp.OpenCode()} {
		_, err = acp.New(c)
		require.NoError(t, err)
	}
}

// Whoever reads the debate sees what the speakers have read: while it runs, in the report, in the inspector and in the record.
func TestReadersSeeWhatAnAgentHasRead(t *testing.T) {
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"agent/x": open(t, behaving(t, "reads"))}})
	require.NoError(t, err)
	d, err := engine.Create(t.Context(), debate.Config{
		Topic: "Why?", Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: []debate.Participant{{Name: "Judge"}},
		Limits: debate.Limits{MaxRounds: 1},
	})
	require.NoError(t, err)
	var seen strings.Builder
	shown := &printer.Printer{Output: &seen}
	for event, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		shown.Show(event)
	}
	const line = "Read pkg/limits.go:12."
	require.Contains(t, seen.String(), "Ada: "+line)
	r, err := report.Collect(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, r.Result.Turns[0].Attempts[0].Read, 2)
	var markdown, html strings.Builder
	require.NoError(t, report.Markdown(&markdown, r))
	require.NoError(t, report.HTML(&html, r))
	require.Contains(t, markdown.String(), "pkg/limits.go:12")
	require.Contains(t, html.String(), line)
	pages, err := inspector.Handler(engine, inspector.Options{Authorize: debatehttp.AllowEveryone})
	require.NoError(t, err)
	page := httptest.NewRecorder()
	address := fmt.Sprintf("/debates/%s/turn?seq=%d", d.ID(), r.Result.Turns[0].Seq)
	pages.ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))
	require.Contains(t, page.Body.String(), line)
	require.NoError(t, d.Verify(t.Context()))
}

package main

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/store/sqlite"
)

// keys is an environment with keys of two services.
var keys = []string{"OPENAI_API_KEY", "sk-secret", "ANTHROPIC_API_KEY", "sk-secret-too"}

// launching returns the launcher and the offer of an environment.
func launching(t *testing.T, pairs ...string) (*launcher, *launch.Offer) {
	t.Helper()
	var stderr output
	p := &program{ctx: t.Context(), stdout: &output{}, stderr: &stderr, terminal: &stderr, env: environment(pairs...)}
	var o inspector.Options
	require.NoError(t, p.launchOptions(&o))
	l := &launcher{program: p}
	require.NoError(t, p.withConfigFile(func(s configFile) error { l.file = s; return nil }))
	offer, err := l.offer(t.Context())
	require.NoError(t, err)
	require.Empty(t, stderr.String())
	return l, offer
}

// commanded returns the configuration of a new debate that arguments lead to, with models and prices.
func commanded(t *testing.T, env func(string) string, args ...string) debate.Config {
	t.Helper()
	var stderr output
	p := &program{ctx: t.Context(), stdout: &output{}, stderr: &stderr, terminal: &stderr, env: env, storePath: "d.db"}
	root := p.rootCommand()
	require.NoError(t, root.ParseFlags(args))
	require.NoError(t, root.ValidateArgs(root.Flags().Args()), args)
	var c debate.Config
	topic, err := p.topic()
	require.NoError(t, err)
	err = p.withConfigFile(func(s configFile) (err error) {
		c, err = p.buildConfig(s, topic)
		if err != nil {
			return err
		}
		err = p.takeSeats(&c)
		if err != nil {
			return err
		}
		err = p.chooseModels(s, &c)
		if err != nil {
			return err
		}
		return p.setModels(s, &debate.Options{}, nil, &c)
	})
	require.NoError(t, err, "%v: %s", args, stderr.String())
	return c
}

// Each purpose of the form gives the configuration that --for gives.
func TestTheFormBeginsWhatTheCommandBegins(t *testing.T) {
	for name, env := range map[string][]string{"keys": keys, "demo": nil} {
		t.Run(name, func(t *testing.T) {
			folder(t)
			_, offer := launching(t, env...)
			require.Len(t, offer.Purposes, len(purposes))
			for _, p := range offer.Purposes {
				is, err := offer.Compose(launch.Choice{Purpose: p.Name, Topic: topic, Cost: 1})
				require.NoError(t, err)
				args := []string{"--for", p.Name, topic}
				if env != nil {
					args = append([]string{"--max-cost", "1"}, args...)
				}
				require.Equal(t, commanded(t, environment(env...), args...), is, p.Name)
				require.NotEmpty(t, p.About, "%s needs a sentence in purposeAbout", p.Name)
				require.NotContains(t, p.Title, "--")
			}
		})
	}
}

// shellSplit returns the arguments of a line, as a shell gives them to a command.
func shellSplit(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `set -- `+line+`; for a in "$@"; do printf '%s\0' "$a"; done`).Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// The command and the file that the page shows lead to the debate that the form begins.
func TestTheCommandOfAForm(t *testing.T) {
	for _, choice := range []launch.Choice{
		{Purpose: "decision", Topic: topic, Cost: 1},
		{
			Purpose: "decision", Topic: "Ban 'cars' & \"bikes\" $HOME `id`\nnow?", Options: []string{"Ban it", "Let's not"}, MaxRounds: 1,
			Cost: 0.25,
		},
		{Purpose: "answer", Topic: "--help", Model: "anthropic/claude-sonnet-4-5"},
		{Purpose: "answer", Topic: "list", Seats: []launch.Seat{{Person: true}, {Model: "anthropic/claude-sonnet-4-5"}}},
		{Purpose: "evaluation", Topic: topic, Scores: map[string]float64{"problem": 1, "solution": 2.5, "market": 3}},
		{Purpose: "sides", Topic: topic, Seats: []launch.Seat{{Position: "Cars must go."}}},
		{
			Purpose: "text", Topic: topic, Background: "Facts.", Labels: map[string]string{"team": "red"},
			Documents: []evidence.Document{evidence.Shared("a.md", "Text.")},
		},
		{Purpose: "claim", Topic: "- a list\n- of claims", Cost: 3, Seats: []launch.Seat{{}, {}, {Person: true}}},
	} {
		folder(t)
		l, offer := launching(t, keys...)
		is, err := offer.Compose(choice)
		require.NoError(t, err)
		line, file := l.commandFor(choice, is)
		args := shellSplit(t, line)
		require.Equal(t, "debate", args[0])
		if file != "" {
			folder(t, defaultConfigPath, file)
		}
		want := commanded(t, environment(keys...), args[1:]...)
		if choice.Documents == nil {
			require.Equal(t, want, is, line)
			continue
		}
		is.Documents[0].Tokens = want.Documents[0].Tokens
		require.Equal(t, want, is, line)
	}
}

// The models are those of the keys, of Ollama's list and of the configuration, and without any the demo model, which is called that.
func TestTheModelsOfThisMachine(t *testing.T) {
	folder(t)
	_, offer := launching(t)
	require.Len(t, offer.Models, 1)
	require.Equal(t, "Demo model, with prewritten replies", offer.Models[0].String())
	require.Contains(t, offer.Note, "set OPENAI_API_KEY")
	require.Contains(t, offer.Note, "OLLAMA_HOST")

	_, offer = launching(t, keys...)
	require.Empty(t, offer.Note)
	require.Equal(t, "openai/gpt-4.1-mini", offer.Models[0].ID())
	ids := ""
	for _, m := range offer.Models {
		ids += m.ID() + " "
		require.NotNil(t, m.Price, m.ID())
	}
	require.Contains(t, ids, "anthropic/claude-sonnet-4-5 ")
	require.NotContains(t, ids, "mistral")
	require.NotContains(t, ids, "sk-secret")

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "/api/tags", r.URL.Path)
		_, _ = io.WriteString(w, `{"models": [{"name": "qwen3:4b"}, {"name": "llama3.2:latest"}]}`)
	}))
	defer s.Close()
	_, offer = launching(t, "OLLAMA_HOST", s.URL)
	require.Equal(t, []string{"ollama/llama3.2", "ollama/llama3.2:latest", "ollama/qwen3:4b"},
		[]string{offer.Models[0].ID(), offer.Models[1].ID(), offer.Models[2].ID()})
	require.True(t, offer.Models[2].IsFree())

	folder(t, defaultConfigPath, `{"providers": {"main": {"kind": "openai", "model": "gpt-own"}}, "limits": {"max_rounds": 1}}`)
	_, offer = launching(t, keys...)
	require.Equal(t, "main/gpt-own", offer.Models[0].ID())
	require.Nil(t, offer.Models[0].Price)
	require.Equal(t, 1, offer.Purposes[0].Config.Limits.MaxRounds)
}

// The command's inspector begins a debate with the demo model, which another command then shows.
func TestTheInspectorBeginsDebates(t *testing.T) {
	folder(t)
	require.NoError(t, createPrivate("d.db"))
	kept, err := sqlite.Open("d.db")
	require.NoError(t, err)
	require.NoError(t, kept.Close())
	address := serving(t, environment(), "open", "inspect", "--no-open", "--controls", "--store", "d.db")
	base, token, _ := strings.Cut(address, "?token=")
	client := &http.Client{
		Transport:     withToken(token),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	_, page := send(t, client, http.MethodGet, base+"new", "")
	require.Contains(t, page, "Demo model")
	require.Contains(t, page, "set OPENAI_API_KEY")
	for name := range purposes {
		require.Contains(t, page, `data-purpose="`+name+`"`)
	}

	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for name, value := range map[string]string{"topic": topic, "purpose": "answer", "once": "x"} {
		require.NoError(t, form.WriteField(name, value))
	}
	part, err := form.CreateFormFile("files", "page.html")
	require.NoError(t, err)
	_, err = io.WriteString(part, "<p>Cars take <b>space</b>.</p><script>alert(1)</script>")
	require.NoError(t, err)
	require.NoError(t, form.Close())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"new", &b)
	require.NoError(t, err)
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	id := path.Base(res.Header.Get("Location"))
	_, text := send(t, client, http.MethodGet, base+"debates/"+id+"/documents/0?seat=Ada", "")
	require.Equal(t, "Cars take space.", strings.TrimSpace(text))
	code, _, stderr := start(t, environment(), "show", id, "--store", "d.db")
	require.Zero(t, code, stderr)
}

// fakeAgent speaks the Agent Client Protocol and always says the same.
const fakeAgent = `#!/bin/sh
while read -r line; do
	id=$(printf '%s\n' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
	case $line in
	*'"method":"initialize"'*) result='{"protocolVersion":1,"agentCapabilities":{}}' ;;
	*'"method":"session/new"'*) 
		result='{"sessionId":"s","modes":{"currentModeId":"read-only","availableModes":[{"id":"read-only","name":"Read"}]}}' ;;
	*'"method":"session/prompt"'*)
		result='{"stopReason":"end_turn"}'
		echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk",' \
			'"content":{"type":"text","text":"I have read this folder: cars must go."}}}}' ;;
	*) result='{}' ;;
	esac
	[ -z "$id" ] || echo '{"jsonrpc":"2.0","id":'"$id"',"result":'"$result"'}'
done
`

// Agents that are installed are among the models of the form, which gives the configuration of the command. One answers, and its
// unknown price allows no limit of costs.
func TestTheFormOffersInstalledAgents(t *testing.T) {
	programs := t.TempDir()
	t.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	require.NoError(t, os.WriteFile(filepath.Join(programs, "codex-acp"), []byte(fakeAgent), 0o700)) //nolint:gosec // a program
	folder(t)
	require.NoError(t, createPrivate("d.db"))
	address := serving(t, environment(), "open", "inspect", "--no-open", "--controls", "--store", "d.db")
	base, token, _ := strings.Cut(address, "?token=")
	client := &http.Client{
		Transport:     withToken(token),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	_, page := send(t, client, http.MethodGet, base+"new", "")
	require.Contains(t, page, `<option value="agent/codex">`)
	require.Contains(t, page, "Agents of this machine need no key: choose agent/codex as a model.")
	require.NotContains(t, page, "agent/opencode")

	choice := launch.Choice{Purpose: "baseline", Topic: topic, Model: "agent/codex"}
	fields := []string{"topic", topic, "purpose", choice.Purpose, "model", choice.Model, "once", "x"}
	code, page := submitted(t, client, base, append(fields, "cost", "1"))
	require.Equal(t, http.StatusBadRequest, code)
	require.Contains(t, page, "the price of agent/codex is unknown, so that costs cannot be limited")
	code, location := submitted(t, client, base, fields)
	require.Equal(t, http.StatusSeeOther, code, location)
	require.Eventually(t, func() bool {
		_, shown, _ := start(t, environment(), "show", path.Base(location), "--store", "d.db")
		return strings.Contains(shown, "cars must go")
	}, time.Minute, 50*time.Millisecond)

	l, _ := launching(t)
	l.offered = []string{"agent/codex"}
	l.made = nil
	offer, err := l.offer(t.Context())
	require.NoError(t, err)
	is, err := offer.Compose(choice)
	require.NoError(t, err)
	line, _ := l.commandFor(choice, is)
	require.Equal(t, commanded(t, environment(), shellSplit(t, line)[1:]...), is, line)
}

// submitted sends the form for a new debate, and returns the status with the page, or the address that follows.
func submitted(t *testing.T, client *http.Client, base string, fields []string) (code int, page string) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		require.NoError(t, form.WriteField(fields[i], fields[i+1]))
	}
	require.NoError(t, form.Close())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"new", &b)
	require.NoError(t, err)
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	if next := res.Header.Get("Location"); next != "" {
		return res.StatusCode, next
	}
	return res.StatusCode, string(body)
}

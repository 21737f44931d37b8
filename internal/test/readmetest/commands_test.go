package readmetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/internal/test/built"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/readmetest/stubs"
	"github.com/elenchus-go/debate/providers"
)

// refusedKey is a key that the service refuses.
const refusedKey = "refused"

// service starts a service with the protocol of OpenAI that replies as the demo model does. Its URL ends with /v1.
func service(t *testing.T) string {
	t.Helper()
	model := offline.Model(false)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Role, Content string }
			Format   struct {
				Schema struct {
					Name   string
					Schema json.RawMessage
				} `json:"json_schema"`
			} `json:"response_format"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&asked) != nil {
			_, _ = w.Write([]byte(`{}`))
			return
		}
		if strings.HasSuffix(r.Header.Get("Authorization"), " "+refusedKey) {
			http.Error(w, `{"error": {"message": "the key is refused"}}`, http.StatusUnauthorized)
			return
		}
		name := asked.Format.Schema.Name
		if i := strings.LastIndex(name, "_"); i >= 0 {
			name = name[:i] + "/" + name[i+1:]
		}
		q := providers.Request{SchemaName: name, Schema: asked.Format.Schema.Schema}
		for _, m := range asked.Messages {
			for _, text := range apart(m.Content) {
				q.Messages = append(q.Messages, providers.Message{Role: providers.Role(m.Role), Text: text})
			}
		}
		reply, err := model.Generate(r.Context(), q)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		delta := map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": reply.Text}, "finish_reason": "stop"}}}
		text, _ := json.Marshal(delta)
		_, _ = w.Write([]byte("data: " + string(text) + "\n\ndata: [DONE]\n\n"))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// statement matches a statement of a participant.
var statement = regexp.MustCompile(`(?s)<<<\d+ begin: [^>]*, round .*?\n<<<\d+ end>>>`)

// apart returns the messages that a client of OpenAI has joined: statements, and what follows them.
func apart(text string) (list []string) {
	at := 0
	for _, m := range statement.FindAllStringIndex(text, -1) {
		if strings.TrimSpace(text[at:m[0]]) != "" { // the text has no statements, but describes them
			return []string{text}
		}
		list, at = append(list, text[m[0]:m[1]]), m[1]
	}
	return append(list, strings.TrimSpace(text[at:]))
}

// newShell returns a shell with those programs of the checkout that documents run, and with a folder of stubs.
func newShell(t *testing.T, documents []document) *shell {
	t.Helper()
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	s := &shell{
		World: stubs.World{Root: top, Programs: t.TempDir(), Path: os.Getenv("PATH"), Service: service(t)},
		ids:   map[string]string{},
		used:  &sync.Map{},
	}
	for _, folder := range append(exampleFolders(t), "../cmd/debate") {
		if isRun(folder, documents) {
			folder = filepath.Join(top, "examples", filepath.FromSlash(folder))
			program, err := built.Program(t.Context(), folder)
			require.NoError(t, err)
			require.NoError(t, os.Symlink(program, filepath.Join(s.Programs, filepath.Base(folder))))
		}
	}
	stub, err := built.Program(t.Context(), filepath.Join(top, "internal", "test", "readmetest", "stubs", "program"))
	require.NoError(t, err)
	bin := t.TempDir()
	for _, name := range stubs.Names() {
		require.NoError(t, os.Symlink(stub, filepath.Join(bin, name)))
	}
	settings := regexp.MustCompile(`^PATH=|^[A-Z_]+_(API_KEY|BASE_URL|MODEL|HOST)=|^(DEBATE|AWS|DATABASE)_`)
	for _, v := range os.Environ() {
		if !settings.MatchString(v) {
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env, "PATH="+bin+string(filepath.ListSeparator)+s.Path, "AWS_EC2_METADATA_DISABLED=true", "HOME="+t.TempDir(),
		"GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	return s.copy(t)
}

// isRun reports whether the program in a folder below examples may be run: a snippet names it, or all tests need it. Snippets without a
// server of their own send requests to examples/http.
func isRun(folder string, documents []document) bool {
	if slices.Contains([]string{"../cmd/debate", "quickstart", "http"}, folder) {
		return true
	}
	for _, d := range documents {
		if slices.ContainsFunc(d.snippets, func(x snippet) bool { return strings.Contains(x.script, "examples/"+folder) }) {
			return true
		}
	}
	return false
}

// copy returns a shell with a log and with servers of its own, which end with the test.
func (s *shell) copy(t *testing.T) *shell {
	t.Helper()
	own, dir := *s, t.TempDir()
	own.Log, own.Servers = filepath.Join(dir, "log"), filepath.Join(dir, "servers")
	t.Cleanup(func() { own.stopServers(t) })
	return &own
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// A shell runs snippets in folders that look like a checkout with some files of the reader's.
type shell struct {
	stubs.World
	env   []string
	store string            // a database that each snippet begins with a copy of
	file  []byte            // a debate that was exported
	ids   map[string]string // of its debates, by what they wait for
	used  *sync.Map         // the exceptions, by their number
}

// newFolder returns a folder for the snippets of a document: with the files of the checkout, and with those beside the document.
func (s *shell) newFolder(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	fixture(t, "folder", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "debate.json"), s.file, 0o600))
	for _, from := range []string{s.Root, filepath.Join(s.Root, filepath.Dir(file))} {
		entries, err := os.ReadDir(from)
		require.NoError(t, err)
		for _, e := range entries {
			if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())); !os.IsExist(err) {
				require.NoError(t, err)
			}
		}
	}
	return dir
}

// run runs a script in a folder, and returns how its programs went and what the shell says.
func (s *shell) run(t *testing.T, dir, script string) (list []stubs.Ran, said string) {
	t.Helper()
	if s.store != "" {
		text, err := os.ReadFile(s.store)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "debates.db"), text, 0o600))
	}
	require.NoError(t, os.RemoveAll(s.Log))
	known, err := json.Marshal(s.World)
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), "bash", "-c", script)
	c.Dir = dir
	c.Env = append(slices.Clone(s.env), stubs.Variable+"="+string(known), "PWD="+dir, "DEBATE_STORE="+filepath.Join(dir, "debates.db"))
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		require.NoError(t, err)
	}
	return readLog(t, s.Log), string(out)
}

// stopServers ends the servers that the snippets of a document have started.
func (s *shell) stopServers(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(s.Servers)
	if os.IsNotExist(err) {
		return
	}
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var x stubs.Server
		require.NoError(t, json.Unmarshal([]byte(line), &x))
		p, err := os.FindProcess(x.PID)
		require.NoError(t, err)
		_ = p.Kill() // it may have ended
	}
}

func readLog(t *testing.T, path string) (list []stubs.Ran) {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var r stubs.Ran
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		list = append(list, r)
	}
	return list
}

// prepare makes the debates that the placeholder ID stands for.
func (s *shell) prepare(t *testing.T) {
	t.Helper()
	dir := s.newFolder(t, "README.md")
	begin := func(state, script string) {
		list, said := s.run(t, dir, script)
		require.NotEmpty(t, list, said)
		m := regexp.MustCompile(`(?m)saved as (\S+)|^(\S+) paused`).FindStringSubmatch(said + list[len(list)-1].Said)
		require.NotNil(t, m, "%s: %s %v", script, said, list)
		s.ids[state] = m[1] + m[2]
	}
	const start = `debate --model openai/gpt-5-mini --prices prices.json --background law.md "Should cities ban private cars?" `
	begin("completed", start+"--rounds 2") // seven turns, because documents name the seventh
	begin("paused", `debate fork `+s.ids["completed"]+` --at 4 --paused`)
	begin("to cancel", `debate fork `+s.ids["completed"]+` --at 4 --paused`)
	begin("Ada", start+"--me Ada")
	begin("Judge", start+"--me Judge --rounds 1")
	begin("question", `echo '{"ask_before_rounds": true}' > gate.json; `+start+"--config gate.json")
	begin("error", "OPENAI_API_KEY="+refusedKey+" "+start)
	list, said := s.run(t, dir, "debate export "+s.ids["completed"]+" --output exported.json")
	require.Zero(t, list[0].Code, said)
	var err error
	s.file, err = os.ReadFile(filepath.Join(dir, "exported.json"))
	require.NoError(t, err)
	s.store = filepath.Join(t.TempDir(), "debates.db")
	text, err := os.ReadFile(filepath.Join(dir, "debates.db"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.store, text, 0o600))
}

// placeholders are what documents write in place of values, with a value for each.
var placeholders = regexp.MustCompile(`\b(ID|SEQ|MODEL|COMMAND|VALUE)\b`)

// filled returns a script with values in place of placeholders. A debate is in the state that the command on its line needs.
func (s *shell) filled(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		b.WriteString(placeholders.ReplaceAllStringFunc(line, func(name string) string {
			if name == "ID" {
				return s.ids[stateFor(line)]
			}
			return map[string]string{"SEQ": "4", "MODEL": "openai/gpt-5", "COMMAND": "fork", "VALUE": "4f1e"}[name]
		}))
	}
	return b.String()
}

// stateFor returns the state of a debate that a command is about.
func stateFor(line string) string {
	sub := regexp.MustCompile(`debate (\w+)`).FindStringSubmatch(line)
	me := regexp.MustCompile(`--me (\w+)`).FindStringSubmatch(line)
	switch {
	case me != nil:
		return me[1]
	case sub == nil:
	case sub[1] == "resume", sub[1] == "pause":
		return "paused"
	case sub[1] == "cancel":
		return "to cancel"
	case sub[1] == "retry":
		return "error"
	case sub[1] == "answer":
		return "question"
	}
	return "completed"
}

// notCommands are texts that only look like commands, with what they are.
var notCommands = map[string]string{
	"debate record 1": "the name of a format",
}

// An exception is a command that cannot end well without what a test does not have. It fails and says why.
type exception struct{ command, reason, says string }

var exceptions = []exception{
	{` --me `, "people reply on a terminal", "waiting for the reply of "},
	{`^debate delete `, "it asks on a terminal", "Use --yes to answer yes"},
	{`^debate label --label eval=test`, "it needs debates of an evaluation", "the filters select none that has ended"},
	{`anthropic/|ollama/`, "it needs keys of other services; everything else is checked before", "no API key for "},
	{`agent/claude`, "it needs agents that are signed in", "is not installed"},
	{`^go run ./examples/integrations/worker `, "it needs PostgreSQL; its own test has it", "connect to PostgreSQL: "},
	{`^curl .*/debates/agui-`, "the id is one of the reader's", "404 Not Found"},
	{`^go install …@version`, "the package is one of the reader's", "…"},
}

// find returns the exception for how a command went, or -1.
func find(r stubs.Ran) int {
	line := strings.Join(r.Args, " ")
	return slices.IndexFunc(exceptions, func(e exception) bool {
		return regexp.MustCompile(e.command).MatchString(line) && strings.Contains(r.Said, e.says)
	})
}

// A sentence may name a command without what it needs. Then the command says so, and its help has the flags that the sentence names.
var needs = regexp.MustCompile(`read arguments: ".*" needs |flag needs an argument|no topic given|no decision given`)

// isNamed reports whether a sentence only names a command and flags, which exist.
func (s *shell) isNamed(t *testing.T, r stubs.Ran) bool {
	t.Helper()
	if r.Args[0] != "debate" || r.Code != 2 || !needs.MatchString(r.Said) {
		return false
	}
	words := slices.DeleteFunc(slices.Clone(r.Args[1:]), func(word string) bool { return strings.HasPrefix(word, "-") })
	words = append(words[:min(len(words), 2)], "--help")
	help, err := exec.CommandContext(t.Context(), filepath.Join(s.Programs, "debate"), words...).Output()
	require.NoError(t, err, "%q", r.Args)
	for _, word := range r.Args {
		if strings.HasPrefix(word, "--") && !strings.Contains(string(help), word+" ") {
			return false
		}
	}
	return true
}

// Each command of a document works as it stands there. The test tries a sample of documents and of commands in sentences.
func TestCommandsOfDocuments(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil && os.Getenv("CI") == "" {
		t.Skip("no bash")
	}
	dependOnAllSources(t)
	documents := sampleOfDocuments(t)
	s := newShell(t, documents)
	s.prepare(t)
	var read atomic.Int32
	t.Run("documents", func(t *testing.T) {
		t.Run("faults are found", func(t *testing.T) {
			t.Parallel()
			findsFaults(t, s.copy(t))
		})
		for _, d := range documents {
			t.Run(d.file, func(t *testing.T) {
				t.Parallel()
				s.copy(t).readDocument(t, d)
				read.Add(1)
			})
		}
	})
	isWhole := os.Getenv("DEBATE_ALL_CASES") != "" && int(read.Load()) == len(documents) // not if a flag selects some
	if isWhole {
		for i, e := range exceptions {
			_, isUsed := s.used.Load(i)
			assert.True(t, isUsed, "no document has the exception %s", e.command)
		}
	}
}

// A document is a file with those of its snippets that the test runs.
type document struct {
	file     string
	snippets []snippet
}

// sampleOfDocuments returns the documents whose snippets the test runs. All snippets of README and of the command's run. Of the others
// below a folder of the root, about one in four runs its blocks, all of them, because they tell a story in one folder. Of commands in
// sentences, about one in four of a kind runs, and one that several documents of a folder name runs once.
func sampleOfDocuments(t *testing.T) (list []document) {
	t.Helper()
	blocks, sentences := enginetest.NewSample(t, 4), enginetest.NewSample(t, 4)
	named := map[string]bool{} // by the folder of its documents
	for _, file := range documentsWithSnippets(t) {
		d := document{file: file}
		isFirst := file == "README.md" || file == "cmd/debate/README.md"
		hasBlocks := isFirst || blocks.Tries(strings.SplitN(file, "/", 2)[0])
		for _, x := range snippetsOf(t, file) {
			name := path.Dir(file) + ": " + x.script
			switch {
			case notCommands[x.script] != "":
			case !x.inline && hasBlocks:
				d.snippets = append(d.snippets, x)
			case x.inline && !named[name]:
				named[name] = true
				if isFirst || sentences.Tries(kindOf(x)) {
					d.snippets = append(d.snippets, x)
				}
			}
		}
		if len(d.snippets) > 0 {
			list = append(list, d)
		}
	}
	return list
}

// kindOf returns the program that a snippet begins with and its subcommand, such as "debate list".
func kindOf(x snippet) string {
	return regexp.MustCompile(`^\S+( [a-z]+)?`).FindString(x.script)
}

// readDocument runs snippets of a document: blocks in one folder, and each command of a sentence in its own.
func (s *shell) readDocument(t *testing.T, d document) {
	t.Helper()
	story := s.newFolder(t, d.file)
	for _, x := range d.snippets {
		dir := story
		if x.inline {
			dir = s.newFolder(t, d.file)
		}
		for _, fault := range s.faults(t, dir, x) {
			assert.Fail(t, "a command does not work", "%s:%d: %s", x.file, x.line, fault)
		}
	}
}

// faults runs a snippet, and returns what is wrong with its commands. It notes which exceptions were used.
func (s *shell) faults(t *testing.T, dir string, x snippet) (faults []string) {
	t.Helper()
	list, said := s.run(t, dir, s.filled(x.script))
	if len(list) == 0 && !strings.HasPrefix(x.script, "export ") || strings.Contains(said, "command not found") {
		faults = append(faults, x.script+": "+said)
	}
	for _, r := range list {
		if r.Check != "" {
			t.Logf("%s:%d: %q is not run; checked: %s", x.file, x.line, r.Args, r.Check)
		}
		if r.Code == 0 {
			continue
		}
		if i := find(r); i >= 0 {
			s.used.Store(i, true)
		} else if !x.inline || !s.isNamed(t, r) {
			faults = append(faults, fmt.Sprintf("%q: code %d: %s", r.Args, r.Code, r.Said))
		}
	}
	return faults
}

// findsFaults checks that commands that do not work are found.
func findsFaults(t *testing.T, s *shell) {
	t.Helper()
	dir := s.newFolder(t, "README.md")
	for _, script := range []string{
		"debate list --statee paused",
		"debate lits",
		"debate show none",
		"debate eval none.jsonl --arm single",
		"go run ./examples/quickstart -x",
		"go run ./examples/none",
		"go test -run TestNoSuchThing ./fsm",
		"go test ./none",
		"go test -fast ./fsm",
		"go test -update ./providers",
		"go doc ./fsm Nothing",
		"make nothing",
		"curl localhost:8080/nothing",
		"node none.mjs",
		"claude mcp add debate -- debate mpc",
		"go get github.com/elenchus-go/debate/none@v0.1.0",
		"debatte list",
		"true",
	} {
		assert.NotEmpty(t, s.faults(t, dir, snippet{script: script}), "%s works", script)
	}
	for _, script := range []string{"debate list --statee", "debate list extra"} {
		assert.NotEmpty(t, s.faults(t, dir, snippet{script: script, inline: true}), "%s works", script)
	}
	assert.Empty(t, s.faults(t, dir, snippet{script: "debate list && go test -run Test ./fsm"}))
}

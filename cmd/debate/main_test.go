package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/report"
)

func TestWrongArgumentsHaveTheirExitCode(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no arguments", nil, 2, "no topic given"},
		{"a blank topic", []string{" \t"}, 2, "the topic is blank"},
		{"two topics", []string{"Is tea", "coffee"}, 2, "2 arguments, want one"},
		{"an unknown command", []string{"remove", "x"}, 2, `Put a topic of several words in quotes, and write a topic of one word after --: debate -- remove`},
		{"a misspelled command", []string{"lits", "--store", "no.db"}, 2, `did you mean list?`},
		{"a command in capitals", []string{"LIST"}, 2, `"LIST" is not a command`},
		{"a word", []string{"Privacy"}, 2, "write a topic of one word after --: debate -- Privacy"},
		{"a topic without quotes", []string{"Should", "cities", "ban", "cars?"}, 2, "Put a topic of several words in quotes"},
		{"a wish for a report", []string{"report"}, 2, `did you mean show ID --report FILE?`},
		{"a word after flags", []string{"--protocol", "vote", "list-all"}, 2, `"list-all" is not a command`},
		{"an argument and a file", []string{"Tea?", "--file", "topic.md"}, 2, "given as an argument and with --file"},
		{"a missing file", []string{"--file", "no.md"}, 2, "no.md"},
		{"a folder for a topic", []string{"--file", "."}, 2, "is a directory"},
		{"a blank file", []string{"--file", "blank.md"}, 2, "blank.md is blank"},
		{"a blank name of a file", []string{"--file", ""}, 2, "--file is blank"},
		{"a file that cannot be read", []string{"--file", "topic.md/x"}, 2, "topic.md/x"},
		{"a binary file", []string{"--file", "binary"}, 2, "not UTF-8"},
		{"an unknown flag", []string{"--colour", topic}, 2, "unknown flag: --colour"},
		{"no number of rounds", []string{"--rounds", "many", topic}, 2, "--rounds many, want a whole number"},
		{"no number of dollars", []string{"--max-cost", "many", topic}, 2, "--max-cost many, want a number;"},
		{"a number that is too large", []string{"--rounds", "99999999999999999999", topic}, 2, "value out of range"},
		{"neither true nor false", []string{"--plain=perhaps", topic}, 2, "--plain perhaps, want true or false"},
		{"no rounds", []string{"--rounds", "0", topic}, 2, "--rounds 0, use 1 or more"},
		{"too many rounds", []string{"--rounds", "99999", topic}, 2, "limits.max_rounds"},
		{"more rounds than topics", []string{"--protocol", "arbitration", "--scores", "problem=5,solution=5,market=5", "--rounds", "4", topic}, 2, "use at most 3, one round for each topic"},
		{
			"an unknown protocol",
			[]string{"--protocol", "duel", topic},
			2,
			`"duel" is unknown, use one of arbitration, council, mad, panel, procon, refine, review, skeptic, vote`,
		},
		{"a protocol of another command", []string{"--protocol", "pairwise", topic}, 2, `"pairwise" needs more than a topic, use debate audit judge`},
		{"an unknown version", []string{"--protocol", "panel/9", topic}, 2, `"panel/9" is unknown`},
		{"an unknown role", []string{"--protocol", "refine", "--agents", "security,magic", topic}, 2, `"magic" is unknown, use one of architect, performance, security, generalist, testing`},
		{"no role", []string{"--protocol", "refine", "--agents", " , ", topic}, 2, "--agents is empty, use some of architect, performance, security, generalist, testing"},
		{"no agent", []string{"--agents", "", topic}, 2, "--agents is blank"},
		{"an agent twice", []string{"--agents", "Ann,Ann", topic}, 2, `"Ann" is taken`},
		{"too many agents", []string{"--agents", "a,b,c,d,e", topic}, 2, "a panel takes 2 to 4"},
		{"a folder for a configuration", []string{"--config", ".", topic}, 2, "is a directory"},
		{"a folder for the output", []string{"--output", ".", topic}, 2, "is a directory"},
		{"a folder for the store", []string{"--store", ".", topic}, 2, "is a directory"},
		{"an output below a file", []string{"--output", "topic.md/x", topic}, 1, "write topic.md/x: mkdir topic.md"},
		{"an output in a folder that cannot be written", []string{"--output", "locked/x", topic}, 1, "write locked/x: "},
		{"a report below a file", []string{"--report", "r.md", "--report", "topic.md/r.html", topic}, 1, "write topic.md/r.html: mkdir topic.md"},
		{"a folder for a report", []string{"--report", "folder.md", topic}, 2, "folder.md is a directory"},
		{"one report of an unknown kind", []string{"--report", "r.md", "--report", "r.pdf", topic}, 2, `--report "r.pdf", use a name that ends with .md or .html`},
		{"arbitration without scores", []string{"--protocol", "arbitration", topic}, 2, "give them with --scores, such as --scores problem=5,solution=5,market=7, or as protocol.scores"},
		{"scores that are no numbers", []string{"--protocol", "arbitration", "--scores", "problem=high", topic}, 2, `"problem=high" is not a score, want NAME=NUMBER`},
		{"a score twice", []string{"--protocol", "arbitration", "--scores", "market=1,market=2", topic}, 2, "market has two scores"},
		{"a score too few", []string{"--protocol", "arbitration", "--scores", "problem=5,solution=5", topic}, 2, "market"},
		{"scores of another protocol", []string{"--scores", "problem=5", topic}, 2, "protocol panel does not use --scores"},
		{"prompts that are missing", []string{"--prompts", "no", topic}, 2, "read prompts: open "},
		{"prompts of unknown names", []string{"--prompts", "prompts", topic}, 2, "opning.tmpl replaces no prompt, want NAME.tmpl with one of the names arbitration-argue, "},
		{"prompts of unknown names for a debate that does not use them", []string{"--prompts", "prompts", "--protocol", "vote", topic}, 2, "opning.tmpl replaces no prompt"},
		{"a folder without prompts", []string{"--prompts", "folder.md", topic}, 2, "contains no templates"},
		{"a filter of a new debate", []string{"--state", "paused", topic}, 2, "unknown flag: --state"},
		{"a time that is none", []string{"list", "--since", "yesterday"}, 2, "want a date such as 2026-01-31"},
		{"delete without an id", []string{"delete", "--store", "no.db"}, 2, `"delete" needs the id of a debate, or filters such as --state completed`},
		{"delete with a limit", []string{"delete", "--limit", "3", "--store", "no.db"}, 2, "unknown flag: --limit"},
		{"a negative limit", []string{"list", "--limit", "-3", "--store", "no.db"}, 2, "--limit -3, use 1 or more"},
		{"delete with an id and filters", []string{"delete", "x", "--state", "paused", "--store", "no.db"}, 2, `unexpected argument after "delete": "x"`},
		{"import without a file", []string{"import", "--store", "no.db"}, 2, `"import" needs a file that export wrote`},
		{"an unknown kind of report", []string{"--report", "report.pdf", topic}, 2, ".md or .html"},
		{"a store that is not a database", []string{"--store", "topic.md", topic}, 1, "topic.md"},
		{"a malformed configuration", []string{"--config", "bad.json", topic}, 2, "read configuration bad.json: malformed"},
		{"a field that does not exist", []string{"--config", "typo.json", topic}, 2, "particpants: the field is unknown"},
		{"a topic in the configuration", []string{"--config", "topic.json", topic}, 2, "topic: not allowed here"},
		{"a configuration below a file", []string{"--config", "topic.md/x", topic}, 2, "read configuration: open topic.md/x"},
		{"an agent of the file twice", []string{"--config", "roles.json", "--agents", "A,poet,A", "--protocol", "refine", topic}, 2, `"A" is selected twice`},
		{"too few agents of the file", []string{"--config", "roles.json", "--agents", "B", topic}, 2, "participants"},
		{"a wrong role in the file", []string{"--config", "roles.json", "--agents", "A,B", "--protocol", "refine", topic}, 2, `participants[0].role: "poet" of A is unknown`},
		{"list without a store", []string{"list"}, 2, "the store is memory, which keeps no debates; use --store FILE"},
		{"list of a missing store", []string{"list", "--store", "no.db"}, 2, "no.db does not exist"},
		{"list with an argument", []string{"list", "x", "--store", "no.db"}, 2, `unexpected argument after "list": "x"`},
		{"show without an id", []string{"show", "--store", "no.db"}, 2, `"show" needs the id of a debate`},
		{"a flag of another command", []string{"list", "--rounds", "3", "--store", "no.db"}, 2, "unknown flag: --rounds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder(t, "topic.md", topic, "blank.md", " \n", "binary", "\x7fELF\x00\xff", "bad.json", "{", "typo.json",
				`{"particpants": []}`, "topic.json", `{"topic": "Tea?"}`,
				"prompts/opening.tmpl", "{{define \"system\"}}Be brief.{{end}}Speak.", "prompts/opning.tmpl", "Speak.", "folder.md/file", "",
				"roles.json", `{"participants": [{"name": "A", "role": "poet"}, {"name": "B"}]}`)
			require.NoError(t, os.Mkdir("locked", 0o500)) //nolint:gosec // the folder must be readable
			if strings.Contains(tt.name, "cannot be written") && os.Geteuid() == 0 {
				t.Skip("root can write everywhere")
			}
			require.NoError(t, os.RemoveAll("folder.md/file"))
			code, stdout, stderr := start(t, environment(), tt.args...)

			require.Equal(t, tt.code, code, stderr)
			require.Contains(t, stderr, tt.says)
			require.Empty(t, stdout)
			require.NotContains(t, stderr, "round 1", "no model was called")
		})
	}
}

// A file that exists but cannot be read is an error, even without --config.
func TestAConfigurationThatCannotBeReadIsAnError(t *testing.T) {
	folder(t)
	require.NoError(t, os.Mkdir(defaultConfigPath, 0o750))
	code, _, stderr := start(t, environment(), topic)
	require.Equal(t, exitInput, code, stderr)
	require.Contains(t, stderr, "debate: read configuration: read "+defaultConfigPath)
}

func TestHelpAndVersionAreResults(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}, {"help", "list"}, {"list", "--help"}, {"help", "environment"}} {
		code, stdout, stderr := start(t, environment(), args...)
		require.Equal(t, 0, code)
		require.NotEmpty(t, stdout)
		require.Empty(t, stderr)
	}

	code, stdout, _ := start(t, environment(), "--version")
	require.Equal(t, 0, code)
	require.True(t, strings.HasPrefix(stdout, "debate "), stdout)
}

// The help names all protocols, variables and exit codes, and describes all commands and flags.
func TestTheHelpIsComplete(t *testing.T) {
	help := func(args ...string) string {
		code, stdout, _ := start(t, environment(), append([]string{"help"}, args...)...)
		require.Equal(t, 0, code)
		return stdout
	}
	for name := range presets {
		require.Contains(t, help(), name)
	}
	for _, k := range providerKinds {
		require.Contains(t, help("environment"), k.envVar)
		require.Contains(t, help("environment"), strings.ToUpper(k.name)+"_MODEL")
	}
	for code := exitSuccess; code <= exitDamaged; code++ {
		require.Contains(t, help("exit-codes"), fmt.Sprint(" ", code, " "))
	}
	root := (&program{}).rootCommand()
	for _, c := range append(root.Commands(), root) {
		require.NotEmpty(t, c.Short, c.Name())
		c.Flags().VisitAll(func(f *pflag.Flag) { require.NotEmpty(t, f.Usage, "%s --%s", c.Name(), f.Name) })
		_, flags, _ := strings.Cut(c.UsageString(), "\nFlags:\n")
		for line := range strings.Lines(flags) {
			require.LessOrEqual(t, len(line), 82, c.Name())
		}
	}
}

func TestEveryProtocolRunsOffline(t *testing.T) {
	for name, says := range map[string]string{
		"panel": "Winner: ", "skeptic": "offline demo model", "refine": "Implementation:", "arbitration": "## Scores",
		"procon": "Winner: ", "vote": "Answer: ", "council": "Ranks of the answers", "mad": "The judge decided",
		"review": "Comment.",
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, "notes.md", "The cache is emptied at night. The index is kept for a week.\n")
			args := []string{topic, "--protocol", name}
			if name == "review" {
				args = append(args, "--docs", "notes.md")
			}
			if name == "arbitration" {
				args = append(args, "--scores", "problem=7, solution=6.5, market=5")
			}
			code, stdout, stderr := start(t, environment(), args...)

			require.Equal(t, 0, code, stderr)
			require.Contains(t, stdout, says)
			require.NotContains(t, stdout, "round 1 of")
			require.NotContains(t, stderr, "warning: configuration")
			require.Contains(t, stderr, "No API key found; using the offline demo model (set OPENAI_API_KEY, ")
			require.Contains(t, stderr, "== round 1 of ")
			require.Contains(t, stderr, "\ncompleted in round ")
			require.NotContains(t, stderr, "fallback")
		})
	}
	require.Len(t, presets, 9)
}

func TestATopicComesFromAnArgumentOrAFile(t *testing.T) {
	folder(t, "topic.md", "\ufeff\nIs tea healthy?\n\nSay why.\n")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{topic}, topic},
		{[]string{" Tea? "}, "Tea?"},
		{[]string{"--file", "topic.md"}, "Is tea healthy?\n\nSay why."},
		{[]string{"--", "list"}, "list"},
		{[]string{"--", "--rounds"}, "--rounds"},
	} {
		code, stdout, stderr := start(t, environment(), append([]string{"--json", "--protocol", "vote", "--rounds", "1"}, tt.args...)...)
		require.Equal(t, 0, code, stderr)
		require.Equal(t, tt.want, state(t, []byte(stdout)).Result.Topic)
	}
}

// state decodes the complete state.
func state(t *testing.T, b []byte) (r report.Report) {
	t.Helper()
	require.NoError(t, json.Unmarshal(b, &r))
	return r
}

func TestResultsAreAnAnswerOrTheWholeState(t *testing.T) {
	folder(t)
	code, answer, stderr := start(t, environment(), topic, "--protocol", "vote", "--output", "a/b/answer.txt")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, answer, contents(t, "a/b/answer.txt"))
	require.True(t, strings.HasPrefix(answer, "Answer: Yes"), answer)

	code, stdout, stderr := start(t, environment(), topic, "--protocol", "vote", "--output", "a/c/state.JSON")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, answer, stdout)
	all := state(t, []byte(contents(t, "a/c/state.JSON")))
	require.Equal(t, answer, all.Result.Answer.Text+"\n")
	require.Len(t, all.Result.Turns, 6)

	code, stdout, stderr = start(t, environment(), topic, "--protocol", "vote", "--json")
	require.Equal(t, 0, code, stderr)
	require.Len(t, state(t, []byte(stdout)).Result.Turns, 6)
}

func contents(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestTheWholeStateHasThisShape(t *testing.T) {
	folder(t)
	_, stdout, _ := start(t, environment(), topic, "--protocol", "procon", "--rounds", "1", "--json")
	var v any
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	paths := map[string]bool{}
	shape(v, "", paths)
	golden.Require(t, filepath.Join(home, "testdata", "state.golden"), strings.Join(sortedKeys(paths), "\n")+"\n")
}

// shape collects the paths of a value down to the second level, with their types.
func shape(v any, at string, paths map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		if strings.Count(at, ".") == 2 {
			paths[at+" object"] = true
			return
		}
		for k, x := range v {
			shape(x, at+"."+k, paths)
		}
	case []any:
		for _, x := range v {
			shape(x, at+"[]", paths)
		}
	default:
		paths[fmt.Sprintf("%s %T", at, v)] = true
	}
}

func TestReportsAreMarkdownOrHTML(t *testing.T) {
	folder(t)
	for name, begins := range map[string]string{"out/report.md": "# ", "out/report.html": "<!DOCTYPE html>"} {
		code, _, stderr := start(t, environment(), topic, "--protocol", "vote", "--report", name)
		require.Equal(t, 0, code, stderr)
		text := contents(t, name)
		require.True(t, strings.HasPrefix(strings.ToUpper(text), strings.ToUpper(begins)), text[:min(len(text), 100)])
		require.Contains(t, text, "private cars?")
	}
}

// Each of several reports is written and announced.
func TestSeveralReports(t *testing.T) {
	folder(t)
	code, _, stderr := start(t, environment(), topic, "--protocol", "vote", "--report", "a/r.md", "--report", "b/r.html", "--report", "c.md")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "\nreport written to a/r.md\nreport written to b/r.html\nreport written to c.md\n")
	require.Equal(t, contents(t, "a/r.md"), contents(t, "c.md"))
	require.Contains(t, contents(t, "b/r.html"), "<!DOCTYPE html>")
}

// A report that becomes impossible during the debate does not prevent the others.
func TestAReportThatFailsOnlyWarns(t *testing.T) {
	folder(t)
	env := server(t, func(int, http.ResponseWriter, string) string {
		_ = os.Mkdir("r.md", 0o750)
		return "Yes."
	})
	code, stdout, stderr := start(t, env, topic, "--protocol", "skeptic", "--rounds", "1", "--report", "r.md", "--report", "s.md")
	require.Equal(t, 0, code)
	require.NotEmpty(t, stdout)
	require.Contains(t, stderr, "warning: cannot write report: ")
	require.Contains(t, stderr, "\nreport written to s.md\n")
}

// A check of the files leaves existing ones as they are, and no new ones.
func TestFilesAreCheckedWithoutAChange(t *testing.T) {
	folder(t, "answer.txt", "old")
	code, _, _ := start(t, environment(), topic, "--protocol", "vote", "--output", "answer.txt", "--report", "r.md", "--report", "answer.txt/r.html")
	require.Equal(t, 1, code)
	require.Equal(t, "old", contents(t, "answer.txt"))
	require.False(t, fileExists("r.md"))
}

// If the output file cannot be written, the answer is still on stdout.
func TestAnOutputThatFailsIsAnErrorAfterTheAnswer(t *testing.T) {
	folder(t)
	env := server(t, func(int, http.ResponseWriter, string) string {
		_ = os.Mkdir("answer.txt", 0o750)
		return "Yes."
	})
	code, stdout, stderr := start(t, env, topic, "--protocol", "skeptic", "--rounds", "1", "--output", "answer.txt")
	require.Equal(t, 1, code)
	require.Equal(t, "Yes.\n", stdout)
	require.Contains(t, stderr, "answer.txt")
}

func TestVerboseListsTurnsAndSources(t *testing.T) {
	folder(t, "conf/c.json", `{"providers": {"p": {"kind": "offline"}}, "protocol": "refine", "judges": [{"name": "Judge"}],
		"roles": {"security": {"file": "prompts/security.md"}, "own": {"system": "You look at costs."}}}`, "conf/prompts/security.md", "You look for holes.")
	code, _, stderr := start(t, environment(), topic, "--config", "conf/c.json", "--agents", "security,own,testing", "--rounds", "1", "--verbose")
	require.Equal(t, 0, code, stderr)
	require.NotContains(t, stderr, "defaults")
	for _, want := range []string{
		"ROUND  PHASE", "1      critique    security (own)", "0.0s", "\nAGENT ", "security  security: " + filepath.Join("conf", "prompts", "security.md"),
		"own       own: configuration", "testing   testing: built-in",
	} {
		require.Contains(t, plainly(stderr), want)
	}
}

func TestPlainProgress(t *testing.T) {
	folder(t)
	for _, name := range []string{"panel", "skeptic"} {
		_, _, stderr := start(t, environment(), topic, "--protocol", name, "--rounds", "3")
		golden.Require(t, filepath.Join(home, "testdata", name+".golden"), plainly(stderr))
	}
}

// Text from users and models cannot control the terminal.
func TestNothingCommandsTheTerminal(t *testing.T) {
	const hostile = "Tea?\x1b[2J\u009b31m\u202e"
	folder(t)
	env := server(t, func(int, http.ResponseWriter, string) string { return "Yes.\x1b]0;owned\x07\u202e\u009b2J" })
	for _, args := range [][]string{{}, {"--json"}, {"--verbose"}} {
		code, stdout, stderr := start(t, env, append(args, hostile, "--protocol", "skeptic", "--store", "d.db")...) // start checks the output
		require.Equal(t, 0, code, stderr)
		require.Contains(t, stdout, "Yes.")
	}
	_, stdout, _ := start(t, env, "list", "--store", "d.db", "--json")
	require.Contains(t, stdout, `\u001b[2J\u009b31m\u202e`, "the escapes do not change the value")
	_, stdout, _ = start(t, env, "list", "--store", "d.db")
	require.Equal(t, 4, strings.Count(stdout, "\n"), stdout)
	_, stdout, _ = start(t, env, "show", strings.Fields(stdout)[7], "--store", "d.db")
	require.Contains(t, stdout, "Yes.")
}

func TestFailuresOfProvidersHaveTheirExitCode(t *testing.T) {
	for name, status := range map[string]int{"a refused key": http.StatusUnauthorized, "a refused request": http.StatusBadRequest} {
		t.Run(name, func(t *testing.T) {
			folder(t)
			env := server(t, func(_ int, w http.ResponseWriter, _ string) string {
				w.WriteHeader(status)
				_, _ = w.Write([]byte(`{"error":{"message":"no: sk-secret-0123456789"}}`))
				return ""
			})
			code, stdout, stderr := start(t, env, topic, "--store", "d.db")
			require.Equal(t, 3, code, stderr)
			require.Empty(t, stdout)
			require.NotContains(t, stderr, "secret")
			require.Contains(t, stderr, "\ncontinue with: debate re")
		})
	}
}

func TestKeysComeFromTheEnvironment(t *testing.T) {
	for _, k := range providerKinds {
		p := &program{env: environment(k.envVar, "x"), stderr: &output{}}
		require.Equal(t, k.name, p.defaultKind())
		cfg := c(t, "panel")
		p.assignProviders(configFile{}, &cfg, offlineKind)
		require.Equal(t, []string{k.name}, usedProviders(cfg))
		made, models, err := p.openProviders(configFile{}, usedProviders(cfg))
		require.NoError(t, err)
		require.Equal(t, []string{k.name}, sortedKeys(made))
		require.Equal(t, map[string]string{k.name: k.model}, models)
	}
	p := &program{env: environment("GEMINI_API_KEY", "x", "ANTHROPIC_API_KEY", "x"), stderr: &output{}}
	require.Equal(t, "anthropic", p.defaultKind())
	require.Equal(t, []string{"openai", "anthropic", "mistral", "google", "openrouter", "ollama"}, slices.Collect(func(yield func(string) bool) {
		for _, k := range providerKinds {
			yield(k.name)
		}
	}))
}

// full is an output on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A command whose output is lost fails.
func TestOutputThatIsLostIsAnError(t *testing.T) {
	folder(t)
	code, _, stderr := start(t, environment(), "--store", "d.db", "--me", "Ada", topic)
	require.Equal(t, 1, code)
	id := saved(t, stderr)
	for _, args := range [][]string{{"list"}, {"list", "--count"}, {"show", id}, {"show", id, "--json"}, {"export", id}, {"pause", id}, {"prices"}, {"init"}, {"help"}, {"--version"}} {
		if slices.Contains([]string{"list", "show", "export", "pause"}, args[0]) {
			args = append(args, "--store", "d.db")
		}
		var stderr output
		require.Equal(t, 1, run(t.Context(), nil, args, strings.NewReader(""), full{}, &stderr, environment()), args)
		require.Contains(t, stderr.String(), "no space left on device", args)
	}
}

// A service that cannot be reached stops the first run soon. Its cause is complete without a terminal, with and without --plain.
func TestAServiceThatCannotBeReached(t *testing.T) {
	for _, args := range [][]string{{"--plain"}, nil} {
		folder(t)
		began := time.Now()
		code, _, stderr := start(t, func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk-0"}[name] }, append(args, "--store", "memory", "--model", "openai/gpt-4.1-mini", "--base-url", "openai=http://127.0.0.1:1/v1", "Should cities ban private cars?")...)
		require.Equal(t, exitProvider, code, stderr)
		require.Less(t, time.Since(began), time.Minute, "the debate waits for an hour otherwise")
		require.Contains(t, stderr, `connection refused`)
		require.Contains(t, stderr, "cannot be reached: start it, or check its address")
		require.NotContains(t, stderr, "…")
	}
}

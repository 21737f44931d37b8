package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/sqlite"
)

// held contains the arguments for a debate of eleven calls.
var held = []string{"--protocol", "skeptic", "--store", "kept/d.db", topic}

// echo returns the length of the prompt, so that equal transcripts mean prompts of equal length.
func echo(prompt string) string { return fmt.Sprintf("%d bytes", len(prompt)) }

// texts returns the texts of the turns of the newest debate in the store.
func texts(t *testing.T) (list []string) {
	t.Helper()
	_, stdout, stderr := start(t, environment(), "show", heads(t)[0].ID, "--store", "kept/d.db", "--json")
	for _, turn := range state(t, []byte(stdout)).Result.Turns {
		list = append(list, turn.Text)
	}
	require.NotEmpty(t, list, stderr)
	return list
}

func heads(t *testing.T) (list []store.Status) {
	t.Helper()
	code, stdout, stderr := start(t, environment(), "list", "--json", "--store", "kept/d.db")
	require.Equal(t, 0, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &list))
	return list
}

// undisturbed returns the texts of a debate that is not interrupted.
func undisturbed(t *testing.T) []string {
	folder(t)
	calls := 0
	env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		calls = n + 1
		return echo(prompt)
	})
	code, _, stderr := start(t, env, held...)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, 11, calls)
	return texts(t)
}

// The first Ctrl-C pauses the debate after the calls in flight. The command resume continues it, and the transcript is
// the same as without the interrupt.
func TestAnInterruptedDebateIsResumed(t *testing.T) {
	want := undisturbed(t)
	folder(t)
	interrupted, paused := make(chan struct{}), make(chan struct{})
	calls := 0
	env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		calls = n + 1
		if n == 2 {
			close(interrupted)
			<-paused
		}
		return echo(prompt)
	})
	var stdout, stderr output
	stderr.seen = func(all string) {
		if strings.HasSuffix(all, "; use resume to continue\n") {
			close(paused)
		}
	}
	require.Equal(t, 1, run(t.Context(), interrupted, held, strings.NewReader(""), &stdout, &stderr, env), stderr.String())
	id := saved(t, stderr.String())
	require.Empty(t, stdout.String())
	require.Contains(t, stderr.String(), "interrupted: waiting for the calls in flight, press Ctrl-C again to cancel them; use resume to continue\n")
	require.Contains(t, stderr.String(), "\nProposer · defend · ", "the call in flight is committed")
	require.True(t, strings.HasSuffix(stderr.String(), "debate: debate paused\ncontinue with: debate resume "+id+" --store kept/d.db\n"), stderr.String())
	require.Equal(t, 3, calls)

	code, answer, progress := start(t, env, "resume", id, "--store", "kept/d.db")
	require.Equal(t, 0, code, progress)
	require.Equal(t, 11, calls)
	require.Equal(t, want, texts(t))
	require.Equal(t, want[len(want)-1]+"\n", answer)
	require.Contains(t, plainly(progress), "resuming: round 2 of 5, defend 1/1, attack 0/1\n\nSkeptic · attack · N tokens, 0.0s\n")

	code, _, progress = start(t, env, "resume", id, "--store", "kept/d.db")
	require.Equal(t, 1, code)
	require.Contains(t, progress, "already completed")
}

// The second Ctrl-C, or a crash, loses only the call in flight.
func TestADebateWhoseProcessEndedIsResumed(t *testing.T) {
	want := undisturbed(t)
	folder(t)
	ctx, kill := context.WithCancel(t.Context())
	env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n == 2 {
			kill()
		}
		return echo(prompt)
	})
	var stdout, stderr output
	require.Equal(t, 1, run(ctx, nil, held, strings.NewReader(""), &stdout, &stderr, env), stderr.String())
	require.Contains(t, stderr.String(), "debate not completed, state is running.awaiting_responses\ncontinue with: debate resume ")

	code, _, progress := start(t, env, "resume", saved(t, stderr.String()), "--store", "kept/d.db")
	require.Equal(t, 0, code, progress)
	require.Equal(t, want, texts(t))
}

// The first signal pauses the debate. A second one, or a kill, loses the call in flight.
func TestSignalsOfTheProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals to send")
	}
	want := undisturbed(t)
	for _, tt := range []struct {
		name          string
		first, second os.Signal
		state         string
		turns, code   int
	}{
		{"Ctrl-C", os.Interrupt, nil, "paused", 4, 1},
		{"Ctrl-C twice", os.Interrupt, os.Interrupt, "paused", 3, 1},
		{"a kill", os.Kill, nil, "running.awaiting_responses", 3, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder(t)
			running := make(chan *os.Process, 1)
			noted := make(chan struct{})
			over := make(chan struct{})
			env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
				if n != 2 {
					return echo(prompt)
				}
				process := <-running
				_ = process.Signal(tt.first)
				select {
				case <-noted:
				case <-over:
				}
				if tt.second != nil {
					_ = process.Signal(tt.second)
					<-over
				}
				return echo(prompt)
			})
			stderr := &output{seen: func(all string) {
				if strings.HasSuffix(all, "; use resume to continue\n") {
					close(noted)
				}
			}}
			cmd := binaryCommand(t, env, held...)
			cmd.Stderr = stderr
			require.NoError(t, cmd.Start())
			running <- cmd.Process
			require.Error(t, cmd.Wait())
			close(over)
			require.Equal(t, tt.code, cmd.ProcessState.ExitCode(), stderr.String())
			require.Equal(t, tt.state, string(heads(t)[0].State))
			require.Len(t, texts(t), tt.turns)

			code, _, progress := start(t, env, "resume", saved(t, stderr.String()), "--store", "kept/d.db")
			require.Equal(t, 0, code, progress)
			require.Equal(t, want, texts(t))
		})
	}
}

func TestADebateThatIsNotKeptIsCanceled(t *testing.T) {
	folder(t)
	interrupted, left := make(chan struct{}), make(chan struct{})
	env := server(t, func(n int, w http.ResponseWriter, prompt string) string {
		if n == 2 {
			close(interrupted)
			<-left
		}
		return echo(prompt)
	})
	var stdout, stderr output
	require.Equal(t, 1, run(t.Context(), interrupted, []string{"--protocol", "skeptic", topic, "--output", "state.json"}, strings.NewReader(""), &stdout, &stderr, env))
	close(left)
	require.Contains(t, stderr.String(), "interrupted: canceling the debate; a debate in a store could be resumed\n")
	require.Contains(t, stderr.String(), "debate: debate canceled\n")
	require.Empty(t, stdout.String())
	require.Len(t, state(t, []byte(contents(t, "state.json"))).Result.Turns, 3, "the turns are not lost")
}

// A command in another process affects the process that runs the debate.
func TestADebateIsPausedAndCanceledFromElsewhere(t *testing.T) {
	for command, is := range map[string]string{"pause": "paused", "cancel": "canceled"} {
		t.Run(command, func(t *testing.T) {
			folder(t)
			var stdout, stderr output
			env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
				if n == 2 {
					id := heads(t)[0].ID
					code, said, progress := start(t, environment(), command, id, "--store", "kept/d.db")
					require.Equal(t, 0, code, progress)
					require.Equal(t, id+" "+is+"\n", said)
				}
				return echo(prompt)
			})
			require.Equal(t, 1, run(t.Context(), nil, held, strings.NewReader(""), &stdout, &stderr, env), stderr.String())
			require.Contains(t, stderr.String(), " "+is)
			require.Equal(t, is, string(heads(t)[0].State))
		})
	}
}

func TestADebateThatFailedIsRetried(t *testing.T) {
	want := undisturbed(t)
	folder(t)
	env := server(t, func(n int, w http.ResponseWriter, prompt string) string {
		if n == 10 { // the synthesis
			w.WriteHeader(http.StatusBadRequest)
			return ""
		}
		return echo(prompt)
	})
	code, _, stderr := start(t, env, held...)
	require.Equal(t, 3, code, stderr)
	id := saved(t, stderr)
	require.Contains(t, stderr, "run step synthesis of Synthesizer in round 5: call provider openai")
	require.Contains(t, stderr, "\ncontinue with: debate retry "+id+" --store kept/d.db\n")

	code, stdout, _ := start(t, env, "show", id, "--store", "kept/d.db")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, topic+"\nskeptic/1, error in round 5")
	require.Contains(t, stdout, "run step synthesis of Synthesizer")

	code, _, stderr = start(t, env, "resume", id, "--store", "kept/d.db")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "the debate has failed\ncontinue with: debate retry "+id)

	code, answer, stderr := start(t, env, "retry", id, "--store", "kept/d.db", "--report", "out/r.md")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, want, texts(t))
	require.Equal(t, want[len(want)-1]+"\n", answer)
	require.Contains(t, contents(t, "out/r.md"), topic[:10])

	_, shown, _ := start(t, env, "show", id, "--store", "kept/d.db")
	require.True(t, strings.HasSuffix(shown, "\n== answer ==\n\n"+answer), shown)
	require.Contains(t, shown, "completed in round 5: round_limit\n\n== setup ==\n\nretriever (retrieval):\nDocuments used: ")
	for i, text := range want[1:] {
		require.Contains(t, shown, "):\n"+text+"\n\n", i)
	}
	require.Equal(t, 5, strings.Count(shown, "\n== round "))
}

// A debate continues only with the providers that it started with. It never continues with the offline demo model because
// a key or a file is missing.
func TestADebateGoesOnWithItsProvidersOnly(t *testing.T) {
	for _, tt := range []struct {
		name, began string // the configuration that it begins with
		args        []string
		keys        []string
		code        int
		says        string
	}{
		{"the key is missing", "", nil, nil, 4, "connect provider openai: no API key for openai, set OPENAI_API_KEY"},
		{"the key of another is there", "", nil, []string{"ANTHROPIC_API_KEY", "x"}, 4, "set OPENAI_API_KEY"},
		{"a file has others", "", []string{"--config", "other.json"}, nil, 4, "set OPENAI_API_KEY"},
		{"its file is missing", `{"providers": {"main": {"kind": "openai"}}}`, nil, nil, 2, `connect providers: none of the debate's providers ["main"] is available`},
		{"another file", `{"providers": {"main": {"kind": "openai"}}}`, []string{"--config", "other.json"}, nil, 2, `participants[0].provider: "main" is unknown, use one of a, b`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder(t, "other.json", `{"providers": {"a": {"kind": "offline"}, "b": {"kind": "offline"}}}`)
			env := server(t, func(n int, w http.ResponseWriter, _ string) string {
				if n == 1 {
					w.WriteHeader(http.StatusBadRequest)
					return ""
				}
				return "What a model says."
			})
			if tt.began != "" {
				require.NoError(t, os.WriteFile(defaultConfigPath, []byte(tt.began), 0o600))
			}
			code, _, stderr := start(t, env, held...)
			require.Equal(t, 3, code, stderr)
			_ = os.Remove(defaultConfigPath)
			id := saved(t, stderr)

			code, stdout, stderr := start(t, environment(tt.keys...), append([]string{"retry", id, "--store", "kept/d.db"}, tt.args...)...)
			require.Equal(t, tt.code, code, stderr)
			require.Contains(t, stderr, tt.says)
			require.Empty(t, stdout)
			require.Equal(t, []string{"What a model says."}, texts(t)[1:])
			require.Equal(t, "error", string(heads(t)[0].State))
		})
	}
}

// A debate of another program may name no provider. It continues with the provider of the environment, not with the
// offline demo model.
func TestADebateThatNamesNoProvider(t *testing.T) {
	folder(t)
	env := server(t, func(_ int, _ http.ResponseWriter, prompt string) string { return echo(prompt) })
	kept, err := sqlite.Open("d.db")
	require.NoError(t, err)
	d, err := debate.New(t.Context(), debate.Config{
		ID: "foreign", Topic: topic, Protocol: skeptic.Protocol{}, Participants: presets["skeptic"].agents, Judges: []debate.Participant{{Name: "J"}},
	}, debate.Options{Store: kept, Providers: map[string]providers.Provider{"m": &scripted.Provider{}}})
	require.NoError(t, err)
	require.NotEmpty(t, d.ID())
	require.NoError(t, kept.Close())

	code, _, stderr := start(t, environment(), "resume", "foreign", "--store", "d.db")
	require.Equal(t, exitInput, code, stderr)
	require.Contains(t, stderr, "connect providers: none of the debate's providers [] is available")
	code, _, stderr = start(t, env, "resume", "foreign", "--store", "d.db")
	require.Equal(t, 0, code, stderr)
}

func TestAQuestionIsAnswered(t *testing.T) {
	folder(t, defaultConfigPath, `{"store": "kept/d.db", "protocol": "skeptic", "on_judge_failure": "ask", "on_failure": "ask"}`)
	env := server(t, func(n int, w http.ResponseWriter, prompt string) string {
		if n == 2 {
			w.WriteHeader(http.StatusBadRequest)
			return ""
		}
		return echo(prompt)
	})
	code, _, stderr := start(t, env, topic)
	require.Equal(t, 1, code, stderr)
	id := saved(t, stderr)
	require.Contains(t, stderr, "debate: waiting for a decision: ")
	require.Contains(t, stderr, "\n  retry: ")
	require.Contains(t, stderr, "\ncontinue with: debate answer "+id+" ANSWER --store kept/d.db\n")

	_, stdout, _ := start(t, env, "show", id)
	require.Contains(t, stdout, "waiting for a decision: ")

	code, _, stderr = start(t, env, "resume", id)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "a question is open")
	code, _, stderr = start(t, env, "answer", id)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "no decision given: ")
	code, _, stderr = start(t, env, "answer", id, "perhaps")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "perhaps")
	code, stdout, stderr = start(t, env, "answer", id, "retry")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, id+" running.awaiting_responses\n", stdout)
	require.Equal(t, "continue with: debate resume "+id+" --store kept/d.db\n", stderr)
	code, _, stderr = start(t, env, "resume", id)
	require.Equal(t, 0, code, stderr)
}

func TestCommandsThatCannotBe(t *testing.T) {
	folder(t)
	_, _, stderr := start(t, environment(), held...)
	id := saved(t, stderr)
	interrupted := make(chan struct{})
	close(interrupted)
	var progress output
	require.Equal(t, 1, run(t.Context(), interrupted, held, strings.NewReader(""), &output{}, &progress, environment()))
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"show", "nobody"}, 2, "load debate nobody: no such debate in kept/d.db"},
		{[]string{"pause", id}, 1, "pause debate " + id},
		{[]string{"cancel", id}, 1, "cancel debate " + id},
		{[]string{"retry", id}, 1, "already completed"},
		{[]string{"resume", id, "yes"}, 2, `unexpected argument after "resume": "yes"`},
		{[]string{"answer", id, "yes"}, 1, "it waits for nobody"},
	} {
		code, stdout, stderr := start(t, environment(), append(tt.args, "--store", "kept/d.db")...)
		require.Equal(t, tt.code, code, stderr)
		require.Contains(t, stderr, tt.says)
		require.Empty(t, stdout)
	}
	code, _, stderr := start(t, environment(), "resume", saved(t, progress.String()), "--store", "kept/d.db")
	require.Equal(t, 0, code, stderr)
}

func TestDebatesAreListed(t *testing.T) {
	folder(t, defaultConfigPath, `{"store": "kept/d.db"}`)
	_, _, _ = start(t, environment(), "--protocol", "vote", "A topic\nof two lines, which is by far too long to stand on one line of a list")
	_, _, _ = start(t, environment(), "--protocol", "procon", topic)
	code, stdout, stderr := start(t, environment(), "list")
	require.Equal(t, 0, code)
	require.Empty(t, stderr)
	lines := strings.Split(stdout, "\n")
	require.Len(t, lines, 4)
	require.Regexp(t, `^ID +STATE +REASON +ROUND +PROTOCOL +CREATED +TOPIC$`, lines[0])
	require.Regexp(t, `^[0-9a-f-]{36}  completed  round_limit  5/5    procon/1  \S+ \S+  Should cities ban private cars\?$`, lines[1])
	require.Regexp(t, `^[0-9a-f-]{36}  completed  \S+ +2/2    vote/1 +\S+ \S+  A topic of two lines, which .*…$`, lines[2])
	_, err := os.Stat("kept/d.db")
	require.NoError(t, err)
}

// An error that stops the command, here a full disk, is said, even if the state of the debate is not an error.
func TestAFullDiskIsSaid(t *testing.T) {
	folder(t)
	env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n == 2 {
			db, err := sql.Open("sqlite", "file:kept/d.db?_pragma=busy_timeout(60000)")
			if assert.NoError(t, err) {
				_, err = db.ExecContext(t.Context(), `CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(FAIL, 'no space left'); END`)
				assert.NoError(t, err)
				assert.NoError(t, db.Close())
			}
		}
		return echo(prompt)
	})
	code, stdout, stderr := start(t, env, held...)
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Regexp(t, `(?s)debate: [^\n]*no space left[^\n]*\ncontinue with: debate resume `+saved(t, stderr)+` --store kept/d.db\n$`, stderr)
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/sqlite"
	"github.com/elenchus-go/debate/transcript"
)

// ids runs debates in a database and returns their ids, oldest first.
func ids(t *testing.T, n int) []string {
	t.Helper()
	var list []string
	for range n {
		code, _, stderr := start(t, environment(), "--store", "d.db", "--rounds", "1", "--protocol", "procon", topic)
		require.Equal(t, 0, code, stderr)
		_, saved, _ := strings.Cut(stderr, "saved as ")
		id, _, _ := strings.Cut(saved, " ")
		list = append(list, id)
	}
	return list
}

// The beginning of an id stands for it wherever a command reads an id, if there is only one.
func TestTheBeginningOfAnID(t *testing.T) {
	folder(t)
	list := ids(t, 2)
	common := 0
	for list[0][common] == list[1][common] {
		common++
	}
	short, both := list[0][:common+1], list[0][:common]
	in := []string{"--store", "d.db"}
	code, stdout, stderr := start(t, environment(), append([]string{"show", short}, in...)...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "Judge (judge):")
	for _, args := range [][]string{
		{"show"}, {"resume"}, {"retry"}, {"pause"}, {"cancel"}, {"fork"}, {"export"}, {"delete", "--yes"}, {"answer", "--me", "Ada"}, {"inspect", "--no-open"}, {"inspect", "--no-open", "--controls"},
	} {
		if both != "" {
			code, _, stderr = start(t, environment(), append(append(args, both), in...)...)
			require.Equal(t, 2, code, args)
			require.Contains(t, stderr, "several ids begin with \""+both+"\"", args)
			require.Contains(t, stderr, list[0]+" ("+topic+")")
			require.Contains(t, stderr, list[1]+" ("+topic+")")
		}
		code, _, stderr = start(t, environment(), append(append(args, "nope"), in...)...)
		require.Equal(t, 2, code, args)
		require.Contains(t, stderr, "no such debate", args)
		require.NotContains(t, stderr, "begin")
	}
	_, _, stderr = start(t, environment(), append([]string{"resume", short}, in...)...)
	require.Contains(t, stderr, "resume debate "+list[0]+": already completed")

	code, stdout, stderr = start(t, environment(), append([]string{"fork", short, "--at", "1", "--rounds", "2", "--paused"}, in...)...)
	require.Equal(t, 0, code, stderr)
	fork, _, _ := strings.Cut(stdout, " ")
	_, stdout, _ = start(t, environment(), append([]string{"list"}, in...)...)
	require.Contains(t, stdout, "FORK OF")
	require.Regexp(t, fork+` .* `+list[0]+` +`+strings.TrimSuffix(topic, "?"), stdout)
	_, stdout, _ = start(t, environment(), append([]string{"show", fork}, in...)...)
	require.Regexp(t, `\nfork of `+list[0]+` at entry \d+\n`, stdout)

	code, stdout, stderr = start(t, environment(), append([]string{"delete", short, "--yes"}, in...)...)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, list[0]+" deleted\n", stdout)
}

func TestIsAbandoned(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		name          string
		state         fsm.State
		updated, beat time.Duration // ago
		want          bool
	}{
		{"a debate that just began", fsm.AwaitingResponses, 5 * time.Second, 0, false},
		{"a long call", fsm.AwaitingResponses, time.Hour, 12 * time.Second, false},
		{"a process that died", fsm.Completing, time.Hour, 40 * time.Second, true},
		{"a process that died at once", fsm.AwaitingResponses, time.Minute, 0, true},
		{"a person is asked", fsm.Paused, time.Hour, 0, false},
		{"a debate that was not started", fsm.Ready, time.Hour, 0, false},
		{"a failure", fsm.Error, time.Hour, 0, false},
		{"the end", fsm.Completed, time.Hour, time.Hour, false},
	} {
		s := store.Status{State: test.state, Updated: now.Add(-test.updated)}
		if test.beat > 0 {
			s.Driver.At = now.Add(-test.beat)
		}
		require.Equal(t, test.want, isAbandoned(s, now), test.name)
	}
}

// A debate whose process is gone is listed and shown with the command that continues it.
func TestAbandonedDebates(t *testing.T) {
	folder(t)
	id := ids(t, 1)[0]
	s, err := sqlite.Open("d.db")
	require.NoError(t, err)
	status, entries, err := s.Load(t.Context(), id, 0)
	require.NoError(t, err)
	cut := len(entries) - 4
	for i := range entries { // they are of another day
		at := entries[i].At
		entries[i].At = time.Date(2020, 1, 2, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
		data, err := json.Marshal(entries[i].Data)
		require.NoError(t, err)
		entries[i].Data = json.RawMessage(strings.NewReplacer(at.UTC().Format("2006-01-02T"), "2020-01-02T", id, "old").Replace(string(data)))
	}
	status.ID = "old"
	status.Seq = entries[cut-1].Seq
	status.Updated = entries[cut-1].At
	status.State = fsm.AwaitingResponses
	status.Ending = transcript.Ending{}
	require.NoError(t, s.Commit(t.Context(), store.Change{ID: "old", Entries: entries[:cut], Status: status}))
	require.NoError(t, s.Close())

	_, stdout, stderr := start(t, environment(), "list", "--store", "d.db")
	require.Regexp(t, `(?m)^old +running\.awaiting_responses +no process`, stdout)
	require.Contains(t, stderr, "no process runs debate old any more\ncontinue with: debate resume old --store d.db")
	_, stdout, stderr = start(t, environment(), "show", "ol", "--store", "d.db")
	require.Contains(t, stdout, "no process runs this debate any more\ncontinue with: debate resume old --store d.db", stderr)
}

func TestBackgroundFiles(t *testing.T) {
	folder(t, "facts.md", "\ufeff The city has 200,000 inhabitants.\n", "letter.txt", "I hate noise.", "debate-config.json", `{"background": "From the file."}`, "blank.md", " ", "empty.json", "{}")
	for _, test := range []struct {
		config string
		files  []string
		want   string
	}{
		{"empty.json", []string{"facts.md"}, "The city has 200,000 inhabitants."},
		{"empty.json", []string{"facts.md", "letter.txt"}, "facts.md:\n\nThe city has 200,000 inhabitants.\n\nletter.txt:\n\nI hate noise."},
		{"debate-config.json", []string{filepath.Join(".", "letter.txt")}, "From the file.\n\nletter.txt:\n\nI hate noise."},
	} {
		args := []string{"--config", test.config}
		for _, f := range test.files {
			args = append(args, "--background", f)
		}
		is, _ := composed(t, append(args, topic)...)
		require.Equal(t, test.want, is.Background)
	}
	for _, path := range []string{"blank.md", "missing.md", os.TempDir()} {
		code, _, stderr := start(t, environment(), "--background", path, topic)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "read background: ")
	}
}

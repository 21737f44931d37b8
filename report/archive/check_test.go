package archive_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// checked holds what check.mjs prints.
type checked struct {
	ID      string       `json:"id"`
	Entries int          `json:"entries"`
	Head    string       `json:"head"`
	Signed  int          `json:"signed"`
	State   string       `json:"state"`
	Outcome string       `json:"outcome"`
	Winner  string       `json:"winner"`
	Scores  judge.Scores `json:"scores"`
}

// check runs the checker in Node, which reads records without the library, on several records. It returns what the checker has found in
// each, or nil where it says that something is wrong.
func check(t *testing.T, records [][]byte, keys ...string) (found []*checked) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node: install version 20 or newer to run check.mjs")
	}
	dir := t.TempDir()
	var runs [][]string // the arguments of each run of the checker
	for i, record := range records {
		file := filepath.Join(dir, fmt.Sprint(i))
		require.NoError(t, os.WriteFile(file, record, 0o600))
		runs = append(runs, append([]string{file}, keys...))
	}
	input, err := json.Marshal(runs)
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), "node", "testdata/runs.mjs", "check.mjs")
	c.Stdin, c.Stderr = bytes.NewReader(input), os.Stderr
	out, err := c.Output()
	require.NoError(t, err)
	var ended []struct {
		Code       int
		Said, Errs string
	}
	require.NoError(t, json.Unmarshal(out, &ended))
	require.Len(t, ended, len(records))
	for _, e := range ended {
		if e.Code != 0 {
			require.Contains(t, e.Errs, "wrong: ")
			found = append(found, nil)
			continue
		}
		var is checked
		require.NoError(t, json.Unmarshal([]byte(e.Said), &is), "%s", e.Errs)
		found = append(found, &is)
	}
	return found
}

func TestTheCheckerInNodeAgrees(t *testing.T) {
	signer, verifier, public := debatetest.Keys(t, "example.org/debates")
	exports := forgedtest.Exports(t)
	names := slices.Sorted(maps.Keys(exports))
	var verified []*archive.Report
	var records [][]byte
	for _, name := range names {
		f := recordOf(t, exports[name])
		if name != "panel" {
			require.NoError(t, f.Sign(signer))
		}
		r, err := archive.Verify(t.Context(), f, debate.Options{}, verifier)
		require.NoError(t, err)
		verified, records = append(verified, r), append(records, text(t, f))
	}
	for i, c := range check(t, records, public) {
		name, r := names[i], verified[i]
		require.NotNil(t, c, name)
		require.Equal(t, r.Head, c.Head, name)
		require.Equal(t, r.Entries, c.Entries, name)
		require.Equal(t, r.Verdict == archive.Signed, c.Signed == c.Entries, name)
		require.Equal(t, string(r.Ending.Outcome), c.Outcome, name)
		if joint, err := panel.DecodeAnswer(r.Answer); err == nil {
			require.Equal(t, joint.Value.Winner, c.Winner, name)
		}
	}
}

// A jury of three in both orders, with a default, a participant who drops out, and an engine that signs.
func TestTheCheckerInNodeCombinesAJury(t *testing.T) {
	signer, verifier, public := debatetest.Keys(t, "example.org/engine")
	var mu sync.Mutex // judges reply at the same time
	random := rand.New(rand.NewPCG(30, 3))
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		names := []string{"Ada", "Bo"}
		mu.Lock()
		defer mu.Unlock()
		reply := enginetest.Reply(r, names, "So it is.", random.Uint64())
		for strings.Contains(reply, `"score":6`) {
			reply = strings.Replace(reply, `"score":6`, `"score":`+string('0'+rune(random.IntN(6))), 1)
		}
		if random.IntN(8) == 0 && r.SchemaName != "" {
			reply = "{" // the default
		}
		return scripted.Reply{Text: reply}
	}}
	var records [][]byte
	var winners []string
	var scores []judge.Scores
	for range 8 {
		s := store.Memory()
		e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": model}, Store: s, Signer: signer})
		c := config(panel.Protocol{Jury: judge.Jury{Swap: true}})
		c.Judges = []debate.Participant{{Name: "Jo"}, {Name: "Kim"}, {Name: "Lee"}}
		d := debatetest.Create(t, e, c)
		debatetest.Finish(t, d)
		f, err := archive.Record(t.Context(), e, "d")
		require.NoError(t, err)
		r, err := archive.Verify(t.Context(), again(t, f), debate.Options{}, verifier)
		require.NoError(t, err)
		require.Equal(t, archive.Signed, r.Verdict, r.Reason)
		joint, err := panel.DecodeAnswer(r.Answer)
		require.NoError(t, err)
		records, winners = append(records, text(t, f)), append(winners, joint.Value.Winner)
		scores = append(scores, scoresOf(t, debatetest.Result(t, d)))
	}
	for i, is := range check(t, records, public) {
		require.NotNil(t, is)
		require.Equal(t, is.Entries, is.Signed)
		require.Equal(t, winners[i], is.Winner)
		require.Equal(t, scores[i], is.Scores)
	}
}

// scoresOf returns the mean scores of a debate with a panel.
func scoresOf(t *testing.T, r *debate.Result) judge.Scores {
	t.Helper()
	byRound := map[int][]transcript.Turn{}
	for _, turn := range r.Assessments {
		byRound[turn.Round] = append(byRound[turn.Round], turn)
	}
	var list []judge.Assessment
	for _, turns := range byRound {
		joint, ok := judge.Jury{}.CombineAssessments(judge.Opinions[judge.Assessment](turns...))
		require.True(t, ok)
		list = append(list, joint.Value)
	}
	return judge.MeanScores(list...)
}

// What changes a file, both find.
func TestTheCheckerInNodeFindsDamages(t *testing.T) {
	pick := rand.New(rand.NewPCG(30, 4))
	signer, _, _ := debatetest.Keys(t, "k")
	f := recordOf(t, forgedtest.Exports(t)["panel"])
	require.NoError(t, f.Sign(signer))
	record := text(t, f)
	var changes []string
	var records [][]byte
	for range 40 {
		c := mutate(pick, record)
		if string(c.record) != string(record) {
			changes, records = append(changes, c.what), append(records, c.record)
		}
	}
	for i, found := range check(t, records) {
		require.Nil(t, found, changes[i])
	}
}

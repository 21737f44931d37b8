package archive_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// versions has records that versions of the library have written, in a folder for each number of rules, with the key that signed
// them and what Verify says of them. They are never rewritten: later versions must read them. Run the test with -update after
// the number of the rules was raised, to add a folder.
const versions = "testdata/rules-%d"

// rulesNow returns the number of the rules of this version.
func rulesNow(t *testing.T) int {
	t.Helper()
	ev, err := debate.ParseEvent(parsed(t, string(forgedtest.Exports(t)["panel"])).Entries[0].Data.(json.RawMessage))
	require.NoError(t, err)
	return ev.Meta().Rules.Number
}

// debates runs debates that are recorded: of presets, with people, with failures, and forks. It returns an engine that has them.
func debates(t *testing.T, signer note.Signer) *debate.Engine {
	presets := enginetest.PresetConfigs()
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		switch r.Model {
		case "fails":
			return scripted.Reply{Text: "I", Err: &providers.Error{Kind: providers.ServerError, Err: errors.New("overloaded")}}
		case "talks":
			return scripted.Reply{Text: "I would rather talk."}
		}
		return scripted.Reply{Text: enginetest.PresetReply(presets["panel"], r)}
	}}
	e := debatetest.Engine(t, debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": model}, KeepReplies: true, Signer: signer})
	create := func(id, preset string, change func(c *debate.Config)) *debate.Debate {
		c := presets[preset]
		c.ID, c.Participants = id, slices.Clone(c.Participants)
		change(&c)
		d := debatetest.Create(t, e, c)
		debatetest.Finish(t, d)
		return d
	}
	unchanged := func(*debate.Config) {}
	panel := create("panel", "panel with summaries in its window", unchanged)
	create("vote", "vote", unchanged)
	create("mad", "mad", unchanged)
	create("failures", "panel", func(c *debate.Config) {
		c.Participants[1].Model, c.Judges = "fails", []debate.Participant{{Name: "J", Model: "talks"}, {Name: "K"}}
		c.Retries = map[providers.ErrorKind]int{providers.ServerError: 1}
		c.OnFailure, c.OnJudgeFailure = debate.Degrade, debate.Continue
	})
	d := create("people", "panel", func(c *debate.Config) { c.Participants[0].Human = true })
	for debatetest.Result(t, d).State == fsm.Paused {
		list := debatetest.Waiting(t, d)
		require.NotEmpty(t, list)
		for n, asked := range list {
			if n == 0 && asked.Key.Round == 2 {
				require.NoError(t, d.Decline(t.Context(), asked.Key, "I have said it.", "Ann"))
			} else {
				require.NoError(t, d.Answer(t.Context(), asked.Key, "I would take the tram.", "Ann"))
			}
		}
		debatetest.Finish(t, d)
	}
	speech := speeches(t, panel)[2]
	fork := debatetest.Fork(t, e, "panel", speech.Seq, debate.Edits{ID: "fork", Turn: speech.Key, Reply: "I have changed my mind."})
	debatetest.Finish(t, fork)
	return e
}

// speeches returns the speeches of a debate.
func speeches(t *testing.T, d *debate.Debate) (list []transcript.Turn) {
	for _, turn := range debatetest.Result(t, d).Turns {
		if turn.Kind == transcript.Speech {
			list = append(list, turn)
		}
	}
	return list
}

// writeVersion writes the records of this version.
func writeVersion(t *testing.T, folder string) {
	signer, _, public := debatetest.Keys(t, "example.org/records")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "key.pub"), []byte(public+"\n"), 0o644))
	e := debates(t, signer)
	write := func(name string, f *archive.File) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := f.WriteTo(z)
		require.NoError(t, errors.Join(err, z.Close()))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".record.gz"), b.Bytes(), 0o644))
	}
	for _, id := range []string{"panel", "vote", "mad", "failures", "people", "fork"} {
		f, err := archive.Record(t.Context(), e, id)
		require.NoError(t, err)
		write(id, f)
		if id != "panel" {
			continue
		}
		d := debatetest.Open(t, e, id)
		_, err = f.Redact(speeches(t, d)[2].Key.String())
		require.NoError(t, err)
		write("redacted", f)
	}
}

// readVersion reads a record.
func readVersion(t *testing.T, path string) *archive.File {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	f, err := archive.ReadFile(z)
	require.NoError(t, err)
	return f
}

// Records of this and of earlier versions stay valid: their chains, their signatures and their arithmetic, and what follows by the
// same rules.
func TestRecordsOfAllVersionsAreVerified(t *testing.T) {
	now := rulesNow(t)
	if folder := fmt.Sprintf(versions, now); golden.Update() {
		if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
			writeVersion(t, folder)
		}
	}
	for number := 1; number <= now; number++ {
		folder := fmt.Sprintf(versions, number)
		public, err := os.ReadFile(filepath.Join(folder, "key.pub"))
		require.NoError(t, err, "run this test with -update, to add records of the rules with number %d", number)
		key, err := note.NewVerifier(strings.TrimSpace(string(public)))
		require.NoError(t, err)
		files, err := filepath.Glob(filepath.Join(folder, "*.record.gz"))
		require.NoError(t, err)
		require.Len(t, files, 7)
		for _, file := range files {
			name := strings.TrimSuffix(file, ".record.gz")
			t.Run(filepath.ToSlash(name), func(t *testing.T) {
				f := readVersion(t, file)
				if strings.HasSuffix(name, "fork") {
					f.Parent = readVersion(t, filepath.Join(folder, "panel.record.gz"))
				}
				r, err := archive.Verify(t.Context(), f, debate.Options{}, key)
				require.NoError(t, err)
				require.Zero(t, r.Count(debate.EntryWrong), r.Reason)
				require.NotEmpty(t, r.Signatures)
				for _, s := range r.Signatures {
					require.True(t, s.Known)
				}
				var counts strings.Builder
				for _, v := range []debate.EntryVerdict{debate.EntryDerived, debate.EntryInput, debate.EntryNotDerivable} {
					fmt.Fprintf(&counts, "%d entries %s\n", r.Count(v), v)
				}
				r.Checks, r.Library = nil, ""
				said, err := json.MarshalIndent(r, "", "  ")
				require.NoError(t, err)
				if number == now {
					golden.Require(t, name+".golden", counts.String()+string(said)+"\n")
				}
			})
		}
	}
}

// A version with other rules checks the chain, the signature and the arithmetic of a record, derives what follows by its own rules
// too, and says of the rest which version does.
func TestRecordsOfOtherRules(t *testing.T) {
	signer, verifier, _ := debatetest.Keys(t, "k")
	rules := fmt.Appendf(nil, `"rules":{"number":%d`, rulesNow(t))
	export := bytes.ReplaceAll(forgedtest.Exports(t)["panel"], rules, []byte(`"rules":{"number":99`))
	verify := func(change func(root any)) *archive.Report {
		root := forgedtest.Decode(t, export)
		change(root)
		f := withHeader(t, recorded(t, []byte(debatetest.Encode(t, root))), func(h, _ map[string]any) { h["library"] = "v0.9.0" })
		require.NoError(t, f.Sign(signer))
		r, err := archive.Verify(t.Context(), f, debate.Options{}, verifier)
		require.NoError(t, err)
		require.True(t, r.Signatures[0].Known)
		require.Equal(t, []string{"the rules with number 99"}, r.Lacks)
		return r
	}
	r := verify(func(any) {})
	require.Equal(t, archive.Signed, r.Verdict, "what the other rules led to follows by these, too")

	last, turn := -1, -1
	for i, e := range parsed(t, string(export)).Entries {
		ev, err := debate.ParseEvent(e.Data.(json.RawMessage))
		require.NoError(t, err)
		switch ev := ev.(type) {
		case debate.StateChanged:
			if ev.Ending.Outcome != "" {
				last = i
			}
		case debate.TurnDone:
			turn = i
		}
	}
	r = verify(func(root any) { // as the other rules have it
		forgedtest.Set(t, root, fmt.Sprintf(".entries[%d].data.ending.evidence", last), "All is said.")
		forgedtest.Set(t, root, fmt.Sprintf(".entries[%d].data.ending.outcome", last), "stopped")
	})
	require.Equal(t, archive.Partly, r.Verdict, r.Reason)
	require.Contains(t, r.Reason, "it lacks the rules with number 99; version v0.9.0 of the library wrote the record")
	require.Contains(t, r.Checks[last].Reason, "the rules of the engine that wrote it were {Number:99")

	r = verify(func(root any) { forgedtest.Set(t, root, fmt.Sprintf(".entries[%d].data.turn.usage.input", turn), 7) })
	require.Equal(t, archive.Wrong, r.Verdict, "the sum of usage is wrong by all rules")
}

// The first entries of a fork are those of its parent, whose record may be given. Another record of the parent is refused.
func TestTheRecordOfAParentIsCompared(t *testing.T) {
	folder := fmt.Sprintf(versions, rulesNow(t))
	fork, parent := readVersion(t, filepath.Join(folder, "fork.record.gz")), readVersion(t, filepath.Join(folder, "panel.record.gz"))
	for reason, f := range map[string]*archive.File{
		"": parent, `the debate is not a fork of "vote"`: readVersion(t, filepath.Join(folder, "vote.record.gz")),
		"the parent has another head at entry": recordOf(t, bytes.ReplaceAll(forgedtest.Exports(t)["panel with summaries in its window"], []byte(`"id":"d"`), []byte(`"id":"panel"`))),
	} {
		fork.Parent = f
		r, err := archive.Verify(t.Context(), fork, debate.Options{})
		require.NoError(t, err)
		if reason == "" {
			require.NotEqual(t, archive.Wrong, r.Verdict, r.Reason)
			continue
		}
		require.Equal(t, archive.Wrong, r.Verdict)
		require.Contains(t, r.Reason, reason)
	}
}

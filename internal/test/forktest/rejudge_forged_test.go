package forktest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Whether a prompt had words of what was left out follows from the entries, for models and people.
func TestForgedRemainsAreFound(t *testing.T) {
	const words = "Buses need less room than any number of cars on a street."
	cfg := lifeConfig()
	cfg.Judges[1] = debate.Participant{Name: "K", Human: true}
	e, m := newEngine(t, cfg)
	m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
		if k.Phase == "respond" {
			reply.Text = words + k.Actor
		}
	}
	parent := create(t, e, cfg)
	life{}.finish(t, parent, cfg, nil)
	omit := debate.Omission{Turns: []transcript.Key{{Run: 1, Round: 1, Phase: "respond", Actor: "A"}}}
	d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Omit: omit})
	life{}.finish(t, d, cfg, nil)
	derivedtest.Require(t, d)
	require.Len(t, debatetest.Result(t, d).Rejudged.Remains, 2)
	o, _ := options.Load(e)
	j, err := archive.Export(t.Context(), o.(debate.Options).Store, "again")
	require.NoError(t, err)
	for i, entry := range j.Entries {
		raw := string(entry.Data.(json.RawMessage))
		if !strings.Contains(raw, `"remains":true`) {
			continue
		}
		forged := *j
		forged.Entries = slices.Clone(j.Entries)
		forged.Entries[i].Data = json.RawMessage(strings.Replace(raw, `"remains":true`, `"remains":false`, 1))
		s := store.Memory()
		require.NoError(t, archive.Import(t.Context(), s, &forged))
		var wrong []int64
		for c, err := range debatetest.Open(t, debatetest.Engine(t, debate.Options{Store: s}), "again").VerifyEntries(t.Context()) {
			require.NoError(t, err)
			if c.Verdict == debate.EntryWrong {
				require.Contains(t, c.Reason, "words of what was left out")
				wrong = append(wrong, c.Seq)
			}
		}
		require.Equal(t, []int64{entry.Seq}, wrong)
	}
}

package archive_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// moderated runs a debate that a moderator decides. It returns the engine with its options, too.
func moderated(t *testing.T) (debate.Options, *debate.Engine, *debate.Debate) {
	t.Helper()
	cfg := enginetest.PresetConfigs()["mad"]
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": model}}
	e := debatetest.Engine(t, o)
	d := debatetest.Create(t, e, cfg)
	debatetest.Finish(t, d)
	return o, e, d
}

// The record of a rejudged debate is derived from its course. A text that is hidden is hidden in the course too.
func TestRecordOfARejudgedDebate(t *testing.T) {
	o, e, parent := moderated(t)
	d, err := e.Rejudge(t.Context(), parent.ID(), debate.Rejudge{ID: "again"})
	require.NoError(t, err)
	debatetest.Finish(t, d)

	f, err := archive.Record(t.Context(), e, "again")
	require.NoError(t, err)
	report, err := archive.Verify(t.Context(), f, o)
	require.NoError(t, err)
	require.Zero(t, report.Count(debate.EntryWrong)+report.Count(debate.EntryNotDerivable), "%v", report)
	var said transcript.Turn
	for _, turn := range debatetest.Result(t, d).Turns {
		if turn.Kind == transcript.Speech {
			said = turn
		}
	}
	shows := func() bool {
		b, err := f.MarshalText()
		require.NoError(t, err)
		return strings.Contains(string(b), said.Text)
	}
	require.True(t, shows())
	_, err = f.Redact(said.Key.String())
	require.NoError(t, err)
	require.False(t, shows(), "the course has the text too")
}

// Whoever changes the course of a rejudged debate, and what repeats it, contradicts the parent.
func TestAForgedCourseContradictsTheParent(t *testing.T) {
	o, e, d := moderated(t)
	again := func(of, id string) {
		d, err := e.Rejudge(t.Context(), of, debate.Rejudge{ID: id})
		require.NoError(t, err)
		debatetest.Finish(t, d)
	}
	again(d.ID(), "again")
	again("again", "twice")
	debatetest.Finish(t, debatetest.Fork(t, e, "again", debatetest.Status(t, debatetest.Open(t, e, "again")).Parent.Seq, debate.Edits{ID: "fork"}))
	for id, parent := range map[string]string{"again": d.ID(), "twice": "again", "fork": "again"} {
		t.Run(id, func(t *testing.T) {
			record := func(forge func(string) string) *archive.File {
				s := store.Memory()
				for _, name := range []string{parent, id} {
					j, err := archive.Export(t.Context(), o.Store, name)
					require.NoError(t, err)
					for i := range j.Entries {
						if name == id {
							j.Entries[i].Data = json.RawMessage(forge(string(j.Entries[i].Data.(json.RawMessage))))
						}
					}
					require.NoError(t, archive.Import(t.Context(), s, j))
				}
				e := debatetest.Engine(t, debate.Options{Store: s})
				f, err := archive.Record(t.Context(), e, id)
				require.NoError(t, err)
				f.Parent, err = archive.Record(t.Context(), e, parent)
				require.NoError(t, err)
				return f
			}
			verify := func(f *archive.File) *archive.Report {
				r, err := archive.Verify(t.Context(), f, debate.Options{})
				require.NoError(t, err)
				return r
			}
			truth := record(func(raw string) string { return raw })
			require.Equal(t, archive.Unsigned, verify(truth).Verdict, verify(truth).Reason)
			forged := record(func(raw string) string { return strings.ReplaceAll(raw, `"evidence":"`, `"evidence":"Not `) })
			require.Equal(t, archive.Wrong, verify(forged).Verdict)
			require.Contains(t, verify(forged).Reason, "of the course is not that of the parent")
			res := debatetest.Result(t, debatetest.Open(t, e, id))
			for _, f := range []*archive.File{truth, forged, truth.Parent} { // other texts are hidden
				_, err := f.Redact(res.Turns[len(res.Turns)-2].Key.String())
				require.NoError(t, err)
			}
			require.NotEqual(t, archive.Wrong, verify(truth).Verdict, verify(truth).Reason)
			require.Equal(t, archive.Wrong, verify(forged).Verdict)
		})
	}
}

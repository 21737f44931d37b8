package enginetest

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/store"
)

var formerTests = map[string]func(*env){
	"an older process leaves a debate alone that it does not understand, also while a newer process runs it": (*env).olderBeside,
}

// olderView shows a store to a process as if the process knew only earlier formats: the configuration has a format that is newer
// than its own, and the entries of tool calls have a type that it does not know.
type olderView struct{ store.Store }

var formatField = regexp.MustCompile(`"format": ?` + strconv.Itoa(store.Format) + `\b`)

// Load implements store.Store.
func (s olderView) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	head, entries, err := s.Store.Load(ctx, id, after)
	head.Format++
	entries = slices.Clone(entries)
	for i := range entries {
		e := &entries[i]
		data, encodeErr := json.Marshal(e.Data)
		if encodeErr != nil {
			return head, nil, encodeErr
		}
		switch e.Type {
		case "config":
			data = formatField.ReplaceAll(data, []byte(`"format":`+strconv.Itoa(store.Format+1)))
		case "tools":
			e.Type = "tools of a newer version"
			data = []byte(regexp.MustCompile(`"type": ?"tools"`).ReplaceAllString(string(data), `"type":"tools of a newer version"`))
		}
		e.Data = json.RawMessage(data)
	}
	return head, entries, err
}

// olderBeside runs a debate with tools and documents in a new process. After each event, an older process on the same storage
// tries all that changes a debate. It gets an error that says why, changes nothing, and still reads.
func (s *env) olderBeside() {
	cfg := pair(modes["in sequence"])
	cfg.ID, cfg.Limits.MaxRounds = "beside", 1
	cfg.Participants[0].Tools, cfg.Documents = []string{"look"}, []evidence.Document{evidence.Shared("law.md", "So it is.")}
	runs := &toolRuns{ran: map[string]int{}}
	newer := s.newProcess(runs.use(s))
	older := s.newProcessOver(olderView{s.backend.Open(s)})
	d := s.create(newer, cfg)
	refused := func() {
		before := s.archiveOf(newer, cfg.ID)
		d, err := older.Open(s.ctx, cfg.ID)
		require.NoError(s, err)
		_, err = d.RunOnce(s.ctx)
		for what, err := range map[string]error{
			"run once": err, "pause": d.Pause(s.ctx), "cancel": d.Cancel(s.ctx), "stop": d.Stop(s.ctx), "annotate": d.Annotate(s.ctx, "n", 1),
			"inject": d.Inject(s.ctx, debate.Remark{From: "P", Text: "Hm."}),
		} {
			require.ErrorIs(s, err, debate.ErrUnsupported, what)
			require.ErrorContains(s, err, "the journal has format "+strconv.Itoa(store.Format+1)+", this version of the library supports formats up to "+strconv.Itoa(store.Format), what)
		}
		for _, err := range d.Run(s.ctx) {
			require.ErrorIs(s, err, debate.ErrUnsupported)
		}
		_, err = older.Fork(s.ctx, cfg.ID, 1, debate.Edits{})
		require.ErrorIs(s, err, debate.ErrUnsupported)
		_, err = d.Result(s.ctx)
		require.NoError(s, err)
		require.Equal(s, before, s.archiveOf(newer, cfg.ID), "an older process has changed the debate")
	}
	rounds := 0
	for ev, err := range d.Run(s.ctx) {
		require.NoError(s, err)
		if ev.Meta().Live {
			continue
		}
		if _, ok := ev.(debate.ToolsCalled); ok {
			rounds++
		}
		if _, ok := ev.(debate.TurnDone); ok || rounds == 1 {
			refused()
		}
	}
	refused()
	require.Positive(s, rounds)
	require.Equal(s, "completed", string(s.result(d).State))
}

// archiveOf returns the journal and the status of a debate as JSON.
func (s *env) archiveOf(p *process, id string) string {
	s.Helper()
	j, err := archive.Export(s.ctx, p.store, id)
	require.NoError(s, err)
	return debatetest.Encode(s, j)
}

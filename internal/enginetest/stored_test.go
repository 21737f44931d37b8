package enginetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/internal/golden"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/storetest"
)

// storedConfigs returns the debates to store: those of the presets, and debates with people, with failures and controls,
// and a fork.
func storedConfigs() map[string]debate.Config {
	list := PresetConfigs()
	people := withOneJudge(presetConfig(panel.Protocol{}, 2, "A", "B"))
	people.AskBeforeVerdict, people.Participants[1].Human, people.Judges[0].Human = true, true, true
	list["people"] = people
	failing := presetConfig(panel.Protocol{Mode: panel.Simultaneous}, 3, "A", "B", "C")
	failing.Retries = map[providers.ErrorKind]int{providers.ServerError: 0}
	failing.Substitutes = []debate.Participant{{Model: "substitute"}}
	failing.Participants[1].Model, failing.Judges[1].Model = "fails", "talks"
	list["failures"] = failing
	return list
}

// storedOptions makes the participant with the model "fails" fail from its second call on, and the judge with the model "talks" reply
// without an object.
func storedOptions(cfg debate.Config) func(*debate.Options) {
	return func(o *debate.Options) {
		presetModel(cfg)(o)
		o.KeepReplies = true
		m, calls := o.Providers["m"].(*model), 0
		m.hook = func(_ context.Context, r providers.Request) error {
			if r.Model == "fails" {
				if calls++; calls > 1 {
					return &providers.Error{Kind: providers.ServerError, Err: errors.New("the service is down")}
				}
			}
			return nil
		}
		given := m.alter
		m.alter = func(r providers.Request, reply scripted.Reply, n int) scripted.Reply {
			if reply = given(r, reply, n); r.Model == "talks" {
				reply.Text = "I like A."
			}
			return reply
		}
	}
}

// storeDebate runs a debate with a remark, a note and a pause, and returns it as it is stored.
func (s *env) storeDebate(cfg debate.Config) StoredDebate {
	d := s.create(s.newProcess(storedOptions(cfg)), cfg)
	require.NoError(s, d.Annotate(s.ctx, "rating", 4))
	require.NoError(s, d.Inject(s.ctx, debate.Remark{ID: "1", From: "Mayor", Text: "Think of deliveries."}))
	s.runUntilEvent(d, 6)
	if s.status(d).State.Active() {
		require.NoError(s, d.Pause(s.ctx))
	}
	out := s.finish(d, func(ctx context.Context, d *debate.Debate) error { return ReplyForPeople(ctx, d, cfg) })
	j, err := archive.Export(s.ctx, s.backend.Open(s), cfg.ID)
	require.NoError(s, err)
	return StoredDebate{Outcome: out, Journal: j}
}

// With -update, this test stores debates that the folder lacks. It changes none that is there.
func TestEachPresetIsStored(t *testing.T) {
	has := StoredDebates(t)
	for name, cfg := range storedConfigs() {
		name = strings.NewReplacer(" ", "-", "'", "").Replace(name)
		if _, ok := has[name]; !ok && golden.Update() {
			m := store.Memory()
			s := newEnv(t, storetest.Backend{Open: func(testing.TB) store.Store { return m }})
			raw, err := json.Marshal(s.storeDebate(cfg))
			require.NoError(t, err)
			var b bytes.Buffer
			z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
			require.NoError(t, err)
			_, err = z.Write(raw)
			require.NoError(t, err)
			require.NoError(t, z.Close())
			require.NoError(t, os.WriteFile(filepath.Join("testdata", "format2", name+".json.gz"), b.Bytes(), 0o644))
			continue
		}
		require.Contains(t, has, name, "run this test with -update, and again")
	}
}

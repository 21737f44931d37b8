package enginetest

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/former"
	"github.com/elenchus-go/debate/store"
)

var formerTests = map[string]func(*env){
	"debates whose protocols have former names are read and go on": (*env).formerNames,
}

// formerNames stores debates of each protocol as an earlier version did, with its former name in the configuration and in
// the status, and imports them too. They are listed and go on with the present name, and end as they would have ended.
func (s *env) formerNames() {
	for was, now := range former.Protocols() {
		s.runSubtest(was, func(s *env) {
			cfg := PresetConfigs()[now]
			cfg.Labels = map[string]string{"protocol": now}
			want := s.runPresetInMemory(cfg).text
			begun := store.Memory()
			s.runUntilEvent(s.create(s.newProcessOver(begun, presetModel(cfg)), cfg), 6)
			j, err := archive.Export(s.ctx, begun, cfg.ID)
			require.NoError(s, err)
			b, err := json.Marshal(j)
			require.NoError(s, err)
			text := strings.ReplaceAll(string(b), `"`+now+`/1"`, `"`+was+`/1"`)
			require.Equal(s, 2, strings.Count(text, was), "the configuration and the status name the protocol")
			require.NoError(s, json.Unmarshal([]byte(text), j))
			for way, write := range map[string]func(store.Store) error{
				"stored": func(st store.Store) error {
					return st.Commit(s.ctx, store.Change{ID: cfg.ID, Entries: j.Entries, Status: j.Status})
				},
				"imported": func(st store.Store) error { return archive.Import(s.ctx, st, j) },
			} {
				p := s.newProcess(presetModel(cfg))
				require.NoError(s, write(p.store), way)
				q := store.Query{Labels: cfg.Labels, States: fsm.Active()}
				for status, err := range p.List(s.ctx, q) {
					require.NoError(s, err)
					require.Equal(s, now+"/1", status.Protocol, way)
				}
				counts, err := p.Count(s.ctx, q)
				require.NoError(s, err)
				require.Len(s, counts, 1, way)
				d := s.open(p, cfg.ID)
				require.Equal(s, now+"/1", s.status(d).Protocol, way)
				require.Equal(s, now+"/1", s.result(d).Protocol, way)
				s.runToEnd(d)
				require.Equal(s, want, s.formatOutcome(d), way)
				n, err := p.DeleteAll(s.ctx, store.Query{Labels: cfg.Labels})
				require.NoError(s, err)
				require.Equal(s, 1, n, way)
			}
			var c debate.Config
			require.NoError(s, json.Unmarshal([]byte(`{"topic": "Ban cars?", "protocol": {"name": "`+was+`"}}`), &c))
			require.Equal(s, now+"/1", c.Protocol.Name())
			c, err = s.newProcess().ParseConfig([]byte(`{"topic": "Ban cars?", "protocol": {"name": "` + was + `/1"}}`))
			require.NoError(s, err)
			require.Equal(s, now+"/1", c.Protocol.Name())
		})
	}
}

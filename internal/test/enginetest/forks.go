package enginetest

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

var forkTests = map[string]func(*env){
	"forks continue as their parent, in other processes": (*env).forked,
}

// forked makes forks at several entries. Each is found by its parent, continues in another process, and stays when the
// parent is deleted.
func (s *env) forked() {
	s.forEachMode(func(s *env, cfg debate.Config, want reference) {
		p := s.newProcess()
		parent := s.create(p, cfg)
		s.runToEnd(parent)
		end := s.status(parent).Seq
		var ids []string
		for seq := int64(1); seq <= end; seq += 3 {
			id := fmt.Sprintf("%s-%02d", cfg.ID, seq)
			_, err := s.newProcess().Fork(s.ctx, cfg.ID, seq, debate.Edits{ID: id})
			require.NoError(s, err)
			ids = append(ids, id)
		}
		_, err := p.Fork(s.ctx, ids[1], 0, debate.Edits{ID: cfg.ID + "-of-a-fork"})
		require.NoError(s, err)
		require.Equal(s, []string{cfg.ID + "-of-a-fork"}, s.forksOf(ids[1]))
		require.ElementsMatch(s, ids, s.forksOf(cfg.ID))
		require.NoError(s, p.Delete(s.ctx, cfg.ID))
		for i, id := range ids {
			later := s.newProcess()
			d := s.open(later, id)
			is := s.listedStatus(id)
			require.Equal(s, transcript.Parent{ID: cfg.ID, Seq: int64(1 + 3*i)}, is.Parent)
			require.False(s, is.State.Active())
			stood := s.result(d).Turns
			s.runToEnd(d)
			require.Equal(s, want.text, s.transcript(d), "fork %s", id)
			require.Len(s, later.model.requests(), len(s.result(d).Turns)-len(stood))
			s.requireJournalValid(id)
		}
	})
}

// forksOf returns the IDs of the forks of a debate, sorted.
func (s *env) forksOf(id string) (list []string) {
	s.Helper()
	for is, err := range s.newProcess().List(s.ctx, store.Query{Parent: id}) {
		require.NoError(s, err)
		list = append(list, is.ID)
	}
	slices.Sort(list)
	return list
}

package enginetest

import (
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/transcript"
)

// requireNoRepeatedCalls checks that a process called each step at most once, and none whose turn already existed.
func (s *env) requireNoRepeatedCalls(p *process, stood []transcript.Turn) {
	s.Helper()
	seen := map[string]bool{}
	for _, step := range turnDigests(stood) {
		seen[step] = true
	}
	for _, step := range p.model.requestDigests() {
		require.False(s, seen[step], "a step is called twice")
		seen[step] = true
	}
}

// requireJournalValid checks that a journal has no gap, that each turn occurs once under its own key, and that no entry is
// other than what follows from the entries before it.
func (s *env) requireJournalValid(id string) {
	s.Helper()
	status, entries, err := s.backend.Open(s).Load(s.ctx, id, 0)
	require.NoError(s, err)
	require.Len(s, entries, int(status.Seq))
	var keys []string
	for i, e := range entries {
		require.Equal(s, int64(i+1), e.Seq)
		if e.Key != "" {
			keys = append(keys, e.Key)
		}
	}
	d := s.openInNewProcess(id)
	require.ElementsMatch(s, s.turnKeys(d), keys)
	derivedtest.Require(s, d)
}

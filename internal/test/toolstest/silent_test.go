package toolstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// A step that is silent in a fork may have called tools before. Its calls stay, none is made again, and the numbers of later
// sources are derived.
func TestSilentStepsKeepTheirCalls(t *testing.T) {
	for name, protocol := range map[string]panel.Protocol{"sequential": {}, "parallel": {Mode: panel.Simultaneous}} {
		t.Run(name, func(t *testing.T) {
			db, w := store.Memory(), &world{rounds: 2, calls: 2}
			c := config(w)
			c.Protocol = protocol
			parent := run(t, w, c, db)
			for _, said := range debatetest.Result(t, parent).Turns {
				if said.Kind != transcript.Speech {
					continue
				}
				again := &world{rounds: 2, calls: 2}
				d := debatetest.Fork(t, newEngine(t, again, db), c.ID, 0, debate.Edits{Silent: debate.Omission{Turns: []transcript.Key{said.Key}}})
				require.Equal(t, said.Seq-1, debatetest.Result(t, d).Parent.Seq)
				debatetest.Finish(t, d)
				require.NotContains(t, again.asked, said.Key)
				require.NoError(t, d.Verify(t.Context()))
				derivedtest.Require(t, d)
				calls := 0
				for _, round := range roundsOf(events(t, d)) {
					if round.Key == said.Key {
						calls += len(round.Calls)
					}
				}
				require.Equal(t, 4, calls)
			}
		})
	}
}

package forktest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
)

// A fork may begin inside the change that made the debate of which it is a fork. Its entries follow all the same.
func TestForksInsideTheChangeOfAForkAreDerived(t *testing.T) {
	for name, l := range lives() {
		t.Run(name, func(t *testing.T) {
			cfg, e, m, parent := l.lead(t)
			m.take()
			sample := enginetest.NewSample(t, 12)
			for _, ev := range events(t, parent)[1:] {
				if !sample.Tries("entry") {
					continue
				}
				seq := ev.Meta().Seq
				first := fork(t, e, seq, debate.Edits{ID: fmt.Sprint("fork-", seq)})
				last := int64(len(events(t, first)))
				for at := seq + 1; at <= last; at++ {
					second := fork2(t, e, first, at)
					derivedtest.Require(t, second)
					for inner := at + 1; inner <= int64(len(events(t, second))); inner++ {
						derivedtest.Require(t, fork2(t, e, second, inner))
					}
					if at%3 == 0 {
						l.finish(t, second, cfg, nil)
						derivedtest.Require(t, second)
					}
				}
			}
		})
	}
}

// fork2 forks a fork.
func fork2(t *testing.T, e *debate.Engine, d *debate.Debate, seq int64) *debate.Debate {
	t.Helper()
	fork, err := e.Fork(t.Context(), d.ID(), seq, debate.Edits{ID: fmt.Sprint(d.ID(), "-", seq)})
	require.NoError(t, err)
	return fork
}

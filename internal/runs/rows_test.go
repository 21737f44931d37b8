package runs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/store"
)

func TestTheDebatesOfARunAreOneRow(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	of := func(id string, state fsm.State, labels ...string) store.Status {
		s := store.Status{ID: id, State: state, Created: at, Labels: map[string]string{}}
		for i := 0; i < len(labels); i += 2 {
			s.Labels[labels[i]] = labels[i+1]
		}
		at = at.Add(-time.Minute)
		return s
	}
	all := runs.Rows([]store.Status{
		of("influence-1", fsm.Completed, "influence", "mine"), of("influence-2", fsm.Error, "influence", "mine"),
		of("eval-1", fsm.Completed, "eval", "tasks"), of("own", fsm.Paused, "eval", "tasks"), of("eval-2", fsm.Completed, "eval", "tasks"),
		of("mine", fsm.Completed), of("influence-3", fsm.Completed, "influence", "another"), of("tournament-1", fsm.Completed),
	})
	var list []string
	for _, r := range all {
		if r.Debate != nil {
			list = append(list, r.Debate.ID)
			continue
		}
		list = append(list, r.Group.Kind+" "+r.Group.Name+", "+r.Group.Summary())
	}
	require.Equal(t, []string{
		"eval tasks, 2 debates: completed 2", "own", "mine", "influence mine, 2 debates: completed 1, error 1",
		"influence another, 1 debate: completed 1", "tournament-1",
	}, list, "a label alone makes no run, and a run is below its debate")
	require.Empty(t, runs.Rows(nil))
}

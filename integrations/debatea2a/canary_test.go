package debatea2a_test

import (
	"encoding/json"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debatea2a"
	"github.com/elenchus-go/debate/internal/test/canarytest"
)

// No event about a debate of any preset has a private text or the secret of its journal.
func TestNoEventHasAPrivateText(t *testing.T) {
	for name, cfg := range canarytest.Presets() {
		t.Run(name, func(t *testing.T) {
			c := canarytest.New(t, cfg)
			e, kept, tools := c.Tools()
			agent, err := debatea2a.New(e, debatea2a.Options{Tools: tools})
			require.NoError(t, err)
			client := connect(t, serve(t, agent))
			var everything string
			var id a2a.TaskID
			for event, err := range client.SendStreamingMessage(t.Context(), question()) {
				require.NoError(t, err)
				raw, err := json.Marshal(event)
				require.NoError(t, err)
				everything, id = everything+string(raw)+"\n", event.TaskInfo().TaskID
			}
			task, err := client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id})
			require.NoError(t, err)
			require.Equal(t, a2a.TaskStateCompleted, task.Status.State, textOf(task.Status))
			c.Out.Hide(canarytest.KeysIn(t, kept, string(id)))
			c.Out.Add("events", everything)
			c.Out.JSON("task", task)
			c.Require(5_000)
		})
	}
}

package debatea2a_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debatea2a"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/toolviewtest"
)

// A client hears who calls which tools, and passes on a person's decision about a call, whose arguments it sees whole.
func TestCallsOfTools(t *testing.T) {
	e, _ := toolviewtest.Engine(t)
	c := toolviewtest.Config()
	c.ID, c.Topic = "", ""
	a, err := debatea2a.New(e, debatea2a.Options{Tools: debatetool.Options{Presets: map[string]debatetool.Preset{"default": {Config: c}}}})
	require.NoError(t, err)
	client := connect(t, serve(t, a))
	var said []string
	var last a2a.TaskStatus
	var id a2a.TaskID
	everything := ""
	for event, err := range client.SendStreamingMessage(t.Context(), question()) {
		require.NoError(t, err)
		raw := debatetest.Encode(t, event)
		everything += raw + "\n"
		id = event.TaskInfo().TaskID
		if u, ok := event.(*a2a.TaskStatusUpdateEvent); ok {
			said, last = append(said, textOf(u.Status)), u.Status
		}
	}
	require.Contains(t, said, "Ada calls look.")
	require.Contains(t, said, "Ada calls order.")
	require.Equal(t, a2a.TaskStateInputRequired, last.State)
	toolviewtest.RequireSafe(t, textOf(last), 8<<10, "Ada wants to call the tool order with these arguments:", toolviewtest.Ordered)

	task := send(t, client, message(id, a2a.NewDataPart(map[string]any{"action": "refuse", "text": toolviewtest.Reason, "by": "Pat"})))
	require.Equal(t, a2a.TaskStateCompleted, task.Status.State, textOf(task.Status))
	raw := debatetest.Encode(t, task)
	toolviewtest.RequireSafe(t, everything+raw, 100_000, "Checked: 1 quote verified, 1 altered, 1 not found.", "2 quotes by Ada are not in the sources that they name.")
	d := debatetest.Open(t, e, string(id))
	r := debatetest.Result(t, d)
	require.Equal(t, "completed", string(r.State))
}

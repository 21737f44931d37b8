package debatetool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/toolviewtest"
)

// A caller hears who calls which tools, sees a call that waits for a person with its whole arguments, and passes on the decision.
func TestCallersSeeCallsOfTools(t *testing.T) {
	for _, forPeople := range []bool{false, true} {
		e, _ := toolviewtest.Engine(t)
		c := toolviewtest.Config()
		c.ID, c.Topic = "", ""
		set, err := debatetool.New(e, debatetool.Options{Presets: map[string]debatetool.Preset{"default": {Config: c}}, MaxText: 40})
		require.NoError(t, err)
		if forPeople {
			set = set.ForPeople()
		}
		var texts []string
		var out debatetool.Output
		for p, err := range set.Stream(t.Context(), debatetool.Input{Topic: "Is the rent too high?"}) {
			require.NoError(t, err)
			texts = append(texts, p.Text)
			if p.Output != nil {
				out = *p.Output
			}
		}
		require.Contains(t, texts, "Ada calls look.")
		require.Contains(t, texts, "Ada calls order.")
		require.Equal(t, "waiting", out.Status)
		require.Len(t, out.Waiting, 1)
		ask := out.Waiting[0]
		toolviewtest.RequireSafe(t, ask.Task, 4<<10, "Ada wants to call the tool order with these arguments:", toolviewtest.Ordered, "cell")
		toolviewtest.RequireSafe(t, out.Text(), 16<<10, toolviewtest.Ordered)
		require.Len(t, ask.Choices, 2)

		debatetest.Call(t, set.Answer, debatetool.Reply{ID: out.ID, Step: ask.Step, Action: "refuse", Text: toolviewtest.Reason, By: "Pat"})
		out = debatetest.Call(t, set.Run, debatetool.Input{ID: out.ID})
		require.Equal(t, "completed", out.Status)
		raw, err := json.Marshal(out)
		require.NoError(t, err)
		toolviewtest.RequireSafe(t, string(raw), 32<<10, "2 quotes by Ada are not in the sources that they name.")
		all, err := set.Status(t.Context(), out.ID, 0)
		require.NoError(t, err)
		toolviewtest.RequireSafe(t, all.Text(), 32<<10, "2 quotes by Ada are not in the sources that they name.", "\nChecked: 1 quote verified, 1 altered, 1 not found.\n")
		d, err := e.Open(t.Context(), out.ID)
		require.NoError(t, err)
		var told string
		for m, err := range d.Replay(t.Context()) {
			require.NoError(t, err)
			if round, ok := m.Event.(debate.ToolsCalled); ok && round.Calls[0].Name == "order" {
				told = round.Calls[0].Text
			}
		}
		require.Equal(t, "A person refused this call: "+toolviewtest.Reason, told)
	}
}

// The name of a tool that a model makes up is not passed on.
func TestNamesThatModelsMakeUp(t *testing.T) {
	e, _ := toolviewtest.Engine(t, func(o *debate.Options) { o.Tools = o.Tools[1:] }) // without look
	c := toolviewtest.Config()
	c.ID = ""
	c.Topic = ""
	c.Documents = nil
	for i := range c.Participants {
		c.Participants[i].Tools = []string{"order"}
	}
	c.Judges[0].Tools = nil
	set, err := debatetool.New(e, debatetool.Options{Presets: map[string]debatetool.Preset{"default": {Config: c}}})
	require.NoError(t, err)
	var texts []string
	for p, err := range set.Stream(t.Context(), debatetool.Input{Topic: "Is the rent too high?"}) {
		require.NoError(t, err)
		texts = append(texts, p.Text)
	}
	require.Contains(t, texts, "Ada calls a tool that does not exist.")
}

package debate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

func TestSurvivesACrash(t *testing.T) {
	ctx := t.Context()
	model := scripted.Text("Cars are freedom.", "Cars are noise.", "Freedom ends at the kerb.", "Freedom ends at the kerb.", "Buses are slow.") // the third call is cut and made again
	jury := &scripted.Provider{Replies: []scripted.Reply{
		{Text: "{\"should_con", Chunks: 2, Err: &providers.Error{Kind: providers.Network}}, // cut, tried again
		{Text: assess(t, true, "A", "B")},
		{Text: assess(t, false, "A", "B")},
		{Text: `{"summary": "A draw.", "quality": 50}`},
	}}
	opts := debate.Options{
		Store:     store.Memory(),
		Providers: map[string]providers.Provider{"m": model, "j": jury},
	}
	cfg := debate.Config{
		ID: "d1", Topic: "Ban cars?",
		Participants: []debate.Participant{{Name: "A", Provider: "m"}, {Name: "B", Provider: "m"}},
		Judges:       []debate.Participant{{Name: "J", Provider: "j"}},
	}
	d, err := debate.New(ctx, cfg, opts)
	require.NoError(t, err)
	for ev, err := range d.Run(ctx) {
		require.NoError(t, err)
		t.Logf("%T %+v", ev, ev)
		if c, ok := ev.(debate.Chunk); ok && c.Key.Round == 2 {
			break // the process dies in the middle of a call
		}
	}
	require.Len(t, model.Calls(), 3)

	eng, err := debate.NewEngine(opts) // another process, same store
	require.NoError(t, err)
	d, err = eng.Open(ctx, "d1")
	require.NoError(t, err)
	for ev, err := range d.Run(ctx) {
		require.NoError(t, err)
		t.Logf("%T %+v", ev, ev)
	}
	res, err := d.Result(ctx)
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, res.State)
	require.Len(t, model.Calls(), 5) // only the cut call was made again
	require.Len(t, res.Turns, 7)     // 4 speeches, 2 assessments, 1 verdict

	err = d.Resume(ctx)
	var refused *fsm.Refused
	require.ErrorAs(t, err, &refused)
	require.Equal(t, fsm.Completed, refused.State)
}

package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func TestQueryMatches(t *testing.T) {
	head := store.Head{State: fsm.Paused, Created: noon, Labels: map[string]string{"team": "red", "note": ""}}
	for _, tt := range []struct {
		name  string
		query store.Query
		want  bool
	}{
		{"nothing asked", store.Query{}, true},
		{"its state", store.Query{States: []fsm.State{fsm.Paused}}, true},
		{"its state among others", store.Query{States: []fsm.State{fsm.Ready, fsm.Paused}}, true},
		{"other states", store.Query{States: []fsm.State{fsm.Ready, fsm.Error}}, false},
		{"its label", store.Query{Labels: map[string]string{"team": "red"}}, true},
		{"its label with another value", store.Query{Labels: map[string]string{"team": "blue"}}, false},
		{"one label of two", store.Query{Labels: map[string]string{"team": "red", "kind": "test"}}, false},
		{"a label that is empty", store.Query{Labels: map[string]string{"note": ""}}, true},
		{"an empty label that it does not have", store.Query{Labels: map[string]string{"kind": ""}}, false},
		{"created before a later time", store.Query{Before: noon.Add(time.Nanosecond)}, true},
		{"created before its own time", store.Query{Before: noon}, false},
		{"created before its own time elsewhere", store.Query{Before: noon.In(time.FixedZone("", 3600))}, false},
		{"created before an earlier time", store.Query{Before: noon.Add(-time.Nanosecond)}, false},
		{"a limit is not looked at", store.Query{Limit: -1}, true},
		{"all", store.Query{States: []fsm.State{fsm.Paused}, Labels: map[string]string{"team": "red"}, Before: noon.Add(1)}, true},
		{"all, but for the time", store.Query{States: []fsm.State{fsm.Paused}, Labels: map[string]string{"team": "red"}, Before: noon}, false},
		{"all, but for the state", store.Query{States: []fsm.State{fsm.Ready}, Labels: map[string]string{"team": "red"}, Before: noon.Add(1)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.query.Match(head))
		})
	}
	require.False(t, store.Query{Labels: map[string]string{"team": ""}}.Match(store.Head{}), "a debate without labels")
}

// A head is what web pages and lists show.
func TestHeadAsJSON(t *testing.T) {
	h := store.Head{
		ID: "d", Seq: 9, State: fsm.Judging, Cursor: transcript.Cursor{Run: 1, Round: 2, Stage: transcript.Assessment, Phase: "assess", Since: 8}, Rounds: 5,
		Topic: "Ban cars?", Protocol: "panel/1", Usage: transcript.Usage{Input: 3, Output: 2}, Running: time.Second, Format: store.Format, Created: noon, Updated: noon,
	}
	b, err := json.Marshal(h)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"id":"d","seq":9,"state":"running.judging","cursor":{"run":1,"round":2,"stage":"assessment","phase":"assess","since":8},"rounds":5,
		"topic":"Ban cars?","protocol":"panel/1","usage":{"input":3,"output":2},"running":1000000000,"format":1,
		"created":"2026-03-01T12:00:00Z","updated":"2026-03-01T12:00:00Z"}`, string(b))

	h.Ending, h.Labels = transcript.Ending{Outcome: transcript.Stopped}, map[string]string{"team": "red"}
	b, err = json.Marshal(h)
	require.NoError(t, err)
	var back store.Head
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, h, back)
}

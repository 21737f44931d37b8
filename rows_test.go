package debate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// goodConfig is a configuration as it is stored, with its defaults.
func goodConfig(t *testing.T) string {
	t.Helper()
	memory := store.Memory()
	_, err := debate.New(t.Context(), pair(nil), debate.Options{Store: memory, Providers: models(chatter(), court(t, 1))})
	require.NoError(t, err)
	_, entries, err := memory.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	return encode(t, entries[0].Data)
}

// rows puts rows into a store as a database would give them back, whatever they say.
func rows(t *testing.T, list ...any) store.Store {
	t.Helper()
	memory := store.Memory()
	for i, data := range list {
		if text, ok := data.(string); ok {
			data = json.RawMessage(text)
		}
		err := memory.Commit(t.Context(), store.Change{
			ID: "d", After: int64(i), Entries: []store.Entry{{Seq: int64(i + 1), Data: data}}, Head: store.Head{ID: "d", Seq: int64(i + 1)},
		})
		require.NoError(t, err)
	}
	return memory
}

// journal opens the debate that rows tell of.
func journal(t *testing.T, list ...any) *debate.Debate {
	t.Helper()
	e, err := debate.NewEngine(debate.Options{Store: rows(t, list...), Providers: models(chatter(), court(t, 1))})
	require.NoError(t, err)
	d, err := e.Open(t.Context(), "d")
	require.NoError(t, err)
	return d
}

// read opens a debate, sums it up and runs it, and gives the first error.
func read(t *testing.T, s store.Store) error {
	t.Helper()
	e, err := debate.NewEngine(debate.Options{Store: s, Providers: models(chatter(), court(t, 1))})
	require.NoError(t, err)
	d, err := e.Open(t.Context(), "d")
	if err != nil {
		return err
	}
	if _, err = d.Head(t.Context()); err != nil {
		return err
	}
	if _, err = d.Result(t.Context()); err != nil {
		return err
	}
	_, err = run(t, d)
	return err
}

// state is a row of a transition.
func state(seq int, from, on, to, more string) string {
	return fmt.Sprintf(`{"type": "state", "seq": %d, "from": %q, "on": %q, "to": %q%s}`, seq, from, on, to, more)
}

func TestABadRowIsNamed(t *testing.T) {
	config := goodConfig(t)
	started := []any{
		config, state(2, "configuring", "validate", "validating", ""), state(3, "validating", "accept", "ready", ""),
		state(4, "ready", "start", "initializing", ""), state(5, "initializing", "initialized", "running.awaiting_responses", `, "round": 1`),
	}
	then := func(list ...any) []any { return slices.Concat(started, list) }
	const turn = `{"type": "turn", "seq": %d, "turn": {"run": 1, "round": %d, "phase": "respond", "actor": "A", "kind": "speech", "text": "x"}}`
	for name, tt := range map[string]struct {
		rows  []any
		entry int    // that is wrong
		says  string // what is wrong with it
	}{
		"no JSON":                      {[]any{`{"type": "con`}, 1, "unexpected end of JSON input"},
		"no object":                    {[]any{`7`}, 1, "parse event"},
		"null":                         {[]any{`null`}, 1, `type "" is unknown`},
		"no JSON at all":               {[]any{7}, 1, "data is int"},
		"nothing":                      {[]any{nil}, 1, "data is <nil>"},
		"a type that is unknown":       {[]any{config, `{"type": "thunder", "seq": 2}`}, 2, `type "thunder" is unknown`},
		"a live event":                 {[]any{config, `{"type": "warning", "seq": 2, "live": true}`}, 2, `type "warning" is no entry of a journal`},
		"a number too high":            {[]any{config, `{"type": "annotated", "seq": 3}`}, 3, "entry 2 is missing"},
		"a number twice":               {[]any{config, `{"type": "annotated", "seq": 1}`}, 1, "entry 2 is missing"},
		"a field of another type":      {[]any{config, `{"type": "state", "seq": 2, "to": 7}`}, 2, `parse event of type "state"`},
		"no configuration first":       {[]any{`{"type": "annotated", "seq": 1, "name": "a", "value": 1}`}, 1, "a journal begins with a configuration"},
		"a turn first":                 {[]any{`{"type": "turn", "seq": 1, "turn": {"run": 1, "phase": "x", "actor": "A", "kind": "speech"}}`}, 1, "a journal begins with a configuration"},
		"a configuration that is null": {[]any{`{"type": "config", "seq": 1, "config": null}`}, 1, "it names no protocol"},
		"no configuration in it":       {[]any{`{"type": "config", "seq": 1}`}, 1, "unexpected end of JSON input"},
		"no protocol":                  {[]any{`{"type": "config", "seq": 1, "config": {"topic": "x"}}`}, 1, "it names no protocol"},
		"a protocol without a name":    {[]any{`{"type": "config", "seq": 1, "config": {"topic": "x", "protocol": {}}}`}, 1, "protocol.name"},

		"a transition that there is not":  {[]any{config, state(2, "configuring", "start", "initializing", "")}, 2, "it does not lead there"},
		"a state that there is not":       {[]any{config, state(2, "configuring", "validate", "thinking", "")}, 2, "it does not lead there"},
		"an error without a failure":      {then(state(6, "running.awaiting_responses", "fail", "error", "")), 6, "it has no failure"},
		"a failure of a round to come":    {then(state(6, "running.awaiting_responses", "fail", "error", `, "failure": {"key": {"round": 9}}`)), 6, "it is of round 9"},
		"a failure of a round before all": {then(state(6, "running.awaiting_responses", "fail", "error", `, "failure": {"key": {"round": -1}}`)), 6, "it is of round -1"},
		"a question of a round to come": {
			then(state(6, "running.awaiting_responses", "pause", "paused", `, "question": {"failure": {"key": {"round": 9}}}`)), 6, "it is of round 9",
		},
		"a drop without a failure":         {then(`{"type": "dropped", "seq": 6, "name": "A"}`), 6, "it has no failure"},
		"a drop of a round to come":        {then(`{"type": "dropped", "seq": 6, "name": "A", "failure": {"key": {"round": 9}}}`), 6, "it is of round 9"},
		"a turn of a round before all":     {then(fmt.Sprintf(turn, 6, -1)), 6, "it is of round -1"},
		"a turn of a round to come":        {then(fmt.Sprintf(turn, 6, 2)), 6, "it is of round 2, the debate is in round 1"},
		"a turn before the debate's start": {[]any{config, fmt.Sprintf(turn, 2, 1)}, 2, "it is of round 1, the debate is in round 0"},
		"a turn twice":                     {then(fmt.Sprintf(turn, 6, 1), fmt.Sprintf(turn, 7, 1)), 7, "stands twice"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			require.NotPanics(t, func() { err = read(t, rows(t, tt.rows...)) })
			require.ErrorContains(t, err, fmt.Sprintf("entry %d of debate d", tt.entry))
			require.ErrorContains(t, err, tt.says)
		})
	}
	require.NoError(t, read(t, rows(t, then()...)), "without a bad row the debate runs")
}

func TestWatchNamesABadRow(t *testing.T) {
	memory := rows(t, goodConfig(t))
	e, err := debate.NewEngine(debate.Options{Store: memory})
	require.NoError(t, err)
	d, err := e.Open(t.Context(), "d")
	require.NoError(t, err)
	bad := store.Entry{Seq: 2, Data: json.RawMessage(`{"type": "thunder", "seq": 2}`)}
	require.NoError(t, memory.Commit(t.Context(), store.Change{ID: "d", After: 1, Entries: []store.Entry{bad}, Head: store.Head{ID: "d", Seq: 2}}))
	n, err := seen(d.Watch(t.Context(), 0))
	require.Equal(t, 1, n, "what can be read is shown")
	require.EqualError(t, err, `watch debate d: read entry 2: parse event: type "thunder" is unknown`)
}

// What a stored configuration or question leaves out is not missed.
func TestARowThatLeavesSomethingOut(t *testing.T) {
	t.Run("a temperature", func(t *testing.T) {
		d := journal(t, `{"type": "config", "seq": 1, "config": {"topic": "x", "protocol": {"name": "panel/1"},
			"participants": [{"name": "A", "provider": "m"}, {"name": "B", "provider": "m"}], "judges": [{"name": "J", "provider": "j"}]}}`)
		_, err := run(t, d)
		var wrong *debate.Problems
		require.ErrorAs(t, err, &wrong, "it is checked as any other")
	})
	t.Run("a question's failure", func(t *testing.T) {
		list := []any{
			goodConfig(t), state(2, "configuring", "validate", "validating", ""), state(3, "validating", "accept", "ready", ""),
			state(4, "ready", "start", "initializing", ""), state(5, "initializing", "initialized", "running.awaiting_responses", `, "round": 1`),
			state(6, "running.awaiting_responses", "pause", "paused", `, "question": {"cause": "Shall it?", "choices": [{"action": "end"}, {"action": "drop"}]}`),
		}
		d := journal(t, list...)
		require.ErrorContains(t, d.Decide(t.Context(), "drop"), "the question names nobody who could drop out")
		require.NoError(t, d.Decide(t.Context(), "end"))
		require.Contains(t, result(t, d).Ending.Evidence, "Shall it?")
	})
}

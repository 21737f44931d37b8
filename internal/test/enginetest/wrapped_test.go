package enginetest_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// wraps are ways to put a reply into something else.
var wraps = map[string]func(text string) string{
	"one more key": func(text string) string { return `{"result": ` + text + `}` },
	"a call":       func(text string) string { return `{"name": "reply", "arguments": ` + text + `}` },
	"a call with arguments as text": func(text string) string {
		return `[{"function": {"name": "reply", "arguments": ` + strconv.Quote(text) + `}}]`
	},
	"prose and a fence": func(text string) string { return "Here it is:\n```json\n{\"data\": [" + text + "]}\n```\nThat is all." },
	"numbers as texts":  numbersAsTexts,
}

// numbersAsTexts writes the numbers of a JSON object as texts.
func numbersAsTexts(text string) string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	data, err := json.Marshal(asText(value))
	if err != nil {
		return text
	}
	return string(data)
}

func asText(value any) any {
	switch v := value.(type) {
	case float64:
		return fmt.Sprint(v)
	case []any:
		for i := range v {
			v[i] = asText(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = asText(v[key])
		}
	}
	return value
}

// A debate of any preset goes the same way if the replies of its models are inside something else, and its journal derives.
func TestWrappedRepliesChangeNoDebate(t *testing.T) {
	for preset, cfg := range enginetest.PresetConfigs() {
		want := courseOf(t, cfg, func(text string) string { return text })
		for name, wrap := range wraps {
			t.Run(preset+"/"+name, func(t *testing.T) {
				require.Equal(t, want, courseOf(t, cfg, wrap))
			})
		}
	}
}

// courseOf runs a debate whose models wrap their structured replies, derives its journal, and returns its turns and its answer.
func courseOf(t *testing.T, cfg debate.Config, wrap func(text string) string) (course []string) {
	t.Helper()
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		text := enginetest.PresetReply(cfg, r)
		if r.SchemaName != "" && r.SchemaName != "vectors/1" { // an adapter writes vectors, and no model
			text = wrap(text)
		}
		return scripted.Reply{Text: text}
	}}
	d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": model}, KeepReplies: true})
	debatetest.Finish(t, d)
	derivedtest.RequireAll(t, d)
	result, err := d.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, result.State)
	for _, turn := range result.Turns {
		require.Empty(t, turn.Flags, turn.Key)
		course = append(course, fmt.Sprintln(turn.Key, turn.Text, string(turn.Data)))
	}
	return append(course, result.Answer.Text)
}

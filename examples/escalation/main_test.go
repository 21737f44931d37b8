package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/internal/test/consoletest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// Each model has a list of answers, one for each call, and the last one for all further calls. Only the calls that an
// escalation needs are made.
func TestEachStageIsReachedOnlyIfTheOneBeforeIsNotEnough(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers map[string]string // by model
		code    int
		want    string
		asked   string // number of calls by model: a b c d judge
	}{
		{"the pair agrees", map[string]string{"a": "yes", "b": "Yes."}, 0, "yes\nthe pair agreed at once (2 replies)\n", "1 1 0 0"},
		{"the pair differs and then agrees", map[string]string{"a": "yes", "b": "no yes"}, 0, "yes\nthe pair agreed after a debate of 2 rounds (4 replies)\n", "2 2 0 0"},
		{"the pair agrees at last", map[string]string{"a": "yes", "b": "no no yes"}, 0, "yes\nthe pair agreed after a debate of 3 rounds (6 replies)\n", "3 3 0 0"},
		{
			"more models vote at once",
			map[string]string{"a": "yes", "b": "no no no yes", "c": "yes", "d": "yes"},
			0,
			"yes\nthe pair did not agree; 4 models voted (10 replies)\n", "4 4 1 1",
		},
		{
			"more models debate",
			map[string]string{"a": "yes", "b": "no", "c": "no yes", "d": "yes"},
			0,
			"yes\nthe pair did not agree; 4 models voted (14 replies)\n", "5 5 2 2",
		},
		{
			"a judge decides a tie",
			map[string]string{"a": "yes", "b": "no", "c": "no", "d": "yes"},
			0,
			"yes\nthe pair did not agree; 4 models voted (15 replies)\n", "6 5 2 2",
		},
		{"nobody knows", map[string]string{"a": "-", "b": "-", "c": "-", "d": "-"}, 1, "", "5 5 2 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var mu sync.Mutex
			calls := map[string]int{}
			model := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				mu.Lock()
				defer mu.Unlock()
				list := strings.Fields(tt.answers[r.Model])
				calls[r.Model]++
				if r.SchemaName == "decision/1" {
					return scripted.Reply{Text: `{"reasoning":"It is.","winner":"A1"}`}
				}
				answer := strings.Trim(list[min(calls[r.Model], len(list))-1], "-")
				return scripted.Reply{Text: fmt.Sprintf(`{"reasoning":"because","answer":%q,"confidence":60}`, answer)}
			}}
			e := escalation{
				topic: "Is it?", models: []string{"a", "b", "c", "d"}, rounds: 3,
				options: debate.Options{Providers: map[string]providers.Provider{"model": model}},
			}
			code, stdout, stderr := consoletest.Run(t, e.run)
			require.Equal(t, tt.code, code, stderr)
			if tt.code == 0 {
				tt.want = "Is it?\n\n" + tt.want
			} else {
				require.Contains(t, stderr, "the pair did not agree; 4 models voted, without an answer:\nNo answer: nobody gave one.")
			}
			require.Equal(t, tt.want, stdout)
			require.Equal(t, tt.asked, strings.Trim(fmt.Sprint(calls["a"], calls["b"], calls["c"], calls["d"]), "[]"))
		})
	}
}

func TestOfflineMoreModelsDecide(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "Is tea green?")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "Is tea green?\n\nYes\nthe pair did not agree; 5 models voted (")
}

// Two equal models are no pair. Only the demo model can play both.
func TestTheModelsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		key  string
		args []string
		want string
	}{
		{"", []string{"-models", "large,small"}, "-models: list at least three models"},
		{"k", []string{"-models", "large,large,small"}, "-models: the first two are the same model, list two different models first"},
		{"k", nil, "-models: the first two are the same model"},
	} {
		var stdout, stderr bytes.Buffer
		env := map[string]string{"OPENAI_API_KEY": tt.key}
		code := console.Run(t.Context(), run, tt.args, &stdout, &stderr, func(name string) string { return env[name] })
		require.Equal(t, 1, code)
		require.Empty(t, stdout.String())
		require.Contains(t, stderr.String(), tt.want)
	}
}

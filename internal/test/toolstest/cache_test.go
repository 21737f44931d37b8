package toolstest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
)

// forbidding counts the tokens of prompts that it takes to have a model reply without a further call.
type forbidding struct{ calls, repeated, sent int }

func (f *forbidding) add(before, now []string) {
	f.calls++
	same := true
	for i, text := range now {
		n := window.Estimate(text)
		f.sent += n
		if same && i < len(before) && before[i] == text {
			f.repeated += n
		} else {
			same = false
		}
	}
}

// parts returns the parts of a request in the order in which services cache them: tools, system prompt, messages.
func parts(t *testing.T, r providers.Request) (list []string) {
	t.Helper()
	raw := debatetest.Encode(t, r.Tools)
	list = append(list, raw)
	for _, m := range r.Messages {
		list = append(list, debatetest.Encode(t, m))
	}
	return list
}

// The engine forbids tools by the tool choice. This compares the ways to do so in a debate whose models always want another
// call: how much of the prompts a service has read before. docs/measured/tools.md has the figures.
func TestForbiddingToolsKeepsTheBeginningOfPrompts(t *testing.T) {
	w := &world{rounds: 9, results: func(tool.Call) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("The minutes say so. ", 100)}, nil
	}}
	c := config(w)
	c.Limits.MaxRounds = 3
	run(t, w, c, nil)
	ways := map[string]*forbidding{"tool choice": {}, "no tools": {}, "limit reached": {}, "tool choice, messages anew": {}}
	for _, list := range w.asked {
		last := list[len(list)-1]
		require.Equal(t, "none", last.ToolChoice)
		require.NotEmpty(t, last.Tools)
		before, now := parts(t, list[len(list)-2]), parts(t, last)
		ways["tool choice"].add(before, now)
		ways["tool choice, messages anew"].add(before[:2], now)
		last.Tools = nil
		ways["no tools"].add(before, parts(t, last))
		ways["limit reached"].add(before, now) // the model calls again, and its next prompt has the answer
		ways["limit reached"].add(now, append(now, now[len(now)-2], `{"role":"user","text":"Limit reached."}`))
	}
	for name, f := range ways {
		t.Logf("| %s | %d | %d | %.0f %% |", name, f.calls, f.sent, 100*float64(f.repeated)/float64(f.sent))
	}
	kept := ways["tool choice"]
	require.Greater(t, 10*kept.repeated, 7*kept.sent, "most of the prompt is as it was")
	require.Zero(t, ways["no tools"].repeated)
	require.Equal(t, 2*kept.calls, ways["limit reached"].calls)
}

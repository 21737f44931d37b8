package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
)

// lookUp names the tool of the debates.
const lookUp = "look_up"

// roundsOfTools is the number of rounds of tool calls in a step, of two calls each.
const roundsOfTools = 2

// newTool returns the tool. It calls ran for each call that runs.
func newTool(ran func(ctx context.Context, id string)) tool.Tool {
	type query struct {
		Of uint32 `json:"of"`
	}
	return tool.Func(tool.Spec{Name: lookUp, Description: "Looks up a number."}, func(ctx context.Context, q query) (string, error) {
		call, ok := tool.CallFrom(ctx)
		if !ok {
			return "", errors.New("the context has no call")
		}
		ran(ctx, call.ID)
		return fmt.Sprint("found ", q.Of), nil
	})
}

// Tools returns the tools of undisturbed debates.
func Tools() []tool.Tool { return []tool.Tool{newTool(func(context.Context, string) {})} }

// toolCalls returns the calls of a round, until the step has its rounds. They follow from what the model would reply.
func toolCalls(r providers.Request, reply string) (calls []providers.ToolCall) {
	done := 0
	for _, m := range r.Messages {
		if len(m.Parts) > 0 && m.Parts[0].ToolResult != nil {
			done++
		}
	}
	if !r.MayCallTools() || done == roundsOfTools {
		return nil
	}
	h := fnv.New32a()
	h.Write([]byte(reply))
	for i := range uint32(2) {
		calls = append(calls, providers.ToolCall{ID: fmt.Sprint("call-", i), Name: lookUp, Arguments: fmt.Appendf(nil, `{"of":%d}`, h.Sum32()+i)})
	}
	return calls
}

// roundOf returns the round of tool calls in an entry, or false if the entry is another one.
func roundOf(e *store.Entry) (round debate.ToolsCalled, ok bool) {
	raw, err := json.Marshal(e.Data)
	if err != nil {
		return round, false
	}
	ev, err := debate.ParseEvent(raw)
	if err == nil {
		round, ok = ev.(debate.ToolsCalled)
	}
	return round, ok
}

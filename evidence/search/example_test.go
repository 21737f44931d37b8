package search_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate/evidence/search"
	"github.com/elenchus-go/debate/providers/tool"
)

// A tool lets models search documents that are too long for their windows. A tool over a private document belongs to its
// readers alone: name it in Participant.Tools of those who read the document.
func ExampleIndex_Find_tool() {
	ctx := context.Background()
	index, err := search.New(ctx, map[string]string{
		"traffic.md": "The ring road has 30,000 trips a day.",
		"cycling.md": "On the new lanes, trips by bicycle rose by a third.",
	}, search.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	type query struct {
		Words string `json:"words" jsonschema:"description=what to look for"`
	}
	find := tool.Func(tool.Spec{Name: "search", Description: "Searches the reports on traffic."},
		func(ctx context.Context, q query) ([]search.Passage, error) { return index.Find(ctx, q.Words, 1) })

	result, err := find.Call(ctx, tool.Call{Arguments: json.RawMessage(`{"words":"trips by bicycle"}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	var found []search.Passage
	if err := json.Unmarshal([]byte(result.Text), &found); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found[0].Document, found[0].Text)
	// Output: cycling.md On the new lanes, trips by bicycle rose by a third.
}

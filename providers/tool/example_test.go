package tool_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/elenchus-go/debate/providers/tool"
)

func ExampleFunc() {
	type query struct {
		Year int `json:"year" jsonschema:"description=a year from 2020 on"`
	}
	budget := tool.Func(tool.Spec{Name: "budget", Description: "Returns the city's budget for traffic in a year."},
		func(_ context.Context, q query) (tool.Result, error) {
			if q.Year < 2020 {
				return tool.Result{}, tool.Refusal("There is no budget before 2020. Use a year from 2020 on.")
			}
			return tool.Result{Sources: []tool.Source{{Title: "Budget 2024", Text: "Traffic: 40 million."}}}, nil
		})
	fmt.Println(string(budget.Spec().Schema))

	// An engine makes the calls. A test can make them too.
	found, err := budget.Call(context.Background(), tool.Call{Arguments: []byte(`{"year": 2024}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found)
	_, err = budget.Call(context.Background(), tool.Call{Arguments: []byte(`{"year": 1999}`)})
	fmt.Println(err)
	// Output:
	// {"properties":{"year":{"type":"integer","description":"a year from 2020 on"}},"additionalProperties":false,"type":"object","required":["year"]}
	// Budget 2024
	// Traffic: 40 million.
	// There is no budget before 2020. Use a year from 2020 on.
}

// A service that takes a key for each order can use the ID of the call: it is the same if the call runs again.
func ExampleCallFrom() {
	order := tool.Func(tool.Spec{Name: "order", Once: true, Approval: true}, func(ctx context.Context, in struct {
		Book string `json:"book"`
	},
	) (string, error) {
		call, ok := tool.CallFrom(ctx)
		if !ok {
			return "", errors.New("no call")
		}
		return fmt.Sprintf("ordered %s with the key %s", in.Book, call.ID), nil
	})
	done, err := order.Call(context.Background(), tool.Call{ID: "7f3a", Arguments: []byte(`{"book": "Opticks"}`)})
	fmt.Println(done.Text, err)
	// Output: ordered Opticks with the key 7f3a <nil>
}

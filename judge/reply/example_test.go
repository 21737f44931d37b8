package reply_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/judge/reply"
)

// Critique is a structured reply. Its tags define its schema.
type Critique struct {
	Target string   `json:"target" jsonschema:"minLength=1,maxLength=100" jsonschema_description:"whose answer this is about"`
	Flaws  []string `json:"flaws,omitempty" jsonschema:"maxItems=3,maxLength=200" jsonschema_description:"what is wrong with it"`
	Score  float64  `json:"score" jsonschema:"minimum=0,maximum=10" jsonschema_description:"how good it is, 10 being perfect"`
}

// Check makes Critique a reply.Checker.
func (c *Critique) Check(names []string) []string {
	if slices.Contains(names, c.Target) {
		return nil
	}
	return []string{fmt.Sprintf("/target: %q is not a participant", c.Target)}
}

func Example() {
	critiques := reply.New[Critique]("critique/1")
	fmt.Print(critiques.Outline())

	r, err := critiques.Parse("Gladly!\n```json\n{\"target\": \"Ada\", \"flaws\": null, \"score\": 8}\n```", []string{"Ada", "Ben"})
	fmt.Println(string(r.Data), err)

	_, err = critiques.Parse(`{"target": "Ada", "score": "high", "flaws": [7]}`, []string{"Ada", "Ben"})
	if invalid, ok := errors.AsType[*reply.Invalid](err); ok {
		for _, finding := range invalid.Violations {
			fmt.Println(finding)
		}
	}
	// Output:
	// - target (text from 1 to 100 characters): whose answer this is about
	// - flaws (list of at most 3 items, each text of at most 200 characters, optional): what is wrong with it
	// - score (number from 0 to 10): how good it is, 10 being perfect
	// {"target":"Ada","score":8} <nil>
	// /flaws/0: expected string, but got number
	// /score: expected number, but got string
}

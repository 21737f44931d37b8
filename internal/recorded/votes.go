package recorded

import "strconv"

// Votes holds a question of "vote-answers.jsonl" with the answer of each agent in each round. A nil answer means that the
// agent gave none.
type Votes struct {
	Set     string
	Gold    any
	Agents  int
	Answers [][]any
}

// Written returns an answer as an agent writes it, or an empty text if there is none.
func Written(answer any) string {
	switch a := answer.(type) {
	case float64:
		return strconv.FormatFloat(a, 'f', -1, 64)
	case string:
		return a
	}
	return ""
}

package entrylist

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// WrongTurn returns what is wrong with a turn. found is what the turn shows when its step is repeated with the rules and the templates
// by which it was made.
func WrongTurn(t *transcript.Turn, found *step.Reread) error {
	switch {
	case slices.Contains(t.Flags, transcript.Edited):
		return nil
	case !found.Fits && len(found.Missing) <= 1:
		return errors.New("its window is not how the history fits into the prompt")
	case found.Next != nil:
		return found.Next
	case len(found.Differs) > 0:
		return fmt.Errorf("the request of its call %d has another hash", found.Differs[0])
	case found.Wrong != nil:
		return found.Wrong
	}
	return wrongCosts(t.Attempts, found)
}

// WrongCalls returns what is wrong with the attempts of a step that failed, whose requests are all known.
func WrongCalls(tried []transcript.Attempt, found *step.Reread) error {
	if found.Next != nil {
		return found.Next
	}
	return wrongCosts(tried, found)
}

// wrongCosts compares the costs of attempts with those by the prices of the configuration.
func wrongCosts(tried []transcript.Attempt, found *step.Reread) error {
	for i, a := range tried {
		if u := found.Costs[i]; u != a.Usage {
			return fmt.Errorf("the cost of its call %d is %v, want %v", i+1, a.Usage.Cost, u.Cost)
		}
	}
	return nil
}

// NamesIn returns where a blind prompt has names of participants, found as pseudonyms are put in place of names.
func NamesIn(m *judge.Pseudonyms, found *step.Reread) (list []string) {
	add := func(where, text string) {
		for _, at := range m.Find(text) {
			list = append(list, fmt.Sprintf("%s: %q", where, characters.First(text[at:], 60)))
		}
	}
	for i := range found.Request.Messages {
		add(fmt.Sprintf("message %d", i+1), found.Request.Messages[i].Text)
	}
	add("schema", string(found.Request.Schema))
	return list
}

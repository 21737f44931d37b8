package main

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// shownIDs limits the ids that an error lists.
const shownIDs = 10

// completeID replaces the operand by the only id in a list that begins with it, unless it is an id itself. An operand that
// begins no id stays, so that the command says that there is no such debate.
func (p *program) completeID(list iter.Seq2[store.Status, error]) error {
	given := p.operands[0]
	var found []string
	last := ""
	for status, err := range list {
		if err != nil {
			return err
		}
		if status.ID == given {
			return nil
		}
		if given == "" || !strings.HasPrefix(status.ID, given) {
			continue
		}
		last = status.ID
		found = append(found, fmt.Sprintf("%s (%s)", printableLine(status.ID), truncateTopic(status.Topic)))
	}
	switch n := len(found); {
	case n == 0:
		return nil
	case n == 1:
		p.operands[0] = last
		return nil
	case n > shownIDs:
		found = append(found[:shownIDs], fmt.Sprintf("and %d more", n-shownIDs))
	}
	return exitErrorf(exitInput, "find debate: several ids begin with %q:\n  %s", given, strings.Join(found, "\n  "))
}

// abandonedAfter is the time without a sign of life after which a debate has no process. A process gives one every ten
// seconds.
const abandonedAfter = 30 * time.Second

// isAbandoned reports whether a debate was running, and its process is gone.
func isAbandoned(s store.Status, now time.Time) bool {
	switch {
	case s.State.Final(), s.State == fsm.Configuring, s.State == fsm.Ready, s.State == fsm.Paused, s.State == fsm.Error:
		return false
	case s.Driver.At.After(s.Updated):
		return now.Sub(s.Driver.At) > abandonedAfter
	}
	return now.Sub(s.Updated) > abandonedAfter
}

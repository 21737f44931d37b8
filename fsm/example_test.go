package fsm_test

import (
	"errors"
	"fmt"

	"github.com/elenchus-go/debate/fsm"
)

func ExampleNext() {
	judging := fsm.Position{State: fsm.Judging}
	next, err := fsm.Next(judging, fsm.Assessed, fsm.Facts{HasOutcome: true})
	fmt.Println(next.State, err)

	_, err = fsm.Next(judging, fsm.Start, fsm.Facts{})
	fmt.Println(err)
	// Output:
	// completing <nil>
	// Start is not possible in state running.judging; possible methods: Pause, Stop, Cancel
}

func ExampleMachine() {
	m, err := fsm.New(fsm.Position{State: fsm.AwaitingResponses})
	if err != nil {
		panic(err)
	}
	paused, _ := fsm.Next(m.Position(), fsm.Pause, fsm.Facts{})
	// Commit the decision here, then execute it.
	fmt.Println(m.Execute(fsm.Pause, paused))
	fmt.Printf("%s from %s\n", m.Position().State, m.Position().PausedFrom)

	_, err = fsm.Next(m.Position(), fsm.Resume, fsm.Facts{NoOpenQuestion: false})
	if refused, ok := errors.AsType[*fsm.Refused](err); ok {
		fmt.Println(refused.Guard, "does not hold; possible:", refused.Possible)
	}
	fmt.Println(m.Execute(fsm.Resume, fsm.Position{State: fsm.Judging}))
	// Output:
	// <nil>
	// paused from running.awaiting_responses
	// canProceed does not hold; possible: [stop cancel]
	// execute resume to running.judging: no such transition from paused(running.awaiting_responses)
}

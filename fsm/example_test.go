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
	// fire start: not possible in state running.judging, possible are [assessed pause stop fail cancel]
}

func ExampleMachine() {
	m, err := fsm.New(fsm.Position{State: fsm.AwaitingResponses})
	if err != nil {
		panic(err)
	}
	paused, _ := fsm.Next(m.Position(), fsm.Pause, fsm.Facts{})
	// Commit the decision here, then execute it.
	fmt.Println(m.Execute(fsm.Pause, paused))
	fmt.Printf("%s, having left %s\n", m.Position().State, m.Position().PausedFrom)

	_, err = fsm.Next(m.Position(), fsm.Resume, fsm.Facts{NoOpenQuestion: false})
	if refused, ok := errors.AsType[*fsm.Refused](err); ok {
		fmt.Println(refused.Guard, "does not hold, possible are", refused.Possible)
	}
	fmt.Println(m.Execute(fsm.Resume, fsm.Position{State: fsm.Judging}))
	// Output:
	// <nil>
	// paused, having left running.awaiting_responses
	// noOpenQuestion does not hold, possible are [stop cancel]
	// execute resume to running.judging: it does not lead there from paused(running.awaiting_responses)
}

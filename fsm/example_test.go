package fsm_test

import (
	"errors"
	"fmt"

	"github.com/elenchus-go/debate/fsm"
)

func ExampleNext() {
	judging := fsm.Snapshot{State: fsm.Judging}
	next, err := fsm.Next(judging, fsm.Assessed, fsm.Facts{Ending: true})
	fmt.Println(next.State, err)

	_, err = fsm.Next(judging, fsm.Start, fsm.Facts{})
	fmt.Println(err)
	// Output:
	// completing <nil>
	// fire start: not possible in state running.judging, possible are [assessed pause stop fail cancel]
}

func ExampleMachine() {
	m, err := fsm.New(fsm.Snapshot{State: fsm.Awaiting})
	if err != nil {
		panic(err)
	}
	paused, _ := fsm.Next(m.Snapshot(), fsm.Pause, fsm.Facts{})
	// Commit the decision here, then execute it.
	fmt.Println(m.Follow(fsm.Pause, paused))
	fmt.Printf("%s, having left %s\n", m.Snapshot().State, m.Snapshot().Left)

	_, err = fsm.Next(m.Snapshot(), fsm.Resume, fsm.Facts{Decided: false})
	if refused, ok := errors.AsType[*fsm.Refused](err); ok {
		fmt.Println(refused.Guard, "does not hold, possible are", refused.Possible)
	}
	fmt.Println(m.Follow(fsm.Resume, fsm.Snapshot{State: fsm.Judging}))
	// Output:
	// <nil>
	// paused, having left running.awaiting_responses
	// isDecided does not hold, possible are [stop cancel]
	// follow resume to running.judging: it does not lead there from paused(running.awaiting_responses)
}

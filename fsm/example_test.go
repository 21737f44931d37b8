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

func ExamplePossible() {
	paused := fsm.Snapshot{State: fsm.Paused, Left: fsm.Judging}
	fmt.Println(fsm.Possible(paused, fsm.Facts{}))
	fmt.Println(fsm.Possible(paused, fsm.Facts{Decided: true}))
	// Output:
	// [stop cancel]
	// [resume stop cancel]
}

func ExampleMachine() {
	m, err := fsm.New(fsm.Snapshot{State: fsm.Awaiting})
	if err != nil {
		panic(err)
	}
	journal := func(next fsm.Snapshot) error {
		fmt.Printf("committed: %s\n", next.State)
		return nil
	}
	at, _ := m.Fire(fsm.Pause, fsm.Facts{}, journal)
	fmt.Printf("%s, having left %s\n", at.State, at.Left)

	_, err = m.Fire(fsm.Resume, fsm.Facts{Decided: false}, journal)
	if refused, ok := errors.AsType[*fsm.Refused](err); ok {
		fmt.Println(refused.Guard, "does not hold, possible are", refused.Possible)
	}
	at, _ = m.Fire(fsm.Resume, fsm.Facts{Decided: true}, journal)
	fmt.Println(at.State)
	// Output:
	// committed: paused
	// paused, having left running.awaiting_responses
	// isDecided does not hold, possible are [stop cancel]
	// committed: running.awaiting_responses
	// running.awaiting_responses
}

func ExampleMachine_Follow() {
	m, err := fsm.New(fsm.Snapshot{State: fsm.Configuring})
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Follow(fsm.Validate, fsm.Snapshot{State: fsm.Validating}))
	fmt.Println(m.Follow(fsm.Accept, fsm.Snapshot{State: fsm.Completed}))
	fmt.Println(m.Snapshot().State)
	// Output:
	// <nil>
	// follow accept to completed: it does not lead there from validating
	// validating
}
